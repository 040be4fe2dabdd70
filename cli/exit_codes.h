// The exit codes of the ringdeal command. `ringdeal run` ends with those of env and nice, and
// after exec with the target program's own.
#pragma once

namespace ringdeal {

inline constexpr int kExitOk = 0;
inline constexpr int kExitIncomplete = 1;  // spread: not every connection has one known worker
inline constexpr int kExitRefused = 1;     // ringdeald answered with an error
inline constexpr int kExitNotDealt = 1;    // doctor: at least one process is not dealt to, or none
inline constexpr int kExitUsage = 100;     // the command line is wrong
inline constexpr int kExitSystem = 111;    // something that is needed is missing or failed
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

}  // namespace ringdeal
