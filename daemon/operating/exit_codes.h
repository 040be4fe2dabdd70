// How ringdeald ends, for scripts and service managers. 128 + N is left to signal N.
#pragma once

namespace ringdeal {

inline constexpr int kExitOk = 0;       // stopped as asked, or said what --help and the like ask
inline constexpr int kExitUsage = 100;  // the command line is wrong; trying again will not help
inline constexpr int kExitBadConfig =
    101;                                 // the configuration is wrong; trying again will not help
inline constexpr int kExitSystem = 111;  // the system refused something at start; it may pass

}  // namespace ringdeal
