// What the process asks of the system for itself. At start.
#pragma once

namespace ringdeal {

// Raises the soft limit of descriptors to the hard one: each worker costs five. Returns the limit.
int RaiseDescriptorLimit();

}  // namespace ringdeal
