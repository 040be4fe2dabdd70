#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "protocol/page.h"

namespace ringdeal {
namespace {

UniqueFd FilledPage(const std::function<void(Page::Header*)>& change = {}) {
  Result<UniqueFd> memory = CreatePageMemory();
  EXPECT_TRUE(memory);
  Result<MappedPage> page = MapNewPage(memory->get());
  EXPECT_TRUE(page);
  (*page)->header.magic = kPageMagic;
  (*page)->header.version = kPageVersion;
  (*page)->header.size = kPageBytes;
  if (change) change(&(*page)->header);
  return std::move(*memory);
}

TEST(PageMemory, ItsSizeCanNeverChange) {
  Result<UniqueFd> memory = CreatePageMemory();
  ASSERT_TRUE(memory);
  EXPECT_EQ(ftruncate(memory->get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(memory->get(), 2 * kPageBytes), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(memory->get(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "a worker could seal writing";
}

TEST(PageMemory, IsClosedOnExecAndStartsAsZero) {
  Result<UniqueFd> memory = CreatePageMemory();
  ASSERT_TRUE(memory);
  EXPECT_NE(fcntl(memory->get(), F_GETFD) & FD_CLOEXEC, 0);
  Result<MappedPage> page = MapNewPage(memory->get());
  ASSERT_TRUE(page);
  static const unsigned char kZero[kPageBytes] = {};
  EXPECT_EQ(std::memcmp(page->get(), kZero, kPageBytes), 0);
  // What zero means: not to be dealt to.
  EXPECT_EQ((*page)->progress.state.load(), WorkerState::kStarting);
  EXPECT_EQ((*page)->orders.mode.load(), PageMode::kHandoff);
}

TEST(PageMemory, TwoMappingsAreOnePage) {
  const UniqueFd memory = FilledPage();
  Result<MappedPage> writer = MapReceivedPage(memory.get());
  Result<MappedPage> reader = MapReceivedPage(memory.get());
  ASSERT_TRUE(writer);
  ASSERT_TRUE(reader);
  (*writer)->progress.taken.fetch_add(41);
  EXPECT_EQ((*reader)->progress.taken.load(), 41u);
}

TEST(ReceivedPage, AWrongHeaderIsRefused) {
  const std::function<void(Page::Header*)> changes[] = {
      [](Page::Header* header) { header->magic ^= 1; },
      [](Page::Header* header) { header->version = kPageVersion + 1; },
      [](Page::Header* header) { header->version = 0; },
      [](Page::Header* header) { header->size = kPageBytes / 2; },
      [](Page::Header* header) { header->size = 2 * kPageBytes; },
  };
  for (const auto& change : changes) {
    EXPECT_EQ(MapReceivedPage(FilledPage(change).get()).error().number, EPROTO);
  }
}

TEST(ReceivedPage, MemoryOfAnotherSizeIsRefusedBeforeItIsRead) {
  for (const off_t size : {off_t{0}, off_t{1}, off_t{kPageBytes - 1}, off_t{2 * kPageBytes}}) {
    UniqueFd memory(memfd_create("test", MFD_CLOEXEC));
    const uint32_t header[] = {kPageMagic, kPageVersion, kPageBytes};
    ASSERT_EQ(pwrite(memory.get(), header, sizeof(header), 0), sizeof(header));
    ASSERT_EQ(ftruncate(memory.get(), size), 0);
    EXPECT_EQ(MapReceivedPage(memory.get()).error().number, EPROTO) << size;
  }
}

TEST(ReceivedPage, WhatIsNoMemoryIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd reader(ends[0]), writer(ends[1]);
  EXPECT_FALSE(MapReceivedPage(reader.get()));
  EXPECT_EQ(MapReceivedPage(-1).error().number, EBADF);
}

// The numbers of docs/protocol.md, for whoever reads the page without this header.
TEST(PageLayout, IsTheDocumentedOne) {
  const UniqueFd memory = FilledPage([](Page::Header* header) {
    header->slot = 0x01020304;
    header->listener_cookie = 0x1112131415161718;
    header->worker_id = 0x2122232425262728;
    header->listener_flags = 0x31323334;
  });
  Result<MappedPage> page = MapReceivedPage(memory.get());
  ASSERT_TRUE(page);
  (*page)->orders.mode = PageMode::kDraining;
  (*page)->orders.wants_ready = 5;
  (*page)->progress.taken = 6;
  (*page)->progress.closed = 7;
  (*page)->progress.direct = 8;
  (*page)->progress.pass_start = 9;
  (*page)->progress.state = WorkerState::kPaused;
  (*page)->progress.waiting = 10;
  (*page)->progress.queued = 11;
  (*page)->progress.style = AcceptStyle::kOneAtATime;
  (*page)->signs.rung = 12;
  (*page)->signs.passes = 13;
  (*page)->signs.mode_seen = PageMode::kDirect;
  (*page)->signs.cpu = 14;
  const auto word32 = [&](size_t offset) {
    uint32_t value = 0;
    EXPECT_EQ(pread(memory.get(), &value, sizeof(value), static_cast<off_t>(offset)), 4);
    return value;
  };
  const auto word64 = [&](size_t offset) {
    uint64_t value = 0;
    EXPECT_EQ(pread(memory.get(), &value, sizeof(value), static_cast<off_t>(offset)), 8);
    return value;
  };
  EXPECT_EQ(word32(0), 0x52444c50u);
  EXPECT_EQ(word32(4), 1u);
  EXPECT_EQ(word32(8), 4096u);
  EXPECT_EQ(word32(12), 0x01020304u);
  EXPECT_EQ(word64(16), 0x1112131415161718u);
  EXPECT_EQ(word64(24), 0x2122232425262728u);
  EXPECT_EQ(word32(32), 0x31323334u);
  EXPECT_EQ(word32(64), 2u);
  EXPECT_EQ(word32(68), 5u);
  EXPECT_EQ(word64(128), 6u);
  EXPECT_EQ(word64(136), 7u);
  EXPECT_EQ(word64(144), 8u);
  EXPECT_EQ(word64(152), 9u);
  EXPECT_EQ(word32(160), 3u);
  EXPECT_EQ(word32(164), 10u);
  EXPECT_EQ(word32(168), 11u);
  EXPECT_EQ(word32(172), 1u);
  EXPECT_EQ(word64(192), 12u);
  EXPECT_EQ(word64(200), 13u);
  EXPECT_EQ(word32(208), 1u);
  EXPECT_EQ(word32(212), 14u);
}

TEST(MappedPage, TheMappingEndsWithItsOwner) {
  const UniqueFd memory = FilledPage();
  void* address = nullptr;
  {
    Result<MappedPage> page = MapReceivedPage(memory.get());
    ASSERT_TRUE(page);
    MappedPage moved = std::move(*page);
    EXPECT_EQ(page->get(), nullptr);
    address = moved.get();
  }
  unsigned char resident = 0;
  EXPECT_EQ(mincore(address, kPageBytes, &resident), -1);
  EXPECT_EQ(errno, ENOMEM) << "still mapped";
}

}  // namespace
}  // namespace ringdeal
