#include "daemon/operating/notebook.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "daemon/accepting/listening_socket.h"
#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

class NotebookTest : public testing::Test {
 protected:
  // As the next ringdeald finds it.
  std::unique_ptr<Notebook> Open() const {
    auto notebook = std::make_unique<Notebook>();
    notebook->Open(directory_ / "notes");
    return notebook;
  }

  static std::unique_ptr<Listener> MakeListener(const std::string& name, bool owned) {
    ListenerConfig config;
    config.name = name;
    config.bind = "127.0.0.1:0";
    auto listener = std::make_unique<Listener>(config, owned, 33, Limits());
    auto socket = OpenListeningSocket(config);
    EXPECT_TRUE(socket && listener->AddSocket(std::move(*socket), 0));
    return listener;
  }

  const TemporaryDirectory directory_;
};

TEST_F(NotebookTest, TheNextOneKnowsWhatWasNoted) {
  const auto listener = MakeListener("web", true);
  Open()->Note(*listener);
  const auto next = Open();
  const ListenerNote* note = next->Find(listener->sockets().front().identity);
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->name, "web");
  EXPECT_TRUE(note->owned);
  EXPECT_EQ(note->uid, 33U);
}

TEST_F(NotebookTest, ACookieOfAnotherNetworkIsAnotherSocket) {
  const auto listener = MakeListener("web", true);
  const auto notebook = Open();
  notebook->Note(*listener);
  SocketIdentity identity = listener->sockets().front().identity;
  ++identity.network;
  EXPECT_EQ(notebook->Find(identity), nullptr);
}

TEST_F(NotebookTest, WhatIsLetGoIsForgotten) {
  const auto listener = MakeListener("web", false);
  const auto notebook = Open();
  notebook->Note(*listener);
  notebook->Forget(*listener);
  EXPECT_EQ(Open()->Find(listener->sockets().front().identity), nullptr);
}

TEST_F(NotebookTest, WhatAnEarlierOneNotedStaysForChildrenThatHaveNoDoor) {
  const auto listener = MakeListener("web", false);
  Open()->Note(*listener);
  const auto next = Open();
  next->Note(*listener);
  next->Forget(*listener);
  EXPECT_NE(next->Find(listener->sockets().front().identity), nullptr);
  EXPECT_NE(Open()->Find(listener->sockets().front().identity), nullptr);
}

TEST_F(NotebookTest, AnOwnedOneThatIsRemovedIsForgottenWhoeverNotedIt) {
  const auto listener = MakeListener("web", true);
  Open()->Note(*listener);
  const auto next = Open();
  next->Note(*listener);
  next->Forget(*listener);
  EXPECT_EQ(next->Find(listener->sockets().front().identity), nullptr);
  EXPECT_EQ(Open()->Find(listener->sockets().front().identity), nullptr);
}

TEST_F(NotebookTest, WithoutAPlaceToWriteItStillKnows) {
  const auto listener = MakeListener("web", false);
  Notebook notebook;
  notebook.Open("/proc/no/such/place");
  notebook.Note(*listener);
  EXPECT_NE(notebook.Find(listener->sockets().front().identity), nullptr);
}

}  // namespace
}  // namespace ringdeal
