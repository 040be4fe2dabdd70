#include "daemon/accepting/closing_socket.h"

namespace ringdeal {

void TurnNewClientsAway(int) {}

}  // namespace ringdeal
