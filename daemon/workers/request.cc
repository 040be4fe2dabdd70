#include "daemon/workers/request.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/dealing/cpu_list.h"
#include "protocol/control_messages.h"

namespace ringdeal {
namespace {

using Json = nlohmann::json;

// Reads typed members of one object and remembers the first that is wrong.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  std::optional<std::string> Text(const char* key, size_t most_bytes = 256) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    const auto* text = value->get_ptr<const std::string*>();
    if (text == nullptr || text->size() > most_bytes) {
      Complain(key, "a text of at most " + std::to_string(most_bytes) + " bytes");
      return std::nullopt;
    }
    return *text;
  }

  bool Flag(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Complain(key, "true or false");
    return value->is_boolean() && value->get<bool>();
  }

  std::optional<uint64_t> Number(const char* key, uint64_t least, uint64_t most) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number_unsigned()) {
      const auto number = value->get<uint64_t>();
      if (number >= least && number <= most) return number;
    }
    Complain(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }

  // A list of CPUs as text; none without the key.
  std::vector<int> Cpus(const char* key) {
    const std::optional<std::string> text = Text(key, 4096);
    if (!text || text->empty()) return {};
    auto cpus = ParseCpuList(*text);
    if (cpus.ok()) return std::move(*cpus);
    Complain(key, "a list of CPUs: " + cpus.error());
    return {};
  }

  const std::string& problem() const { return problem_; }

 private:
  const Json* Find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  void Complain(const char* key, const std::string& wanted) {
    if (problem_.empty()) problem_ = std::string("\"") + key + "\" must be " + wanted;
  }

  const Json& object_;
  std::string problem_;
};

constexpr uint64_t kMostCount = uint64_t{1} << 48;

WorkerReport ReadReport(Members* members) {
  return {.active = members->Number("active", 0, kMostCount).value_or(0),
          .pending = members->Number("pending", 0, kMostQueued).value_or(0),
          .taken = members->Number("taken", 0, kMostCount).value_or(0)};
}

Request Read(Members* members) {
  Request request;
  request.op = members->Text("op").value_or("");
  request.version = static_cast<int>(members->Number("version", 0, 1'000'000).value_or(1));
  request.listener = members->Text("listener");
  request.address = members->Text("address");
  request.cpus = members->Cpus("cpus");
  request.weight = static_cast<uint32_t>(members->Number("weight", 1, kMostWeight).value_or(1));
  request.observer = members->Flag("observer");
  request.forked = members->Flag("forked");
  request.one_at_a_time = members->Flag("one_at_a_time");
  request.direct = members->Flag("direct");
  request.passes_listener = members->Flag("passes_listener");
  request.passes_pidfd = members->Flag("passes_pidfd");
  if (request.op == op::kReport) request.report = ReadReport(members);
  if (const auto pid = members->Number("pid", 1, INT32_MAX)) request.pid = static_cast<pid_t>(*pid);
  if (const auto slot = members->Number("slot", 0, INT32_MAX)) request.slot = *slot;
  return request;
}

std::string Line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Request, RequestError> ParseRequest(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return RequestError{code::kBadRequest, "a request is one JSON object on one line"};
  }
  Members members(object);
  Request request = Read(&members);
  if (!members.problem().empty()) return RequestError{code::kBadRequest, members.problem()};
  if (request.op.empty()) return RequestError{code::kBadRequest, "\"op\" is missing"};
  if (request.version != kProtocolVersion) {
    return RequestError{code::kWrongVersion,
                        "this ringdeald speaks version " + std::to_string(kProtocolVersion) +
                            " of the protocol, not " + std::to_string(request.version)};
  }
  return request;
}

RequestError FailedStep(const SystemError& error) {
  const bool descriptors = error.number == EMFILE || error.number == ENFILE;
  return {descriptors ? code::kNoDescriptors : code::kBadRequest,
          std::string(error.step) + ": " + std::strerror(error.number)};
}

std::string OkLine() { return Line({{"ok", true}}); }

std::string RegisteredLine(Slot slot, const std::string& listener) {
  return Line({{"ok", true}, {"slot", slot}, {"listener", listener}});
}

std::string BytesLine(size_t bytes) { return Line({{"ok", true}, {"bytes", bytes}}); }

std::string ChangesLine(const std::string& changes) {
  return Line({{"ok", true}, {"changes", changes}});
}

std::string ErrorLine(const RequestError& error) {
  return Line({{"error", error.text}, {"code", error.code}});
}

}  // namespace ringdeal
