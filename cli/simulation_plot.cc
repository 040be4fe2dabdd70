#include "cli/simulation_plot.h"

#include <cstdarg>
#include <cstdio>

#include "cli/ring_names.h"

namespace ringdeal {
namespace {

constexpr int kWidth = 760;
constexpr int kTop = 56;
constexpr int kRowHeight = 48;
constexpr int kBarLeft = 130;
constexpr int kBarWidth = 600;
constexpr int kBarHeight = 20;
constexpr int kLegendStep = 100;

constexpr char kStyle[] =
    "<style>\n"
    "svg { background: #fff; font: 13px sans-serif }\n"
    "text { fill: #222 } .note { fill: #666; font-size: 12px }\n"
    ".r0 { fill: #1a7f5a } .r1 { fill: #6bbf8f } .r2 { fill: #e9c46a } .r3 { fill: #e88d4f }\n"
    ".r4 { fill: #c8443f }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #16181c } text { fill: #e8e8e8 } .note { fill: #a0a0a0 }\n"
    "}\n"
    "</style>\n";

[[gnu::format(printf, 2, 3)]] void Append(std::string* text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  *text += line;
}

void AppendLegend(std::string* text) {
  for (size_t ring = 0; ring < kRingNames.size(); ++ring) {
    const int left = kBarLeft + static_cast<int>(ring) * kLegendStep;
    Append(text, "<rect class=\"r%zu\" x=\"%d\" y=\"16\" width=\"12\" height=\"12\"/>\n", ring,
           left);
    Append(text, "<text x=\"%d\" y=\"27\">%s%s</text>\n", left + 18, ring == 0 ? "same " : "",
           kRingNames[ring]);
  }
}

void AppendDeal(const SimulatedDeal& deal, int top, std::string* text) {
  Append(text, "<text x=\"12\" y=\"%d\">%s</text>\n", top + 15, deal.policy.c_str());
  double left = kBarLeft;
  for (size_t ring = 0; ring < deal.rings_percent.size(); ++ring) {
    const double width = deal.rings_percent[ring] * kBarWidth / 100;
    Append(text,
           "<rect class=\"r%zu\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">"
           "<title>%s: %.1f %%</title></rect>\n",
           ring, left, top, width, kBarHeight, kRingNames[ring], deal.rings_percent[ring]);
    left += width;
  }
  Append(text,
         "<text class=\"note\" x=\"%d\" y=\"%d\">share off by %.1f %% at most, active spread %.1f "
         "%% of the mean, %llu idle</text>\n",
         kBarLeft, top + kBarHeight + 15, deal.share_error_max_percent,
         deal.active_spread_percent_of_mean, static_cast<unsigned long long>(deal.idle_workers));
}

}  // namespace

std::string PlotDeals(std::span<const SimulatedDeal> deals) {
  const int height = kTop + static_cast<int>(deals.size()) * kRowHeight;
  std::string text;
  Append(&text,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
         "height=\"%d\">\n<title>Connections by distance of worker and receiving CPU</title>\n",
         kWidth, height, kWidth, height);
  text += kStyle;
  AppendLegend(&text);
  int top = kTop;
  for (const SimulatedDeal& deal : deals) {
    AppendDeal(deal, top, &text);
    top += kRowHeight;
  }
  text += "</svg>\n";
  return text;
}

}  // namespace ringdeal
