#include "protocol/new_clients.h"

namespace ringdeal {

void TurnNewClientsAway(int) {}
void LetNewClientsIn(int) {}

}  // namespace ringdeal
