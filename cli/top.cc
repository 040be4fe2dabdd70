#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/status_reader.h"
#include "cli/terminal.h"
#include "cli/top_frame.h"

namespace ringdeal {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<Look, ControlError> TakeLook(const TopOptions& options) {
  const auto document = ReadStatus(options.control);
  if (!document) return document.error();
  auto status = ParseStatus(*document);
  if (!status) return ControlError{.text = "the status document cannot be read"};
  if (!options.listener.empty()) {
    std::erase_if(status->listeners,
                  [&](const ListenerView& listener) { return listener.name != options.listener; });
  }
  return Look{std::move(*status), Now()};
}

size_t OrderOf(const TopOptions& options) {
  const auto orders = TopOrders();
  const auto found = std::find(orders.begin(), orders.end(), options.sort);
  return found == orders.end() ? 0 : static_cast<size_t>(found - orders.begin());
}

// The last two looks, and how they are looked at.
class Top {
 public:
  Top(const TopOptions& options, Look first)
      : options_(options), before_(first), now_(std::move(first)) {
    view_.order = OrderOf(options);
    view_.reversed = options.reverse;
  }

  void LookAgain() {
    auto look = TakeLook(options_);
    view_.trouble = look ? "" : look.error().text;
    if (!look) return;
    before_ = std::exchange(now_, std::move(*look));
  }

  void Press(const std::string& key) {
    const size_t orders = TopOrders().size();
    const size_t page = view_.height > 4 ? view_.height - 4 : 1;
    if (key == "right" || key == ">") view_.order = (view_.order + 1) % orders;
    if (key == "left" || key == "<") view_.order = (view_.order + orders - 1) % orders;
    if (key == "r") view_.reversed = !view_.reversed;
    if (key == "down") view_.first_line += 1;
    if (key == "page down") view_.first_line += page;
    if (key == "up") view_.first_line -= std::min<size_t>(view_.first_line, 1);
    if (key == "page up") view_.first_line -= std::min(view_.first_line, page);
  }

  TopFrame Frame(size_t width, size_t height) {
    view_.width = width;
    view_.height = height;
    TopFrame frame = MakeTopFrame(before_, now_, view_);
    view_.first_line = std::min(view_.first_line, frame.last_first_line);
    return frame;
  }

 private:
  const TopOptions& options_;
  Look before_;
  Look now_;
  TopView view_;
};

void ShowOn(Terminal* terminal, const TopOptions& options, Top* top) {
  double next = Now() + options.interval;
  for (unsigned shown = 0; options.count == 0 || shown < options.count;) {
    terminal->Show(top->Frame(terminal->width(), terminal->height()).lines);
    switch (terminal->Wait(std::max(next - Now(), 0.0))) {
      case Terminal::Event::kEnd:
        return;
      case Terminal::Event::kKey:
        if (terminal->key() == "q") return;
        top->Press(terminal->key());
        continue;
      case Terminal::Event::kResized:
        continue;
      case Terminal::Event::kNone:
        break;
    }
    if (Now() < next) continue;
    top->LookAgain();
    next = Now() + options.interval;
    ++shown;
  }
}

int Print(const TopOptions& options, Top* top) {
  for (unsigned shown = 0; options.count == 0 || shown < options.count; ++shown) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
    top->LookAgain();
    if (shown > 0) std::putchar('\n');
    for (const std::string& line : top->Frame(0, 0).lines) {
      if (!line.empty()) std::printf("%s\n", line.c_str());
    }
    if (std::fflush(stdout) != 0) return kExitSystem;
  }
  return kExitOk;
}

}  // namespace

int ShowTop(const TopOptions& options) {
  auto first = TakeLook(options);
  if (!first) {
    std::fprintf(stderr, "ringdeal top: %s\n", first.error().text.c_str());
    return first.error().refused ? kExitRefused : kExitSystem;
  }
  if (!options.listener.empty() && first->status.listeners.empty()) {
    std::fprintf(stderr, "ringdeal top: there is no listener %s\n", options.listener.c_str());
    return kExitUsage;
  }
  Top top(options, std::move(*first));
  if (!Terminal::IsThere()) return Print(options, &top);
  Terminal terminal;
  ShowOn(&terminal, options, &top);
  return kExitOk;
}

}  // namespace ringdeal
