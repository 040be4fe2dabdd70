#include "daemon/operating/notebook.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/operating/boot_id.h"
#include "daemon/operating/log.h"
#include "daemon/operating/own_file.h"
#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

// Of earlier ones. The kernel counts cookies up, so the lowest are the oldest.
constexpr size_t kMostEarlier = 1024;

}  // namespace

void Notebook::Open(const std::string& path) {
  path_ = path;
  boot_ = BootId();
  const Result<std::string> text = ReadOwnFile(path);
  if (!text && text.error().number == ENOENT) return;
  const auto refuse = [&path](const std::string& reason) {
    Log(LogLevel::kWarn, "notes_not_read", {{"path", path}, {"reason", reason}});
  };
  if (!text) return refuse(std::string(text.error().step) + ": " + strerror(text.error().number));
  Result<std::vector<ListenerNote>, std::string> notes = ParseNotes(boot_, *text);
  if (!notes) return refuse(notes.error());
  for (ListenerNote& note : *notes) {
    const uint64_t cookie = note.identity.cookie;
    entries_[cookie] = {std::move(note), /*earlier=*/true};
  }
  while (entries_.size() > kMostEarlier) entries_.erase(entries_.begin());
}

const ListenerNote* Notebook::Find(const SocketIdentity& identity) const {
  const auto found = entries_.find(identity.cookie);
  const bool same = found != entries_.end() && found->second.note.identity == identity;
  return same ? &found->second.note : nullptr;
}

void Notebook::Note(const Listener& listener) {
  for (const Listener::Socket& socket : listener.sockets()) {
    entries_[socket.identity.cookie].note = {socket.identity, listener.name(), listener.owned(),
                                             listener.uid()};
  }
  Write();
  if (listener.owned() && !listener.sockets().empty()) {
    StoreListener(listener.name(), listener.sockets().back().descriptor.get());
  }
}

void Notebook::Forget(const Listener& listener) {
  for (const Listener::Socket& socket : listener.sockets()) {
    const auto found = entries_.find(socket.identity.cookie);
    if (found == entries_.end()) continue;
    if (listener.owned() || !found->second.earlier) entries_.erase(found);
  }
  Write();
  if (listener.owned()) ForgetStoredListener(listener.name());
}

void Notebook::Write() {
  if (path_.empty()) return;
  std::vector<ListenerNote> notes;
  for (const auto& [cookie, entry] : entries_) notes.push_back(entry.note);
  const Result<void> written = ReplaceOwnFile(path_, FormatNotes(boot_, notes));
  if (written || std::exchange(complained_, true)) return;
  Log(LogLevel::kWarn, "notes_not_written",
      {{"path", path_},
       {"reason", std::string(written.error().step) + ": " + strerror(written.error().number)}});
}

}  // namespace ringdeal
