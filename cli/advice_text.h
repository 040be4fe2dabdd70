// The text of advice.json, which the build puts into the program.
#pragma once

namespace ringdeal {

extern const char kAdviceText[];

}  // namespace ringdeal
