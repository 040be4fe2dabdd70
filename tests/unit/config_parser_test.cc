// Each mistake in a configuration gives one exact line, and each good value reaches its field.
#include "daemon/operating/config_parser.h"

#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

using namespace std::string_view_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kPolicies[] = {"ring-deal", "least-loaded", "round-robin"};

Result<Config, ConfigError> Parse(std::string_view text) {
  return ParseConfig(text, "f.yaml", kPolicies);
}

struct BadFile {
  const char* name;
  std::string text;
  std::string line;  // that is expected
};

void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

class ConfigParserRefuses : public testing::TestWithParam<BadFile> {};

TEST_P(ConfigParserRefuses, WithOneExactLine) {
  const auto config = Parse(GetParam().text);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().text, GetParam().line);
}

const std::string kWeb = "listeners:\n  - name: web\n    bind: 127.0.0.1:8080\n";

const BadFile kMisspelt[] = {
    {"UnknownKeyNearAKnownOne", kWeb + "    backlgo: 5\n",
     "f.yaml:4:5: unknown key 'backlgo' in listener; did you mean 'backlog'?"},
    {"UnknownKeyAtTheTop", "acceptor: 2\n",
     "f.yaml:1:1: unknown key 'acceptor' at the top; did you mean 'acceptors'?"},
    {"UnknownSection", "listener:\n  - name: web\n",
     "f.yaml:1:1: unknown key 'listener' at the top; did you mean 'listeners'?"},
    {"UnknownKeyFarFromAll", "http:\n  zebra: 1\n",
     "f.yaml:2:3: unknown key 'zebra' in http; known: bind"},
    {"KeyOfAnotherSection", "channel_depth: 5\n",
     "f.yaml:1:1: unknown key 'channel_depth' at the top; it belongs in limits"},
    {"KeyOfTheTopInASection", "log:\n  drain_timeout: 5s\n",
     "f.yaml:2:3: unknown key 'drain_timeout' in log; it belongs at the top"},
    {"KeyWithAnotherCase", "Acceptors: 2\n",
     "f.yaml:1:1: unknown key 'Acceptors' at the top; did you mean 'acceptors'?"},
    {"KeyWithALineBreak", "\"a\\nb\": 2\n",
     "f.yaml:1:1: unknown key 'a?b' at the top; known: adopt, acceptors, drain_timeout, "
     "on_stop, reclaim_timeout, topology, receive_half_life, control, http, listeners, adopted, "
     "log, "
     "limits"},
    {"MergeKey", "log:\n  <<: {level: info}\n",
     "f.yaml:2:3: unknown key '<<' in log; known: level, format"},
    {"UnknownPolicy", kWeb + "    policy: least_loaded\n",
     "f.yaml:4:13: 'policy': 'least_loaded' is not known; did you mean 'least-loaded'?"},
    {"UnknownPolicyOfAdopted", "adopted: {policy: best}\n",
     "f.yaml:1:19: 'policy': 'best' is not known; known: ring-deal, least-loaded, round-robin"},
    {"UnknownLevel", "log:\n  level: warning\n",
     "f.yaml:2:10: 'level': 'warning' is not known; known: debug, info, warn, error"},
    {"UnknownFormat", "log:\n  format: jsno\n",
     "f.yaml:2:11: 'format': 'jsno' is not known; did you mean 'json'?"},
};
INSTANTIATE_TEST_SUITE_P(Misspelt, ConfigParserRefuses, testing::ValuesIn(kMisspelt),
                         [](const auto& info) { return info.param.name; });

const BadFile kTwice[] = {
    {"KeyTwice", "acceptors: 2\nhttp: {}\nacceptors: 2\n",
     "f.yaml:3:1: 'acceptors' is given twice; keep one of them"},
    {"SectionTwice", "log: {level: info}\nlog: {format: json}\n",
     "f.yaml:2:1: 'log' is given twice; keep one of them"},
    {"ListenerKeyTwice", kWeb + "    backlog: 5\n    backlog: 5\n",
     "f.yaml:5:5: 'backlog' is given twice; keep one of them"},
    {"ListenerNameTwice", kWeb + "  - name: web\n    bind: 127.0.0.1:8081\n",
     "f.yaml:4:11: a second listener is named 'web'; give each its own name"},
    {"AddressTwice", kWeb + "  - name: two\n    bind: 127.0.0.1:8080\n",
     "f.yaml:5:11: another listener has the address 127.0.0.1:8080 already; choose one for each"},
    {"AddressTwiceInTwoSpellings",
     "listeners:\n  - {name: a, bind: '*:80'}\n  - {name: b, bind: '0.0.0.0:80'}\n",
     "f.yaml:3:21: another listener has the address 0.0.0.0:80 already; choose one for each"},
    {"PathTwice", "listeners:\n  - {name: a, bind: 'unix:/s'}\n  - {name: b, bind: 'unix:/s'}\n",
     "f.yaml:3:21: another listener has the address unix:/s already; choose one for each"},
    {"AddressOfHttp", "listeners:\n  - {name: a, bind: 127.0.0.1:9945}\n",
     "f.yaml:2:21: HTTP is served at 127.0.0.1:9945 already; choose another address here, or for "
     "'bind' in http"},
    {"SecondDocument", "acceptors: 1\n---\nacceptors: 2\n",
     "f.yaml:2:1: the document ended before this; keep one in a file, and look for a stray "
     "bracket, "
     "comma or '---'"},
    {"CommaBeforeAll", ",\nacceptors: 2\n",
     "f.yaml:1:1: the document ended before this; keep one in a file, and look for a stray "
     "bracket, "
     "comma or '---'"},
};
INSTANTIATE_TEST_SUITE_P(Twice, ConfigParserRefuses, testing::ValuesIn(kTwice),
                         [](const auto& info) { return info.param.name; });

const BadFile kNumbers[] = {
    {"DurationWithoutUnit", "drain_timeout: 30\n",
     "f.yaml:1:16: 'drain_timeout': '30' has no unit; write one of ns, us, ms, s, min or h after "
     "it"},
    {"ZeroWithoutUnit", "drain_timeout: 0\n",
     "f.yaml:1:16: 'drain_timeout': '0' has no unit; write one of ns, us, ms, s, min or h after "
     "it"},
    {"DurationOfUnknownUnit", "drain_timeout: 30sec\n",
     "f.yaml:1:16: 'drain_timeout': '30sec' has the unknown unit 'sec'; write whole numbers of ns, "
     "us, ms, s, min or h"},
    {"DurationWithFraction", "drain_timeout: 1.5s\n",
     "f.yaml:1:16: 'drain_timeout': '1.5s' has the unknown unit '.5s'; write whole numbers of ns, "
     "us, ms, s, min or h"},
    {"NegativeDuration", "drain_timeout: -5s\n",
     "f.yaml:1:16: 'drain_timeout': '-5s' is no duration; write digits and a unit, such as 5ms or "
     "30s"},
    {"DurationThatOverflows", "drain_timeout: 9223372036854775807h\n",
     "f.yaml:1:16: 'drain_timeout': '9223372036854775807h' is longer than 292 years"},
    {"DurationOutOfRange", kWeb + "    busy_after: 99us\n",
     "f.yaml:4:17: 'busy_after': '99us' is out of range; it may be 100us to 1min"},
    {"CountBelowRange", "acceptors: 0\n",
     "f.yaml:1:12: 'acceptors': '0' is out of range; it may be 1 to 64"},
    {"CountAboveRange", "acceptors: 65\n",
     "f.yaml:1:12: 'acceptors': '65' is out of range; it may be 1 to 64"},
    {"CountThatOverflows", "acceptors: 99999999999999999999\n",
     "f.yaml:1:12: 'acceptors': '99999999999999999999' is out of range; it may be 1 to 64"},
    {"CountNegative", "acceptors: -1\n",
     "f.yaml:1:12: 'acceptors': '-1' is no whole number; write threads in digits, 1 to 64"},
    {"CountWithUnit", "limits:\n  workers: 1k\n",
     "f.yaml:2:12: 'workers': '1k' is no whole number; write workers in digits, 1 to 65536"},
    {"DecimalMode", "control: {mode: 438}\n",
     "f.yaml:1:17: 'mode': '438' is no mode; write three octal digits after a 0, such as 0660"},
    {"ModeWithSetuid", "control: {mode: 4755}\n",
     "f.yaml:1:17: 'mode': '4755' is no mode; write three octal digits after a 0, such as 0660"},
    {"YesForTrue", kWeb + "    share_listener: yes\n",
     "f.yaml:4:21: 'share_listener': 'yes' is neither true nor false"},
};
INSTANTIATE_TEST_SUITE_P(Numbers, ConfigParserRefuses, testing::ValuesIn(kNumbers),
                         [](const auto& info) { return info.param.name; });

const std::string kAddressForms =
    " is no address; write one such as 127.0.0.1:8080, '*:80', '[::]:443', unix:/run/app.sock or "
    "unix:@name";

const BadFile kTexts[] = {
    {"NoAddress", "listeners:\n  - {name: a, bind: localhost:80}\n",
     "f.yaml:2:21: 'bind': 'localhost:80'" + kAddressForms},
    {"NoPort", "listeners:\n  - {name: a, bind: 127.0.0.1}\n",
     "f.yaml:2:21: 'bind': '127.0.0.1'" + kAddressForms},
    {"PortTooLarge", "http: {bind: '127.0.0.1:65536'}\n",
     "f.yaml:1:14: 'bind': '127.0.0.1:65536'" + kAddressForms},
    {"RelativeSocketPath", "listeners:\n  - {name: a, bind: 'unix:app.sock'}\n",
     "f.yaml:2:21: 'bind': 'unix:app.sock' names a relative path; write it from the root, "
     "unix:/..."},
    {"HttpOnAPath", "http: {bind: 'unix:/h'}\n",
     "f.yaml:1:14: 'bind': 'unix:/h' is a UNIX socket; HTTP needs an address such as "
     "127.0.0.1:9945"},
    {"RelativeControlPath", "control: {path: control.sock}\n",
     "f.yaml:1:17: 'path': 'control.sock' is a relative path; write it from the root"},
    {"ZeroByte", "control: {path: \"/a\\0b\"}\n",
     "f.yaml:1:17: 'path': '/a?b' holds a zero byte; leave it out"},
    {"EmptyName", "listeners:\n  - {name: '', bind: '*:80'}\n",
     "f.yaml:2:12: 'name': '' is no name; write 1 to 64 letters, digits, '-', '_' or '.'"},
    {"NameWithSpace", "listeners:\n  - {name: my web, bind: '*:80'}\n",
     "f.yaml:2:12: 'name': 'my web' is no name; write 1 to 64 letters, digits, '-', '_' or '.'"},
    {"UnknownUser", "control: {owner: no-such-user}\n",
     "f.yaml:1:18: 'owner': 'no-such-user' is an unknown user; create it, or write its uid"},
    {"UnknownGroup", "control: {group: no-such-group}\n",
     "f.yaml:1:18: 'group': 'no-such-group' is an unknown group; create it, or write its gid"},
    {"UnknownPrincipal", "adopt: [root, no-such-user]\n",
     "f.yaml:1:15: 'adopt': unknown user 'no-such-user'; create it, or write its uid"},
    {"UnknownGroupPrincipal", "control:\n  admin:\n    - \"@no-such-group\"\n",
     "f.yaml:3:7: 'admin': unknown group 'no-such-group'; create it, or write its gid"},
    {"UidOfNobody", "adopt: [4294967295]\n",
     "f.yaml:1:9: 'adopt': unknown user '4294967295'; create it, or write its uid"},
    {"AdoptWithAUser", "adopt: root\n",
     "f.yaml:1:8: 'adopt': 'root' is neither true nor false; write one of them, or a list of "
     "principals"},
};
INSTANTIATE_TEST_SUITE_P(Texts, ConfigParserRefuses, testing::ValuesIn(kTexts),
                         [](const auto& info) { return info.param.name; });

const BadFile kShapes[] = {
    {"ListenerWithoutAddress", "listeners:\n  - name: web\n",
     "f.yaml:2:5: listener has no 'bind'; add it"},
    {"ListenerWithoutName", "listeners:\n  - bind: '*:80'\n",
     "f.yaml:2:5: listener has no 'name'; add it"},
    {"ListenersAsAGroup", "listeners:\n  name: web\n",
     "f.yaml:2:3: 'listeners' must be a list; begin each listener with '- name: ...'"},
    {"ListenerAsAText", "listeners:\n  - web\n",
     "f.yaml:2:5: 'key: value' lines are expected in listener; known: name, bind, backlog, "
     "ipv6_only, mode, owner, group, policy, slack, slack_percent, coverage, busy_after, "
     "recall_after, stuck_after, slow_start, max_active_per_worker, max_active, max_accept_rate, "
     "no_worker, hold_timeout, share_listener, agent, allow"},
    {"SectionAsAText", "http: 127.0.0.1:9945\n",
     "f.yaml:1:7: 'key: value' lines are expected in http; known: bind"},
    {"DocumentAsAList", "- acceptors\n",
     "f.yaml:1:1: 'key: value' lines are expected at the top; known: adopt, acceptors, "
     "drain_timeout, on_stop, reclaim_timeout, topology, receive_half_life, control, http, "
     "listeners, "
     "adopted, log, limits"},
    {"ValueAsAList", "acceptors: [1]\n", "f.yaml:1:12: 'acceptors' takes one value: threads"},
    {"ValueMissing", "acceptors:\n",
     "f.yaml:1:1: 'acceptors' has no value; leave it out for the default"},
    {"KeyAsAList", "? [a, b]\n: 1\n", "f.yaml:1:3: a key must be one word"},
    {"PrincipalsAsAText", "control: {admin: root}\n",
     "f.yaml:1:18: 'admin' must be a list of users and groups, such as [www-data, \"@adm\"]"},
    {"PrincipalAsAList", "adopt: [[root]]\n",
     "f.yaml:1:9: 'adopt' must be a list of users and groups, such as [www-data, \"@adm\"]"},
    {"ModeWithoutAPath", kWeb + "    mode: 0600\n",
     "f.yaml:4:11: 'mode' is for a UNIX socket's path only; leave it out of 127.0.0.1:8080"},
    {"OwnerOfAnAbstractName", "listeners:\n  - {name: a, bind: 'unix:@a', owner: root}\n",
     "f.yaml:2:39: 'owner' is for a UNIX socket's path only; leave it out of unix:@a"},
    {"Ipv6OnlyOfIpv4", kWeb + "    ipv6_only: true\n",
     "f.yaml:4:16: 'ipv6_only' is for an IPv6 address only; leave it out of 127.0.0.1:8080"},
    {"NoYaml", "http: {bind: '*:80'\n", "f.yaml:2:1: no valid YAML: end of map flow not found"},
    {"UnquotedGroup", "adopt: [@adm]\n", "f.yaml:1:9: no valid YAML: unknown token"},
};
INSTANTIATE_TEST_SUITE_P(Shapes, ConfigParserRefuses, testing::ValuesIn(kShapes),
                         [](const auto& info) { return info.param.name; });

TEST(ConfigParser, LosesNoValueOnTheWayToItsField) {
  const auto config = Parse(R"(
adopt: false
acceptors: 2
drain_timeout: 1min
reclaim_timeout: 2min
topology: synthetic:pu:4
receive_half_life: 15s
control: {path: /c.sock, mode: 0600, owner: "1", group: "2", admin: ["3", "@4"]}
http: {bind: ""}
listeners:
  - {name: a, bind: 'unix:/a', backlog: 7, mode: 0777, owner: "5", group: "6",
     policy: round-robin, slack: 8, slack_percent: 0.25, coverage: any, busy_after: 3ms,
     recall_after: 5s, stuck_after: 19s, max_active_per_worker: 15, max_active: 16, share_listener: false, allow: ["7", "@8", "9"],
     slow_start: 21s, max_accept_rate: 22, no_worker: reset, hold_timeout: 23s}
  - {name: b, bind: '[::1]:0', ipv6_only: true}
adopted: {policy: round-robin, busy_after: 4ms, recall_after: 6s, share_listener: false, slack: 9,
          slack_percent: 1000, coverage: any, stuck_after: 20s,
          max_active_per_worker: 17, max_active: 18, slow_start: 24s, max_accept_rate: 25,
          no_worker: reset, hold_timeout: 26s}
log: {level: debug, format: json}
limits: {workers: 10, control_connections: 11, control_connections_per_uid: 12, channel_depth: 13,
         registration_timeout: 14s}
)");
  ASSERT_TRUE(config.ok()) << config.error().text;
  Config expected;
  expected.adopt.enabled = false;
  expected.acceptors = 2;
  expected.drain_timeout = seconds(60);
  expected.reclaim_timeout = seconds(120);
  expected.topology = "synthetic:pu:4";
  expected.receive_half_life = seconds(15);
  expected.control = {"/c.sock", 0600, "1", "2", {{3}, {4}}};
  expected.http_bind = "";
  ListenerConfig a;
  a.name = "a";
  a.bind = "unix:/a";
  a.backlog = 7;
  a.mode = 0777;
  a.owner = "5";
  a.group = "6";
  a.policy = "round-robin";
  a.slack = 8;
  a.slack_percent = 0.25;
  a.coverage = "any";
  a.busy_after = milliseconds(3);
  a.recall_after = seconds(5);
  a.stuck_after = seconds(19);
  a.max_active_per_worker = 15;
  a.max_active = 16;
  a.slow_start = seconds(21);
  a.max_accept_rate = 22;
  a.no_worker = "reset";
  a.hold_timeout = seconds(23);
  a.share_listener = false;
  a.allow = {{7, 9}, {8}};
  ListenerConfig b;
  b.name = "b";
  b.bind = "[::1]:0";
  b.ipv6_only = true;
  expected.listeners = {a, b};
  expected.adopted.policy = "round-robin";
  expected.adopted.busy_after = milliseconds(4);
  expected.adopted.recall_after = seconds(6);
  expected.adopted.stuck_after = seconds(20);
  expected.adopted.max_active_per_worker = 17;
  expected.adopted.max_active = 18;
  expected.adopted.slow_start = seconds(24);
  expected.adopted.max_accept_rate = 25;
  expected.adopted.no_worker = "reset";
  expected.adopted.hold_timeout = seconds(26);
  expected.adopted.share_listener = false;
  expected.adopted.slack = 9;
  expected.adopted.slack_percent = 1000;
  expected.adopted.coverage = "any";
  expected.log = {"debug", "json"};
  expected.limits = {10, 11, 12, 13, seconds(14)};
  EXPECT_EQ(*config, expected);
}

TEST(ConfigParser, TakesAdoptAsAListWithoutTheUsualPrincipals) {
  const auto config = Parse("adopt: [\"33\", \"@44\"]\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_TRUE(config->adopt.enabled);
  EXPECT_TRUE(config->adopt.listed);
  EXPECT_EQ(config->adopt.principals, (Principals{{33}, {44}}));
}

TEST(ConfigParser, RefusesNoFileThatSaysNothing) {
  for (const char* text : {"", "\n\n", "# only a remark\n", "---\n", "{}\n",
                           "control:\n  # path: /x\nlisteners:\nlog: {}\n"}) {
    const auto config = Parse(text);
    ASSERT_TRUE(config.ok()) << text << config.error().text;
    EXPECT_EQ(*config, Config()) << text;
  }
}

TEST(ConfigParser, TakesPortsThatTheKernelChoosesForNoDuplicates) {
  const auto config = Parse(
      "http: {bind: '127.0.0.1:0'}\n"
      "listeners:\n  - {name: a, bind: '127.0.0.1:0'}\n  - {name: b, bind: '127.0.0.1:0'}\n");
  EXPECT_TRUE(config.ok()) << config.error().text;
}

TEST(ConfigParser, LetsNoExceptionOutOfBrokenBytes) {
  const std::string good =
      "listeners:\n  - {name: a, bind: '*:80', allow: [\"1\"]}\nadopt: &x true\n";
  // What means something to YAML, and what no text should hold. A comma in front once never ended.
  constexpr std::string_view kBytes = "\0\x01\t\n\r !\"#%&'*,-.:<>?@[\\]`a{|}~\x7f\x80\xc3\xff"sv;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char byte : kBytes) {
      std::string text = good;
      text[at] = byte;
      const auto config = Parse(text);
      EXPECT_EQ(config.error().text.find('\n'), std::string::npos);
    }
    EXPECT_NO_THROW((void)Parse(good.substr(0, at)));
  }
  EXPECT_FALSE(Parse(std::string(100000, '[')).ok());
  EXPECT_FALSE(Parse("a: &a [*a]\n").ok());
}

TEST(ConfigParser, RepeatsNoByteThatATerminalObeys) {
  const auto escape = Parse("adopt: \"\\\x1b\"\n");
  ASSERT_FALSE(escape.ok());
  EXPECT_EQ(escape.error().text, "f.yaml:1:11: no valid YAML: unknown escape character: ?");
}

class ConfigFile : public testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "ringdeal.yaml";
};

TEST_F(ConfigFile, IsNamedInItsConfigurationAndInItsMistakes) {
  Write("acceptors: 3\n");
  const auto good = LoadConfig(path_, MissingFile::kIsError, kPolicies);
  ASSERT_TRUE(good.ok()) << good.error().text;
  EXPECT_EQ(good->acceptors, 3);
  EXPECT_EQ(good->source, path_);
  Write("acceptors: x\n");
  const auto bad = LoadConfig(path_, MissingFile::kMeansDefaults, kPolicies);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().text.rfind(path_ + ":1:12: ", 0), 0u) << bad.error().text;
}

TEST_F(ConfigFile, MissingOneIsAnErrorOnlyIfItWasNamed) {
  const auto named = LoadConfig(path_, MissingFile::kIsError, kPolicies);
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().text, path_ + ": cannot be opened: No such file or directory");
  for (const std::string& path : {path_, std::string()}) {
    const auto usual = LoadConfig(path, MissingFile::kMeansDefaults, kPolicies);
    ASSERT_TRUE(usual.ok()) << usual.error().text;
    EXPECT_EQ(*usual, Config());
  }
}

TEST_F(ConfigFile, UnreadableOneIsNeverTakenForMissing) {
  const auto directory = LoadConfig(directory_.path(), MissingFile::kMeansDefaults, kPolicies);
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().text, directory_.path() + ": cannot be read: Is a directory");
}

TEST_F(ConfigFile, DoesNotFillMemory) {
  Write(std::string(kMaxConfigBytes + 1, '#'));
  const auto config = LoadConfig(path_, MissingFile::kIsError, kPolicies);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().text, path_ + ": is larger than 1 MiB: File too large");
}

}  // namespace
}  // namespace ringdeal
