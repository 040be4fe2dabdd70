#include "daemon/accepting/closing_socket.h"

namespace ringdeal {

void TurnNewClientsAway(int) {}
void LetNewClientsIn(int) {}

}  // namespace ringdeal
