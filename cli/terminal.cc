#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ringdeal {
namespace {

// Of the alternate screen, so that what was there comes back; and without a cursor.
constexpr char kEnter[] = "\033[?1049h\033[?25l";
constexpr char kLeave[] = "\033[?25h\033[?1049l";
constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Written by the handlers, which run only inside pselect.
volatile sig_atomic_t resized = 0;
volatile sig_atomic_t ended = 0;

struct KeyName {
  std::string_view bytes;
  const char* name;
};

constexpr KeyName kKeys[] = {
    {"\033[A", "up"},       {"\033OA", "up"},         {"\033[B", "down"},  {"\033OB", "down"},
    {"\033[D", "left"},     {"\033OD", "left"},       {"\033[C", "right"}, {"\033OC", "right"},
    {"\033[5~", "page up"}, {"\033[6~", "page down"},
};

void Handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, number);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

bool Terminal::IsThere() {
  const char* kind = std::getenv("TERM");
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

Terminal::Terminal() {
  Handle(SIGWINCH, [](int) { resized = 1; });
  for (const int number : kEndSignals) Handle(number, [](int) { ended = 1; });
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the terminal as it has it
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  Write(kEnter);
  ReadSize();
}

Terminal::~Terminal() {
  Write(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void Terminal::ReadSize() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return;
  width_ = size.ws_col;
  height_ = size.ws_row;
}

// Over what was there, line by line, so that nothing flickers.
void Terminal::Show(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (size_t i = 0; i < std::min(lines.size(), height_); ++i) {
    if (i > 0) text += "\r\n";
    text += lines[i] + "\033[K";
  }
  Write(text + "\033[J");
}

Terminal::Event Terminal::Wait(double seconds) {
  if (!input_.empty() && ReadKey()) return Event::kKey;
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(STDIN_FILENO, &readable);
  const double whole = std::floor(seconds);
  const timespec patience = {.tv_sec = static_cast<time_t>(whole),
                             .tv_nsec = static_cast<long>((seconds - whole) * 1e9)};
  sigset_t none;
  sigprocmask(SIG_SETMASK, nullptr, &none);
  for (const int number : kEndSignals) sigdelset(&none, number);
  sigdelset(&none, SIGWINCH);
  const int ready = pselect(STDIN_FILENO + 1, &readable, nullptr, nullptr, &patience, &none);
  if (ended != 0) return Event::kEnd;
  if (resized != 0) {
    resized = 0;
    ReadSize();
    return Event::kResized;
  }
  if (ready <= 0) return Event::kNone;
  char bytes[64];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
  if (count <= 0) return Event::kEnd;
  input_.append(bytes, static_cast<size_t>(count));
  return ReadKey() ? Event::kKey : Event::kNone;
}

bool Terminal::ReadKey() {
  for (const KeyName& each : kKeys) {
    if (!std::string_view(input_).starts_with(each.bytes)) continue;
    key_ = each.name;
    input_.erase(0, each.bytes.size());
    return true;
  }
  // A sequence of another key is nobody's, and comes at once as a whole.
  key_ = input_[0] == '\033' ? "" : input_.substr(0, 1);
  input_.erase(0, input_[0] == '\033' ? std::string::npos : 1);
  return !key_.empty();
}

}  // namespace ringdeal
