#include <cstdint>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/printable.h"
#include "cli/status_reader.h"

namespace ringdeal {
namespace {

std::string Text(const nlohmann::json& object, const char* key) {
  return Printable(object.value(key, std::string()));
}

uint64_t Number(const nlohmann::json& object, const char* key) {
  return object.value(key, uint64_t{0});
}

void PrintWorker(const nlohmann::json& worker) {
  const std::string cpus = Text(worker, "cpus");
  std::printf("  %4llu %8llu %-9s", static_cast<unsigned long long>(Number(worker, "slot")),
              static_cast<unsigned long long>(Number(worker, "pid")),
              Text(worker, "state").c_str());
  for (const char* key : {"active", "pending", "handed", "recalled", "taken", "closed", "direct"}) {
    std::printf(" %9llu", static_cast<unsigned long long>(Number(worker, key)));
  }
  std::printf("  %s (%s)\n", cpus.empty() ? "-" : cpus.c_str(), Text(worker, "placement").c_str());
}

void PrintListener(const nlohmann::json& listener) {
  std::printf("%s  %s  %s  %s\n", Text(listener, "name").c_str(), Text(listener, "address").c_str(),
              Text(listener, "policy").c_str(), Text(listener, "mode").c_str());
  const nlohmann::json& workers = listener.at("workers");
  if (workers.empty()) {
    std::printf("  no workers\n");
    return;
  }
  std::printf("  %4s %8s %-9s %9s %9s %9s %9s %9s %9s %9s  %s\n", "slot", "pid", "state", "active",
              "pending", "handed", "recalled", "taken", "closed", "direct", "cpus");
  for (const nlohmann::json& worker : workers) PrintWorker(worker);
}

bool PrintTable(const std::string& document) {
  try {
    const nlohmann::json status = nlohmann::json::parse(document);
    const nlohmann::json& listeners = status.at("listeners");
    if (listeners.empty()) std::printf("no listeners\n");
    for (const nlohmann::json& listener : listeners) PrintListener(listener);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

int ShowStatus(const StatusOptions& options) {
  const auto document = ReadStatus(options.control);
  if (!document) {
    std::fprintf(stderr, "ringdeal status: %s\n", document.error().text.c_str());
    return document.error().refused ? kExitRefused : kExitSystem;
  }
  if (options.json) {
    std::fwrite(document->data(), 1, document->size(), stdout);
    if (document->back() != '\n') std::putchar('\n');
    return kExitOk;
  }
  if (PrintTable(*document)) return kExitOk;
  std::fprintf(stderr, "ringdeal status: the status document cannot be read\n");
  return kExitSystem;
}

}  // namespace ringdeal
