#include "daemon/observing/metrics.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <sstream>
#include <utility>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "daemon/observing/utf8.h"

namespace ringdeal {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

using LabelNames = std::initializer_list<const char*>;

// The samples of one metric.
class Samples {
 public:
  Samples(MetricFamily* family, const LabelNames& names) : family_(family), names_(names) {}

  // One value for each label name, in their order.
  void Add(double value, std::initializer_list<std::string> label_values) {
    prometheus::ClientMetric metric;
    const char* const* name = names_.begin();
    for (const std::string& label : label_values) metric.label.push_back({*name++, ToUtf8(label)});
    metric.counter.value = value;
    metric.gauge.value = value;
    family_->metric.push_back(std::move(metric));
  }

 private:
  MetricFamily* family_;
  const LabelNames& names_;
};

using Collect = void (*)(const Snapshot&, Samples&);

template <auto Field>
void OfDaemon(const Snapshot& snapshot, Samples& samples) {
  samples.Add(static_cast<double>(snapshot.*Field), {});
}

template <auto Field>
void OfListener(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners)
    samples.Add(static_cast<double>(listener.*Field), {listener.name});
}

// A count by a word: an outcome, an errno.
template <auto Field>
void OfListenerByWord(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners)
    for (const auto& [word, count] : listener.*Field)
      samples.Add(static_cast<double>(count), {listener.name, word});
}

template <typename Value>
void EachWorker(const Snapshot& snapshot, Samples& samples, Value value) {
  for (const auto& listener : snapshot.listeners)
    for (const auto& worker : listener.workers)
      samples.Add(value(worker), {listener.name, std::to_string(worker.slot)});
}

template <auto Field>
void OfWorker(const Snapshot& snapshot, Samples& samples) {
  EachWorker(snapshot, samples,
             [](const WorkerSnapshot& worker) { return static_cast<double>(worker.*Field); });
}

void BuildInfo(const Snapshot& snapshot, Samples& samples) { samples.Add(1, {snapshot.version}); }

void LongestPass(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    double longest = 0;
    for (const auto& worker : listener.workers) longest = std::max(longest, worker.pass_seconds);
    samples.Add(longest, {listener.name});
  }
}

// Of those that are dealt to; loads count for each unit of the weight that is in force.
void Imbalance(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    double lowest = 0, highest = 0;
    bool is_first = true;
    for (const auto& worker : listener.workers) {
      const double weight = worker.weight * worker.weight_part;
      if (worker.state != "worker" || weight <= 0) continue;
      const double load = static_cast<double>(worker.load) / weight;
      lowest = is_first ? load : std::min(lowest, load);
      highest = std::max(highest, load);
      is_first = false;
    }
    samples.Add(highest - lowest, {listener.name});
  }
}

void ControlRefusals(const Snapshot& snapshot, Samples& samples) {
  for (const auto& [code, count] : snapshot.control_refusals)
    samples.Add(static_cast<double>(count), {code});
}

void ConfigReloads(const Snapshot& snapshot, Samples& samples) {
  for (const auto& [outcome, count] : snapshot.config_reloads)
    samples.Add(static_cast<double>(count), {outcome});
}

void WorkersByPlacement(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    for (const char* source : {"set", "affinity", "learned", "none"}) {
      const auto has = [source](const auto& worker) { return worker.placement == source; };
      const auto count = std::count_if(listener.workers.begin(), listener.workers.end(), has);
      samples.Add(static_cast<double>(count), {listener.name, source});
    }
  }
}

void ReceiveShare(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    for (const auto& row : listener.deck) {
      double share = 0;
      for (const auto& stake : row.stakes) share += stake.share;
      samples.Add(share, {listener.name, std::to_string(row.cpu)});
    }
  }
}

void ListenerInfo(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    samples.Add(1, {listener.name, listener.address, listener.policy,
                    listener.owned ? "owned" : "adopted"});
  }
}

void ListenerMode(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners)
    for (const char* mode :
         {"handoff", "direct", "holding", "resetting", "limited", "paused", "stopping"})
      samples.Add(listener.mode == mode ? 1 : 0, {listener.name, mode});
}

// The last one stands for whatever else a worker wrote into its page.
constexpr std::array<const char*, 8> kWorkerStates = {"starting", "observer", "worker",  "paused",
                                                      "left",     "draining", "suspect", "unknown"};

void WorkersByState(const Snapshot& snapshot, Samples& samples) {
  for (const auto& listener : snapshot.listeners) {
    for (const char* state : kWorkerStates) {
      int count = 0;
      for (const auto& worker : listener.workers) count += worker.state == state ? 1 : 0;
      samples.Add(count, {listener.name, state});
    }
  }
}

void StateOfWorker(const Snapshot& snapshot, Samples& samples) {
  EachWorker(snapshot, samples, [](const WorkerSnapshot& worker) {
    size_t number = 0;
    while (number + 1 < kWorkerStates.size() && worker.state != kWorkerStates[number]) ++number;
    return static_cast<double>(number);
  });
}

struct Metric {
  const char* name;
  MetricType type;
  LabelNames labels;
  const char* help;
  Collect collect;
};

constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;
constexpr LabelNames kNone = {};
constexpr LabelNames kListener = {"listener"};
constexpr LabelNames kSlot = {"listener", "slot"};

using L = ListenerSnapshot;
using W = WorkerSnapshot;

// Help is written as it stands in docs/metrics.md. Labels are bounded: workers are told apart by
// their slot, which is used again, and never by a process or an address of a client.
constexpr Metric kMetrics[] = {
    {"ringdeal_build_info", kGauge, {"version"}, "Always 1; says which ringdeald runs.", BuildInfo},
    {"ringdeal_uptime_seconds", kGauge, kNone, "Time since ringdeald started.",
     OfDaemon<&Snapshot::uptime_seconds>},
    {"ringdeal_control_connections", kGauge, kNone,
     "Open connections of workers and tools to the control socket.",
     OfDaemon<&Snapshot::control_connections>},
    {"ringdeal_control_refusals_total",
     kCounter,
     {"code"},
     "Requests on the control socket answered with an error, by its code.",
     ControlRefusals},
    {"ringdeal_config_reloads_total",
     kCounter,
     {"outcome"},
     "Times that the configuration was to be read again: applied, or failed and nothing changed.",
     ConfigReloads},
    {"ringdeal_config_last_reload_successful", kGauge, kNone,
     "0 if the last time failed: another configuration is in force than the file says.",
     OfDaemon<&Snapshot::config_last_reload_successful>},
    {"ringdeal_recall_threads_abandoned_total", kCounter, kNone,
     "Recall threads given up because a worker kept one in the kernel; that worker is cut off.",
     OfDaemon<&Snapshot::recall_threads_abandoned>},
    {"ringdeal_acceptor_unblocked_total", kCounter, kNone,
     "Times that an accept which had come to block was broken by a signal.",
     OfDaemon<&Snapshot::acceptor_unblocked>},
    {"ringdeal_http_connections", kGauge, kNone, "Open connections to this HTTP server.",
     OfDaemon<&Snapshot::http_connections>},
    {"ringdeal_http_connections_full_total", kCounter, kNone,
     "Times that the HTTP server stopped accepting at its limit of open connections.",
     OfDaemon<&Snapshot::http_connections_full>},
    {"ringdeal_http_timeouts_total", kCounter, kNone,
     "HTTP connections closed because they were not done in time.",
     OfDaemon<&Snapshot::http_timeouts>},
    {"ringdeal_http_streams", kGauge, kNone, "Open streams of events: pages.",
     OfDaemon<&Snapshot::http_streams>},
    {"ringdeal_http_streams_full_total", kCounter, kNone,
     "Times that a stream of events was refused at their limit.",
     OfDaemon<&Snapshot::http_streams_full>},
    {"ringdeal_http_streams_dropped_total", kCounter, kNone,
     "Streams of events closed because they were not read.",
     OfDaemon<&Snapshot::http_streams_dropped>},

    {"ringdeal_listener_info",
     kGauge,
     {"listener", "address", "policy", "origin"},
     "Always 1; says what the listener is. Origin: owned or adopted.",
     ListenerInfo},
    {"ringdeal_listener_mode",
     kGauge,
     {"listener", "mode"},
     "1 for the mode that the listener is in, 0 for the others: handoff, direct (its only worker "
     "accepts by itself), holding (no worker may be given anything), resetting (there is none, "
     "and no_worker: reset), limited (max_accept_rate is reached), paused (accept failed), "
     "stopping.",
     ListenerMode},
    {"ringdeal_accepted_total", kCounter, kListener, "Connections accepted.",
     OfListener<&L::accepted>},
    {"ringdeal_accept_errors_total",
     kCounter,
     {"listener", "reason"},
     "Failed accepts, by the name of the errno.",
     OfListenerByWord<&L::accept_errors>},
    {"ringdeal_handoffs_total",
     kCounter,
     {"listener", "outcome"},
     "Attempts to hand a connection to a worker: delivered, full (its channel was), gone (the "
     "worker was), refused (by the kernel for another reason). A connection that was not delivered "
     "goes to another worker.",
     OfListenerByWord<&L::handoffs>},
    {"ringdeal_redealt_total", kCounter, kListener,
     "Connections taken out of a worker's channel, and dealt again.", OfListener<&L::redealt>},
    {"ringdeal_recalls_total",
     kCounter,
     {"listener", "reason"},
     "The same by reason: left (the worker left or died), drained (it is being drained), overdue "
     "(it does not come for them), unanswered (they were behind a doorbell that it did not "
     "answer).",
     OfListenerByWord<&L::recalls>},
    {"ringdeal_holds_total", kCounter, kListener,
     "Times that accepting stopped because no worker could be given anything.",
     OfListener<&L::holds>},
    {"ringdeal_held_seconds_total", kCounter, kListener, "Time spent so, in holds that have ended.",
     OfListener<&L::held_seconds>},
    {"ringdeal_rate_pauses_total", kCounter, kListener,
     "Times that accepting stopped because max_accept_rate was reached.",
     OfListener<&L::rate_pauses>},
    {"ringdeal_rate_paused_seconds_total", kCounter, kListener,
     "Time spent so, in pauses that have ended.", OfListener<&L::rate_paused_seconds>},
    {"ringdeal_no_worker_resets_total", kCounter, kListener,
     "Connections reset because there was no worker.", OfListener<&L::no_worker_resets>},
    {"ringdeal_kept_connections", kGauge, kListener,
     "Connections accepted that wait in ringdeald for a worker.", OfListener<&L::kept>},
    {"ringdeal_listener_repairs_total", kCounter, kListener,
     "Times that a holder of the listener had cleared O_NONBLOCK or shut it down, and ringdeald "
     "set it right.",
     OfListener<&L::listener_repairs>},
    {"ringdeal_counters_clamped_total", kCounter, kListener,
     "Times that the counts of a worker ran backwards or past what it was handed.",
     OfListener<&L::counters_clamped>},
    {"ringdeal_imbalance", kGauge, kListener,
     "Difference between the highest and the lowest load of the workers in the state worker, for "
     "each unit of weight.",
     Imbalance},
    {"ringdeal_longest_pass_seconds", kGauge, kListener,
     "Length of the longest pass that a worker is in.", LongestPass},
    {"ringdeal_long_passes_total", kCounter, kListener,
     "Passes that were seen to last longer than busy_after. A pass at which ringdeald had no "
     "reason "
     "to look is not counted.",
     OfListener<&L::long_passes>},
    {"ringdeal_workers_stuck_total", kCounter, kListener,
     "Times that a worker was in one pass for longer than stuck_after.",
     OfListener<&L::workers_stuck>},
    {"ringdeal_deals_by_ring_total",
     kCounter,
     {"listener", "ring"},
     "Connections dealt, by the distance between the CPU that received them and their worker: 0 "
     "the "
     "same CPU, 1 the same core, 2 the same cache group, 3 the same package or NUMA node, 4 the "
     "machine. None with a policy that does not look at it.",
     OfListenerByWord<&L::deals_by_ring>},
    {"ringdeal_guard_turned_away_total", kCounter, kListener,
     "Times that the next worker of the receiving CPU's row was too far above the least loaded.",
     OfListener<&L::turned_away>},
    {"ringdeal_decks_dealt_total", kCounter, kListener,
     "Times that a new deck was dealt: workers came, went or moved, or CPUs receive other shares.",
     OfListener<&L::decks_dealt>},
    {"ringdeal_receive_share",
     kGauge,
     {"listener", "cpu"},
     "Part of the connections that the CPU receives, 0 to 1, as the deck in use has it; CPU -1 if "
     "the kernel does not say.",
     ReceiveShare},
    {"ringdeal_workers_placed",
     kGauge,
     {"listener", "source"},
     "Registered workers by how ringdeald knows where they sit: set, affinity, learned, none.",
     WorkersByPlacement},
    {"ringdeal_workers_joined_total", kCounter, kListener, "Workers registered.",
     OfListener<&L::workers_joined>},
    {"ringdeal_workers_left_total", kCounter, kListener, "Workers that left or died.",
     OfListener<&L::workers_left>},
    {"ringdeal_workers",
     kGauge,
     {"listener", "state"},
     "Registered workers by state: starting, observer, worker, paused, left, draining, suspect, "
     "unknown.",
     WorkersByState},

    {"ringdeal_worker_state", kGauge, kSlot,
     "State of the worker: 0 starting, 1 observer, 2 worker, 3 paused, 4 left, 5 draining, 6 "
     "suspect, 7 unknown.",
     StateOfWorker},
    {"ringdeal_worker_weight", kGauge, kSlot, "Weight that the worker registered with.",
     OfWorker<&W::weight>},
    {"ringdeal_worker_one_at_a_time", kGauge, kSlot,
     "1 if the worker blocks in accept, and so is given one connection at a time.",
     OfWorker<&W::one_at_a_time>},
    {"ringdeal_worker_active", kGauge, kSlot,
     "Connections that the worker has taken and not closed.", OfWorker<&W::active>},
    {"ringdeal_worker_pending", kGauge, kSlot,
     "Connections handed to the worker and not yet taken.", OfWorker<&W::pending>},
    {"ringdeal_worker_queued", kGauge, kSlot,
     "Work that the worker says it holds and has not begun.", OfWorker<&W::queued>},
    {"ringdeal_worker_load", kGauge, kSlot, "Active, pending and queued together.",
     OfWorker<&W::load>},
    {"ringdeal_worker_pass_seconds", kGauge, kSlot,
     "Length of the pass that the worker is in, 0 while it waits.", OfWorker<&W::pass_seconds>},
    {"ringdeal_worker_handed_total", kCounter, kSlot, "Connections handed to the worker.",
     OfWorker<&W::handed>},
    {"ringdeal_worker_recalled_total", kCounter, kSlot,
     "Connections of these that came back: the send failed, or they were taken out of its channel.",
     OfWorker<&W::recalled>},
    {"ringdeal_worker_taken_total", kCounter, kSlot,
     "Connections that the worker took out of its channel.", OfWorker<&W::taken>},
    {"ringdeal_worker_direct_total", kCounter, kSlot,
     "Connections that the worker accepted from the listener itself.", OfWorker<&W::direct>},
    {"ringdeal_worker_closed_total", kCounter, kSlot, "Connections that the worker closed.",
     OfWorker<&W::closed>},
};

const char* TypeName(MetricType type) { return type == kCounter ? "counter" : "gauge"; }

}  // namespace

std::vector<MetricDescription> DescribeMetrics() {
  std::vector<MetricDescription> descriptions;
  for (const Metric& metric : kMetrics) {
    std::string labels;
    for (const char* label : metric.labels)
      labels += (labels.empty() ? "" : ", ") + std::string(label);
    descriptions.push_back({metric.name, TypeName(metric.type), labels, metric.help});
  }
  return descriptions;
}

std::string RenderMetrics(const Snapshot& snapshot) {
  std::vector<MetricFamily> families;
  for (const Metric& metric : kMetrics) {
    MetricFamily family{metric.name, metric.help, metric.type, {}};
    Samples samples(&family, metric.labels);
    metric.collect(snapshot, samples);
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace ringdeal
