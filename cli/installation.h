// Where the other parts of ringdeal are: beside this binary, installed or in the build tree. Main
// thread.
#pragma once

#include <string>

namespace ringdeal {

// The directory that holds the running binary, symbolic links resolved. Empty if the system does
// not say.
std::string BinaryDirectory();

// Names that differ between the platforms.
extern const char* const kPreloadVariable;     // that makes the loader load the shim first
extern const char* const kPreloadLibraryName;  // the shim's file

// The shim: RINGDEAL_PRELOAD_LIBRARY, else the first of the known places that has it. Empty if
// there is none.
std::string FindPreloadLibrary();

// The daemon's binary, from the known places; "ringdeald" if it is in none of them, to be found on
// PATH.
std::string FindDaemon();

}  // namespace ringdeal
