#include "daemon/accepting/accept_error.h"

#include <cerrno>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

TEST(AcceptError, IsNeverTakenForAnotherKind) {
  const struct {
    int number;
    AcceptVerdict verdict;
  } kTable[] = {
      {EAGAIN, AcceptVerdict::kEmpty},       {EWOULDBLOCK, AcceptVerdict::kEmpty},
      {EINTR, AcceptVerdict::kRetry},        {ECONNABORTED, AcceptVerdict::kSkip},
      {EPROTO, AcceptVerdict::kSkip},        {EPERM, AcceptVerdict::kSkip},
      {ENETDOWN, AcceptVerdict::kSkip},      {EHOSTUNREACH, AcceptVerdict::kSkip},
      {EINVAL, AcceptVerdict::kListenAgain}, {EMFILE, AcceptVerdict::kPause},
      {ENFILE, AcceptVerdict::kPause},       {ENOBUFS, AcceptVerdict::kPause},
      {ENOMEM, AcceptVerdict::kPause},       {EBADF, AcceptVerdict::kFatal},
      {ENOTSOCK, AcceptVerdict::kFatal},     {EOPNOTSUPP, AcceptVerdict::kFatal},
  };
  for (const auto& row : kTable) {
    EXPECT_EQ(ClassifyAcceptError(row.number), row.verdict) << row.number;
  }
}

TEST(AcceptError, NeitherSpinsNorGivesUpOnAnUnknownOne) {
  EXPECT_EQ(ClassifyAcceptError(9999), AcceptVerdict::kPause);
}

TEST(AcceptError, IsCountedUnderOneNameEach) {
  std::set<std::string> names;
  for (size_t i = 0; i < kCountedAcceptErrors; ++i) names.insert(AcceptErrorName(i));
  EXPECT_EQ(names.size(), kCountedAcceptErrors);
  EXPECT_STREQ(AcceptErrorName(AcceptErrorIndex(EMFILE)), "EMFILE");
  EXPECT_STREQ(AcceptErrorName(AcceptErrorIndex(9999)), "other");
}

}  // namespace
}  // namespace ringdeal
