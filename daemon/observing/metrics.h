// The snapshot as Prometheus text: the only place that sees prometheus-cpp. Any thread.
#pragma once

#include <string>
#include <vector>

#include "daemon/observing/snapshot.h"

namespace ringdeal {

// Of a body that RenderMetrics returned.
inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

struct MetricDescription {
  std::string name;
  std::string type;    // counter, gauge
  std::string labels;  // "listener, slot"; empty: none
  std::string help;
};

// All metrics there are, in the order in which they are rendered: what docs/metrics.md says.
std::vector<MetricDescription> DescribeMetrics();

// A metric without a sample, such as one by reason before the first error, is left out.
std::string RenderMetrics(const Snapshot& snapshot);

}  // namespace ringdeal
