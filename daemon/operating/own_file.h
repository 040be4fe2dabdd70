// A file that ringdeald writes for itself, and believes only if nobody else can have written it.
// Control thread.
#pragma once

#include <string>

#include "protocol/result.h"

namespace ringdeal {

// The whole text. EPERM if the file is not this user's own, or others may write it; EFBIG if it is
// longer than ringdeald ever writes. ENOENT as usual.
Result<std::string> ReadOwnFile(const std::string& path);

// Replaces the file as a whole: a reader, or a crash, finds the old text or the new one.
Result<void> ReplaceOwnFile(const std::string& path, const std::string& text);

}  // namespace ringdeal
