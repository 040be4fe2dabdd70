#include "daemon/operating/own_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

class OwnFileTest : public testing::Test {
 protected:
  int ErrorOfReading() const {
    const auto text = ReadOwnFile(path_);
    return text ? 0 : text.error().number;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "notes";
};

TEST_F(OwnFileTest, IsForNobodyElse) {
  ASSERT_TRUE(ReplaceOwnFile(path_, "one"));
  struct stat status = {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(*ReadOwnFile(path_), "one");
}

TEST_F(OwnFileTest, IsReplacedAsAWholeAndLeavesNothingBeside) {
  ASSERT_TRUE(ReplaceOwnFile(path_, std::string(100'000, 'x')));
  ASSERT_TRUE(ReplaceOwnFile(path_, "two"));
  EXPECT_EQ(*ReadOwnFile(path_), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(OwnFileTest, WhatOthersMayHaveWrittenIsNotBelieved) {
  ASSERT_TRUE(ReplaceOwnFile(path_, "one"));
  chmod(path_.c_str(), 0620);
  EXPECT_EQ(ErrorOfReading(), EPERM);
  chmod(path_.c_str(), 0602);
  EXPECT_EQ(ErrorOfReading(), EPERM);
  if (geteuid() != 0) return;
  chmod(path_.c_str(), 0600);
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(ErrorOfReading(), EPERM);
}

TEST_F(OwnFileTest, NoLinkNoFifoAndNoDirectoryIsRead) {
  const std::string other = directory_ / "other";
  ASSERT_TRUE(ReplaceOwnFile(other, "one"));
  ASSERT_EQ(symlink(other.c_str(), path_.c_str()), 0);
  EXPECT_EQ(ErrorOfReading(), ELOOP);
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(ErrorOfReading(), EPERM);
  unlink(path_.c_str());
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_EQ(ErrorOfReading(), EPERM);
}

TEST_F(OwnFileTest, ALinkThatWasLaidBesideLeadsNothingElsewhere) {
  const std::string other = directory_ / "other";
  ASSERT_TRUE(ReplaceOwnFile(other, "untouched"));
  ASSERT_EQ(symlink(other.c_str(), (path_ + ".new").c_str()), 0);
  ASSERT_TRUE(ReplaceOwnFile(path_, "one"));
  EXPECT_EQ(*ReadOwnFile(other), "untouched");
  EXPECT_EQ(*ReadOwnFile(path_), "one");
}

TEST_F(OwnFileTest, NoFileIsNoSurprise) { EXPECT_EQ(ErrorOfReading(), ENOENT); }

}  // namespace
}  // namespace ringdeal
