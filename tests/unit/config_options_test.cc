// The command line: each way to be wrong ends with a usage error, and nothing throws.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/operating/exit_codes.h"
#include "daemon/operating/options.h"

namespace ringdeal {
namespace {

Result<Options, EarlyExit> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "ringdeald");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, WithoutAnyTheDefaultFileIsNotTakenForANamedOne) {
  const auto options = Parse({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->config_path, DefaultConfigPath());
  EXPECT_FALSE(options->config_named);
  EXPECT_FALSE(options->check);
}

TEST(Options, NamedFileIsNotTakenForTheDefaultOne) {
  for (const auto& arguments : {std::vector<const char*>{"--config", "/x.yaml", "--check"},
                                std::vector<const char*>{"--check", "--config=/x.yaml"}}) {
    const auto options = Parse(arguments);
    ASSERT_TRUE(options.ok()) << options.error().text;
    EXPECT_EQ(options->config_path, "/x.yaml");
    EXPECT_TRUE(options->config_named);
    EXPECT_TRUE(options->check);
  }
}

TEST(Options, SimulateIsNoSecretOfTheParserButOfHelp) {
  const auto options = Parse({"--simulate"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->simulate);
  EXPECT_EQ(Parse({"--help"}).error().text.find("simulate"), std::string::npos);
}

TEST(Options, WrongOnesAreOneLineAndAUsageError) {
  for (const auto& arguments :
       {std::vector<const char*>{"--chekc"}, std::vector<const char*>{"file.yaml"},
        std::vector<const char*>{"--config"}, std::vector<const char*>{"--check=maybe"},
        std::vector<const char*>{"--config", "a", "--config", "b"}}) {
    const auto options = Parse(arguments);
    ASSERT_FALSE(options.ok()) << arguments[0];
    const EarlyExit& exit = options.error();
    EXPECT_EQ(exit.code, kExitUsage);
    EXPECT_EQ(exit.text.rfind("ringdeald: ", 0), 0u) << exit.text;
    EXPECT_EQ(exit.text.find('\n'), exit.text.size() - 1) << exit.text;
  }
}

TEST(Options, HelpAndVersionAreNoErrors) {
  const auto help = Parse({"--help"});
  ASSERT_FALSE(help.ok());
  EXPECT_EQ(help.error().code, kExitOk);
  for (const char* word : {"--config", "--check", "--version", "Exit codes"}) {
    EXPECT_NE(help.error().text.find(word), std::string::npos) << help.error().text;
  }
  const auto version = Parse({"--version"});
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.error().code, kExitOk);
  EXPECT_EQ(version.error().text.rfind("ringdeald " RINGDEAL_VERSION "\n", 0), 0u);
}

// A library whose version CMake did not find would leave a gap: "libevent , yaml-cpp 0.7.0".
TEST(Options, VersionLacksNoLibrary) {
  const std::string versions = LibraryVersions();
  for (const char* library : {"libevent ", "hwloc ", "yaml-cpp ", "nlohmann-json ",
                              "prometheus-cpp ", "CLI11 ", "spdlog "}) {
    const size_t at = versions.find(library);
    ASSERT_NE(at, std::string::npos) << library;
    const char first = versions[at + std::string(library).size()];
    EXPECT_TRUE(first >= '0' && first <= '9') << versions;
  }
}

// In a child, which can give up root.
std::string DefaultPathOf(uid_t uid, const char* directory) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    directory == nullptr ? unsetenv("XDG_RUNTIME_DIR") : setenv("XDG_RUNTIME_DIR", directory, 1);
    const std::string path = geteuid() == uid || setuid(uid) == 0 ? DefaultConfigPath() : "no uid";
    const ssize_t written = write(ends[1], path.data(), path.size());
    _exit(written == static_cast<ssize_t>(path.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string path;
  char block[256];
  for (ssize_t bytes; (bytes = read(ends[0], block, sizeof(block))) > 0;) {
    path.append(block, static_cast<size_t>(bytes));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return path;
}

TEST(Options, DefaultFileOfAUserIsNotInEtc) {
  const uid_t user = geteuid() == 0 ? 65534 : geteuid();
  EXPECT_EQ(DefaultPathOf(user, "/run/user/7"), "/run/user/7/ringdeal/ringdeal.yaml");
  EXPECT_EQ(DefaultPathOf(user, nullptr), "");
  EXPECT_EQ(DefaultPathOf(user, "relative"), "");
  if (geteuid() == 0) {
    EXPECT_EQ(DefaultPathOf(0, "/run/user/0"), "/etc/ringdeal/ringdeal.yaml");
  }
}

TEST(Options, CheckDoesNotClaimAFileThatIsNotThere) {
  Config config;
  EXPECT_EQ(DescribeConfig(config),
            "ringdeald: no configuration file, all defaults; listeners: 0; others are adopted\n");
  config.source = "/x.yaml";
  config.adopt.enabled = false;
  config.listeners.resize(2);
  EXPECT_EQ(DescribeConfig(config),
            "ringdeald: /x.yaml: good; listeners: 2; no others are adopted\n");
}

}  // namespace
}  // namespace ringdeal
