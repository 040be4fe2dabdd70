#include "daemon/operating/listener_note.h"

#include <nlohmann/json.hpp>

namespace ringdeal {
namespace {

using Json = nlohmann::json;

ListenerNote NoteFrom(const Json& json) {
  ListenerNote note;
  json.at("cookie").get_to(note.identity.cookie);
  json.at("network").get_to(note.identity.network);
  json.at("name").get_to(note.name);
  json.at("owned").get_to(note.owned);
  json.at("uid").get_to(note.uid);
  return note;
}

}  // namespace

std::string FormatNotes(std::string_view boot, const std::vector<ListenerNote>& notes) {
  Json listeners = Json::array();
  for (const ListenerNote& note : notes) {
    listeners.push_back({{"cookie", note.identity.cookie},
                         {"network", note.identity.network},
                         {"name", note.name},
                         {"owned", note.owned},
                         {"uid", note.uid}});
  }
  const Json document = {{"version", 1}, {"boot", boot}, {"listeners", std::move(listeners)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<ListenerNote>, std::string> ParseNotes(std::string_view boot,
                                                          std::string_view text) {
  std::vector<ListenerNote> notes;
  try {
    const Json document = Json::parse(text);
    if (document.at("version") != 1) return std::string("of another version");
    if (document.at("boot") != boot) return notes;
    for (const Json& each : document.at("listeners")) notes.push_back(NoteFrom(each));
  } catch (const Json::exception& error) {
    return std::string(error.what());
  }
  return notes;
}

}  // namespace ringdeal
