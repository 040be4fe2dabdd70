#include "cli/top_frame.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <iterator>
#include <optional>

#include "cli/printable.h"

namespace ringdeal {
namespace {

constexpr size_t kShortestBar = 8;
constexpr size_t kLongestBar = 60;
constexpr size_t kHeadLines = 2;

__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

// What has only grown since the look before; less means that another counts from the start.
double Rate(uint64_t before, uint64_t now, double seconds) {
  return now > before && seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

// A worker with what came to it between the two looks.
struct Row {
  const WorkerView* worker = nullptr;
  double per_second = 0;
};

struct Column {
  std::string_view head;
  int width = 0;  // negative: to the left
  bool only_wide = false;
  bool least_first = false;
  std::string (*text)(const Row& row);
  double (*value)(const Row& row);  // null: not sorted by it
};

std::string Number(uint64_t value) { return std::to_string(value); }
double Value(uint64_t value) { return static_cast<double>(value); }

std::string PassOf(const Row& row) {
  const double seconds = row.worker->pass_seconds;
  if (seconds <= 0) return "-";
  return seconds < 1 ? Text("%.1fms", seconds * 1e3) : Text("%.1fs", seconds);
}

std::string SeatOf(const Row& row) {
  if (row.worker->cpus.empty()) return "-";
  return row.worker->cpus + " " + row.worker->placement;
}

constexpr Column kColumns[] = {
    {"SLOT", 5, false, true, [](const Row& row) { return Number(row.worker->slot); },
     [](const Row& row) { return Value(row.worker->slot); }},
    {"PID", 8, false, true, [](const Row& row) { return Number(row.worker->pid); },
     [](const Row& row) { return static_cast<double>(row.worker->pid); }},
    {"STATE", -8, false, false, [](const Row& row) { return row.worker->state; }, nullptr},
    {"ACTIVE", 7, false, false, [](const Row& row) { return Number(row.worker->active); },
     [](const Row& row) { return Value(row.worker->active); }},
    {"PENDING", 7, false, false, [](const Row& row) { return Number(row.worker->pending); },
     [](const Row& row) { return Value(row.worker->pending); }},
    {"NEW/S", 7, false, false, [](const Row& row) { return Text("%.0f", row.per_second); },
     [](const Row& row) { return row.per_second; }},
    {"PASS", 8, false, false, PassOf, [](const Row& row) { return row.worker->pass_seconds; }},
    {"RECALLED", 8, true, false, [](const Row& row) { return Number(row.worker->recalled); },
     [](const Row& row) { return Value(row.worker->recalled); }},
    {"TAKEN", 10, true, false, [](const Row& row) { return Number(row.worker->taken); },
     [](const Row& row) { return Value(row.worker->taken); }},
    {"CLOSED", 10, true, false, [](const Row& row) { return Number(row.worker->closed); },
     [](const Row& row) { return Value(row.worker->closed); }},
    {"DIRECT", 10, true, false, [](const Row& row) { return Number(row.worker->direct); },
     [](const Row& row) { return Value(row.worker->direct); }},
    {"CPUS", -20, true, false, SeatOf, nullptr},
};

constexpr size_t kWide = 140;

const std::vector<const Column*>& SortedBy() {
  static const std::vector<const Column*> columns = [] {
    std::vector<const Column*> found;
    for (const Column& column : kColumns) {
      if (column.value != nullptr) found.push_back(&column);
    }
    return found;
  }();
  return columns;
}

std::string Cell(const Column& column, std::string_view text) {
  const auto width = static_cast<size_t>(std::abs(column.width));
  const std::string padding(width > text.size() ? width - text.size() : 0, ' ');
  return " " + (column.width > 0 ? padding + std::string(text) : std::string(text) + padding);
}

// Not in the middle of a character of UTF-8.
std::string Cut(std::string text, size_t width) {
  if (width == 0 || text.size() <= width) return text;
  while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xc0) == 0x80) --width;
  text.resize(width);
  return text;
}

// `#` for what is active and `+` for what is pending, of the most that one worker of the listener
// has.
std::string Bar(const WorkerView& worker, uint64_t most, size_t length) {
  const auto part = [&](uint64_t count) {
    return static_cast<size_t>(
        (static_cast<double>(count) * static_cast<double>(length) + static_cast<double>(most) / 2) /
        static_cast<double>(most));
  };
  const size_t active = std::min(part(worker.active), length);
  const size_t pending = std::min(part(worker.pending), length - active);
  return std::string(active, '#') + std::string(pending, '+');
}

const ListenerView* Find(const StatusView& status, const std::string& name) {
  const auto found = std::ranges::find(status.listeners, name, &ListenerView::name);
  return found == status.listeners.end() ? nullptr : &*found;
}

uint64_t Came(const WorkerView& worker) { return worker.taken + worker.direct; }

// Nothing of what came to the process that had the slot before.
double PerSecond(const ListenerView* before, const WorkerView& now, double seconds) {
  if (before == nullptr) return 0;
  for (const WorkerView& worker : before->workers) {
    if (worker.slot != now.slot || worker.pid != now.pid) continue;
    return Rate(Came(worker), Came(now), seconds);
  }
  return 0;
}

std::vector<Row> RowsOf(const ListenerView* before, const ListenerView& now, double seconds,
                        const TopView& view) {
  std::vector<Row> rows;
  for (const WorkerView& worker : now.workers) {
    rows.push_back({&worker, PerSecond(before, worker, seconds)});
  }
  const Column& by = *SortedBy()[view.order % SortedBy().size()];
  const bool least_first = by.least_first != view.reversed;
  std::ranges::stable_sort(rows, [&](const Row& one, const Row& other) {
    const double a = by.value(one);
    const double b = by.value(other);
    return least_first ? a < b : a > b;
  });
  return rows;
}

std::string RingsOf(const ListenerView& listener) {
  uint64_t all = 0;
  for (const auto& [ring, count] : listener.deals_by_ring) all += count;
  if (all == 0) return "";
  std::string text = "   rings %";
  for (const auto& [ring, count] : listener.deals_by_ring) {
    text += Text(" %s:%.0f", Printable(ring).c_str(),
                 100 * static_cast<double>(count) / static_cast<double>(all));
  }
  return text;
}

void AddListener(const ListenerView* before, const ListenerView& now, double seconds,
                 const TopView& view, std::vector<std::string>* lines) {
  const std::vector<Row> rows = RowsOf(before, now, seconds, view);
  double per_second = 0;
  uint64_t active = 0;
  uint64_t pending = 0;
  uint64_t recalled = 0;
  uint64_t most = 1;
  for (const Row& row : rows) {
    per_second += row.per_second;
    active += row.worker->active;
    pending += row.worker->pending;
    recalled += row.worker->recalled;
    most = std::max(most, row.worker->active + row.worker->pending);
  }
  const auto count = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  lines->push_back(Printable(now.name) + "  " + Printable(now.address) + "  " +
                   Printable(now.policy) + "  " + Printable(now.mode));
  lines->push_back(Text("  %zu workers   new %.0f/s   active %llu   pending %llu   holds %llu   "
                        "recalled %llu   redealt %llu",
                        rows.size(), per_second, count(active), count(pending), count(now.holds),
                        count(recalled), count(now.redealt)) +
                   RingsOf(now));
  if (rows.empty()) return;
  const bool wide = view.width == 0 || view.width >= kWide;
  std::string head;
  for (const Column& column : kColumns) {
    if (wide || !column.only_wide) head += Cell(column, column.head);
  }
  lines->push_back(head + " LOAD");
  const size_t room = view.width > head.size() + 1 ? view.width - head.size() - 1 : 0;
  const size_t length = std::clamp(room, kShortestBar, kLongestBar);
  for (const Row& row : rows) {
    std::string line;
    for (const Column& column : kColumns) {
      if (wide || !column.only_wide) line += Cell(column, Printable(column.text(row)));
    }
    lines->push_back(line + " " + Bar(*row.worker, most, length));
  }
}

std::string HeadOf(const Look& now, const TopView& view) {
  const auto up = static_cast<unsigned long long>(now.status.uptime_seconds);
  size_t workers = 0;
  for (const ListenerView& listener : now.status.listeners) workers += listener.workers.size();
  return Text("ringdeald %s  pid %lld  up %llu:%02llu:%02llu  %zu listeners  %zu workers",
              Printable(now.status.version).c_str(), static_cast<long long>(now.status.pid),
              up / 3600, up / 60 % 60, up % 60, now.status.listeners.size(), workers) +
         "  by " + std::string(TopOrders()[view.order % TopOrders().size()]) +
         (view.reversed ? " reversed" : "");
}

}  // namespace

std::span<const std::string_view> TopOrders() {
  static const std::vector<std::string_view> heads = [] {
    std::vector<std::string_view> found;
    for (const Column* column : SortedBy()) found.push_back(column->head);
    return found;
  }();
  return heads;
}

TopFrame MakeTopFrame(const Look& before, const Look& now, const TopView& view) {
  std::vector<std::string> body;
  for (const ListenerView& listener : now.status.listeners) {
    if (!body.empty()) body.emplace_back();
    AddListener(Find(before.status, listener.name), listener, now.seconds - before.seconds, view,
                &body);
  }
  if (body.empty()) body.emplace_back("no listeners");

  TopFrame frame;
  frame.lines = {HeadOf(now, view), view.trouble.empty() ? "" : Printable(view.trouble)};
  size_t room = body.size();
  if (view.height > 0) room = view.height > kHeadLines ? view.height - kHeadLines : 0;
  frame.last_first_line = body.size() > room ? body.size() - room : 0;
  const size_t first = std::min(view.first_line, frame.last_first_line);
  const size_t shown = std::min(room, body.size() - first);
  frame.lines.insert(frame.lines.end(), body.begin() + static_cast<std::ptrdiff_t>(first),
                     body.begin() + static_cast<std::ptrdiff_t>(first + shown));
  if (view.height > 0 && frame.lines.size() > view.height) frame.lines.resize(view.height);
  for (std::string& line : frame.lines) line = Cut(std::move(line), view.width);
  return frame;
}

}  // namespace ringdeal
