#include "ringdeal/ringdeal.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "client-shim/client/member.h"
#include "client-shim/client/page_writer.h"

#define RINGDEAL_API extern "C" __attribute__((visibility("default")))

using ringdeal::Page;
using ringdeal::UniqueFd;
using ringdeal::client::Answer;
using ringdeal::client::JoinRequest;

namespace {
constexpr size_t kMaxText = 256;
}

struct ringdeal_worker {
  ringdeal::client::Member member;
  // What to register with, again and again; the texts are below.
  JoinRequest request;
  char control_path[sizeof(sockaddr_un::sun_path)];
  char listener[kMaxText];
  char address[kMaxText];
  char cpus[kMaxText];
  // Stays mapped until the handle is gone: `closed` is counted here after ringdeald's death, too.
  std::atomic<Page*> page{nullptr};
  std::atomic<uint64_t> open{0};  // connections, whoever gave them
  bool one_at_a_time = false;
};

namespace {

constexpr unsigned kDefaultTimeoutMs = 5000;

thread_local char last_error[320];

int Fail(int number, const char* text) {
  std::snprintf(last_error, sizeof(last_error), "%s", text);
  errno = number;
  return -1;
}

// A caller that was compiled with an older header gives fewer fields; the rest are zero.
bool ReadOptions(const ringdeal_options* given, ringdeal_options* options) {
  if (given == nullptr || given->size < sizeof(given->size)) return false;
  const size_t size = given->size < sizeof(*options) ? given->size : sizeof(*options);
  std::memcpy(options, given, size);
  return options->listener != nullptr || options->address != nullptr || options->listener_fd > 0;
}

bool FindControlPath(const ringdeal_options& options, char* path, size_t size) {
  const char* given = options.control_path;
  if (given == nullptr) given = std::getenv("RINGDEAL_CONTROL");
  if (given == nullptr || given[0] == '\0') return ringdeal::DefaultControlPath(path, size);
  const int length = std::snprintf(path, size, "%s", given);
  return static_cast<size_t>(length) < size;
}

// Null stays null. False if the text is too long for any listener.
bool CopyText(const char* given, char (&kept)[kMaxText], const char** text) {
  if (given == nullptr) return true;
  *text = kept;
  const size_t length = std::strlen(given);
  if (length < kMaxText) std::memcpy(kept, given, length + 1);
  return length < kMaxText;
}

bool KeepWords(const ringdeal_options& options, ringdeal_worker* handle) {
  ringdeal::RegisterRequest& words = handle->request.words;
  words.weight = options.weight != 0 ? options.weight : 1;
  words.one_at_a_time = options.one_at_a_time != 0;
  words.passes_listener = options.listener_fd > 0;
  words.direct = true;
  return CopyText(options.listener, handle->listener, &words.listener) &&
         CopyText(options.address, handle->address, &words.address) &&
         CopyText(options.cpus, handle->cpus, &words.cpus);
}

// A ringdeald that comes back is told of the connections that are open: each will be closed in the
// new page.
void LookForRingdeald(ringdeal_worker* handle) {
  if (handle->member.next_look() == 0) return;
  handle->member.LookForRingdeald(handle->request);
  Page* page = handle->member.page();
  if (page == nullptr || handle->page.exchange(page) == page) return;
  page->progress.direct.fetch_add(handle->open.load());
}

int JoinAs(ringdeal_worker* handle, const ringdeal_options& options) {
  if (!FindControlPath(options, handle->control_path, sizeof(handle->control_path))) {
    return Fail(EINVAL, "no control path");
  }
  if (!KeepWords(options, handle)) return Fail(EINVAL, "a text is too long");
  if (options.listener_fd > 0) {
    UniqueFd copy(ringdeal::sys::Control(options.listener_fd, F_DUPFD_CLOEXEC, 3));
    if (!copy) return Fail(errno, "listener_fd cannot be duplicated");
    handle->member.SetListener(std::move(copy));
  }
  JoinRequest& request = handle->request;
  request.control_path = handle->control_path;
  request.answer_wakes = true;
  request.patience_ms =
      static_cast<int>(options.timeout_ms != 0 ? options.timeout_ms : kDefaultTimeoutMs);
  char text[256] = "";
  handle->member.BeginJoin();
  const Answer answer = handle->member.Join(request, text, sizeof(text));
  handle->page.store(handle->member.page());
  if (answer == Answer::kGiven) return 0;
  if (answer == Answer::kLate && options.listener_fd > 0) return 0;
  if (answer == Answer::kLate) return Fail(ETIMEDOUT, "ringdeald did not answer in time");
  return Fail(answer == Answer::kRefused ? EACCES : ECONNREFUSED, text);
}

void Destroy(ringdeal_worker* handle) {
  handle->member.Leave(true);
  Page* page = handle->page.load();
  if (page != nullptr) munmap(page, ringdeal::kPageBytes);
  handle->~ringdeal_worker();
  std::free(handle);
}

}  // namespace

RINGDEAL_API ringdeal_worker* ringdeal_join(const ringdeal_options* given) {
  ringdeal_options options = {};
  if (!ReadOptions(given, &options)) {
    Fail(EINVAL, "options need a size, and a listener, an address or a listener_fd");
    return nullptr;
  }
  void* memory = std::malloc(sizeof(ringdeal_worker));
  if (memory == nullptr) {
    Fail(ENOMEM, "out of memory");
    return nullptr;
  }
  auto* handle = new (memory) ringdeal_worker();
  handle->one_at_a_time = options.one_at_a_time != 0;
  if (JoinAs(handle, options) == 0) return handle;
  const int error = errno;
  Destroy(handle);
  errno = error;
  return nullptr;
}

RINGDEAL_API int ringdeal_fd(const ringdeal_worker* handle) { return handle->member.ready_set(); }

RINGDEAL_API int ringdeal_accept(ringdeal_worker* handle, sockaddr* address, socklen_t* length,
                                 int flags) {
  while (true) {
    LookForRingdeald(handle);
    if (handle->one_at_a_time && handle->member.Wait() != 0) {
      return Fail(errno, "interrupted while waiting for a connection");
    }
    Page* counted = nullptr;
    const int connection = handle->member.Accept(address, length, flags, &counted);
    if (connection >= 0) {
      handle->open.fetch_add(1);
      return connection;
    }
    if (errno == EAGAIN && handle->one_at_a_time) continue;
    return errno == EAGAIN ? -1 : Fail(errno, "no connection could be taken");
  }
}

RINGDEAL_API void ringdeal_pass_begin(ringdeal_worker* handle) {
  Page* page = handle->page.load();
  // The first pass has no wait before it.
  if (page != nullptr && page->progress.waiting.load() > 0) ringdeal::client::LeaveWait(page);
}

RINGDEAL_API void ringdeal_pass_end(ringdeal_worker* handle) {
  LookForRingdeald(handle);
  Page* page = handle->page.load();
  if (page != nullptr) ringdeal::client::EnterWait(page, handle->member.control());
}

RINGDEAL_API void ringdeal_closed(ringdeal_worker* handle, uint64_t connections) {
  handle->open.fetch_sub(connections);
  Page* page = handle->page.load();
  if (page != nullptr && ringdeal::client::CountClosed(page, connections)) handle->member.Poke();
}

RINGDEAL_API void ringdeal_queued(ringdeal_worker* handle, uint32_t connections) {
  Page* page = handle->page.load();
  if (page != nullptr && ringdeal::client::SetQueued(page, connections)) handle->member.Poke();
}

RINGDEAL_API void ringdeal_leave(ringdeal_worker* handle) {
  if (handle != nullptr) Destroy(handle);
}

RINGDEAL_API const char* ringdeal_last_error(void) { return last_error; }
