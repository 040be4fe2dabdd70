#include "client-shim/client/private_descriptor.h"

namespace ringdeal::client {

int Keep(UniqueFd descriptor) { return descriptor.Release(); }
void Discard(int number) { UniqueFd closed_here(number); }

}  // namespace ringdeal::client
