#include "client-shim/client/cleanup.h"

namespace ringdeal::client {

// A thread that is cancelled in a wait of the C API leaves its count behind.
Cleanup::Cleanup(void (*undo)(void*), void* argument) : undo_(undo), argument_(argument) {}
Cleanup::~Cleanup() { undo_(argument_); }

}  // namespace ringdeal::client
