// The shared-memory page of one worker: what ringdeald and the worker tell each other without a
// system call. Every word has one writing process. Any thread, signal handlers too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

inline constexpr uint32_t kPageMagic = 0x52444c50;  // "RDLP"
inline constexpr uint32_t kPageVersion = 1;
inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kCacheLine = 64;

// What a worker is told to do.
enum class PageMode : uint32_t {
  kHandoff = 0,   // connections come through the channel
  kDirect = 1,    // accept from the real listener
  kDraining = 2,  // nothing new comes; finish what is there
};

// What a worker says it is. Stored by the worker alone.
enum class WorkerState : uint32_t {
  kStarting = 0,  // a fresh page: not to be dealt to, nothing reads the channel yet
  kObserver = 1,  // watches the listener, has not called accept: gets doorbells only
  kWorker = 2,    // has called accept: is dealt to
  kPaused = 3,    // does not want connections now
  kLeft = 4,      // will never read its channel again
};

// How a worker accepts. kOneAtATime: it blocks in accept, so it may be handed a connection only
// while a thread of it waits (`waiting` > pending).
enum class AcceptStyle : uint32_t { kEvents = 0, kOneAtATime = 1 };

struct Page {
  // Written by ringdeald before the page is passed on, constant from then on.
  struct alignas(kCacheLine) Header {
    uint32_t magic;
    uint32_t version;
    uint32_t size;             // kPageBytes
    uint32_t slot;             // the worker's number within its listener
    uint64_t listener_cookie;  // the kernel's identity of the listener, 0 if it has none
    uint64_t worker_id;        // never used twice by one ringdeald
    // O_NONBLOCK or 0: the status flag that an adopted listener had when it came, for a program
    // that inherited it over exec and believes in the flag. 0 for an owned one.
    uint32_t listener_flags;
  };

  // Written by ringdeald while it lives.
  struct alignas(kCacheLine) Orders {
    // seq_cst; the worker reads it at each accept. kDirect only while mode_seen is another: so an
    // acknowledgment that is read after the store is that of this order.
    std::atomic<PageMode> mode;
    // 1 while ringdeald waits for this worker to become eligible. ringdeald stores it (seq_cst),
    // then reads the worker's lines again; the worker stores what makes it eligible (seq_cst), then
    // reads it. One of the two sees the other's store, so no wake-up is lost.
    std::atomic<uint32_t> wants_ready;
  };

  // Written by the worker: the line that ringdeald reads at each pick.
  struct alignas(kCacheLine) Progress {
    // Raised inside accept before it returns, after `waiting` was lowered (release). ringdeald
    // reads it before `waiting` (acquire): so `waiting` is never seen higher than it was at that
    // count.
    std::atomic<uint64_t> taken;
    // Of taken + direct; adds by any thread of the worker, seq_cst: a close under a maximum makes
    // eligible.
    std::atomic<uint64_t> closed;
    std::atomic<uint64_t> direct;  // accepted from the real listener; relaxed adds
    // CLOCK_MONOTONIC ns at which the running pass began, 0 while parked. Whichever thread makes
    // `waiting` leave or reach 0 stores it.
    std::atomic<uint64_t> pass_start;
    std::atomic<WorkerState> state;
    std::atomic<uint32_t> waiting;  // gauge: threads in accept or in a wait that includes the slot
    std::atomic<uint32_t> queued;   // gauge: work the program holds and has not begun
    std::atomic<AcceptStyle> style;
    // 1 while its accepts ask for O_NONBLOCK; relaxed. A hint, by which a system call is saved:
    // what a connection is its frame says.
    std::atomic<uint32_t> nonblocking;
  };

  // Written by the worker, read off the accept path.
  struct alignas(kCacheLine) Signs {
    std::atomic<uint64_t> rung;    // doorbells received
    std::atomic<uint64_t> passes;  // passes ended: how an observer declines
    // The mode that the worker acts on (seq_cst), stored when it does: from kDirect on what comes
    // to the listener wakes it, so ringdeald stops watching. Then the worker reads `mode` again,
    // until both are equal, and sends `ready`.
    std::atomic<PageMode> mode_seen;
    std::atomic<uint32_t> cpu;  // CPU of the last accept, plus one; 0: unknown
  };

  Header header;
  Orders orders;
  Progress progress;
  Signs signs;
  unsigned char reserved[kPageBytes - 4 * kCacheLine];  // zero
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<WorkerState>::is_always_lock_free);
static_assert(sizeof(std::atomic<uint64_t>) == 8 && sizeof(std::atomic<WorkerState>) == 4);
static_assert(sizeof(Page) == kPageBytes);
static_assert(offsetof(Page, header.slot) == 12);
static_assert(offsetof(Page, header.listener_cookie) == 16);
static_assert(offsetof(Page, header.worker_id) == 24);
static_assert(offsetof(Page, header.listener_flags) == 32);
static_assert(offsetof(Page, orders.mode) == 64);
static_assert(offsetof(Page, orders.wants_ready) == 68);
static_assert(offsetof(Page, progress.taken) == 128);
static_assert(offsetof(Page, progress.closed) == 136);
static_assert(offsetof(Page, progress.direct) == 144);
static_assert(offsetof(Page, progress.pass_start) == 152);
static_assert(offsetof(Page, progress.state) == 160);
static_assert(offsetof(Page, progress.waiting) == 164);
static_assert(offsetof(Page, progress.queued) == 168);
static_assert(offsetof(Page, progress.style) == 172);
static_assert(offsetof(Page, progress.nonblocking) == 176);
static_assert(offsetof(Page, signs.rung) == 192);
static_assert(offsetof(Page, signs.passes) == 200);
static_assert(offsetof(Page, signs.mode_seen) == 208);
static_assert(offsetof(Page, signs.cpu) == 212);

// A mapped page. The mapping ends with the object.
class MappedPage {
 public:
  MappedPage() = default;
  explicit MappedPage(Page* page) : page_(page) {}
  MappedPage(MappedPage&& other) noexcept : page_(other.page_) { other.page_ = nullptr; }
  MappedPage& operator=(MappedPage&& other) noexcept;
  ~MappedPage();

  Page* get() const { return page_; }
  Page* operator->() const { return page_; }
  explicit operator bool() const { return page_ != nullptr; }

  // Gives the mapping up; the caller unmaps kPageBytes.
  [[nodiscard]] Page* Release() {
    Page* page = page_;
    page_ = nullptr;
    return page;
  }

 private:
  Page* page_ = nullptr;
};

// Makes a zeroed memory object of one page whose size can never change again.
Result<UniqueFd> CreatePageMemory();

// Maps a page that this process is about to fill (ringdeald).
Result<MappedPage> MapNewPage(int memory);

// Maps a page that came from ringdeald: refuses one of another size, magic or version (EPROTO).
Result<MappedPage> MapReceivedPage(int memory);

}  // namespace ringdeal
