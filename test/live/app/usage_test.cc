// SPDX-License-Identifier: MIT
// What the shell sees of `emq` whatever the verb: help, versions, exit codes, errors as text and as
// JSON, colours.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "echomq/version.h"
#include "support/emq_run.h"
#include "support/fake_server.h"

namespace echomq::test {
namespace {

using Usage = EmqTest;

TEST_F(Usage, EveryHelpHasAnExampleAndTheExitCodesAndFitsATerminal) {
  const std::vector<std::vector<std::string>> verbs{{"up"},
                                                    {"add"},
                                                    {"work"},
                                                    {"status"},
                                                    {"job"},
                                                    {"id"},
                                                    {"id", "brand"},
                                                    {"id", "decode"},
                                                    {"id", "mint"},
                                                    {"keys"},
                                                    {"bench"},
                                                    {"probe"},
                                                    {"probe", "fleet"},
                                                    {"list"},
                                                    {"logs"},
                                                    {"workers"},
                                                    {"retry"},
                                                    {"promote"},
                                                    {"remove"},
                                                    {"pause"},
                                                    {"resume"},
                                                    {"clean"},
                                                    {"drain"},
                                                    {"obliterate"},
                                                    {"metrics"},
                                                    {"limit"},
                                                    {"dedup"},
                                                    {"fence"},
                                                    {"flow"},
                                                    {"flow", "add"},
                                                    {"flow", "show"},
                                                    {"flow", "stuck"},
                                                    {"flow", "remove"},
                                                    {"schedule"},
                                                    {"schedule", "add"},
                                                    {"schedule", "list"},
                                                    {"schedule", "show"},
                                                    {"schedule", "next"},
                                                    {"schedule", "pause"},
                                                    {"schedule", "resume"},
                                                    {"schedule", "remove"}};
  const auto root = emq({"--help"});
  EXPECT_EQ(root.code, 0);
  for (auto words : verbs) {
    if (words.size() == 1) {
      EXPECT_NE(root.out.find("\n  " + words[0] + " "), std::string::npos) << words[0];
    }
    std::string example = "\n  emq";
    for (const auto& word : words) example += " " + word;
    words.emplace_back("--help");
    const auto help = emq(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find(example), std::string::npos) << help.out;
    for (const char* code :
         {"  0  ", "  1  ", "  2  ", "  3  ", "  4  ", "  5  ", "  6  ", "  7  "})
      EXPECT_NE(help.out.find("\n" + std::string(code)), std::string::npos) << code << help.out;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(Usage, VersionIsOfLibraryWireAndBundle) {
  const auto text = emq({"--version"});
  EXPECT_EQ(text.code, 0);
  const auto version = emq({"--version", "--json"}).json();
  EXPECT_EQ(version.at("version"), library_version());
  EXPECT_EQ(version.at("wire"), "echomq:2.0.0");
  EXPECT_EQ(version.at("bundle"), bundle_hash());
  EXPECT_EQ(version.at("bundle").get<std::string>().size(), 40U);
  for (const char* field : {"version", "wire", "bundle"})
    EXPECT_NE(text.out.find(version.at(field).get<std::string>()), std::string::npos) << text.out;
}

TEST_F(Usage, WrongCommandLinesExit2) {
  const std::vector<std::vector<std::string>> lines{{},
                                                    {"nonsense"},
                                                    {"add", name},
                                                    {"add", name, "n", "data", "more"},
                                                    {"add", name, "n", "--nonsense"},
                                                    {"add", name, "n", "--priority"},
                                                    {"add", name, "n", "data", "--stdin"},
                                                    {"add", name, "n", "--id", "x", "--stdin"},
                                                    {"work", name},
                                                    {"job", name},
                                                    {"list", name},
                                                    {"logs", name},
                                                    {"id"},
                                                    {"fence"},
                                                    {"fence", name, "--acl"},
                                                    {"schedule"},
                                                    {"schedule", "add", name, "id"},
                                                    {"schedule", "show", name},
                                                    {"up", "--fsync", "sometimes"}};
  for (auto line : lines) {
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err.rfind("emq: invalid_argument: ", 0), 0U) << run.err;
    EXPECT_NE(run.err.find("--help"), std::string::npos) << run.err;
    line.insert(line.begin(), "--json");
    EXPECT_EQ(emq(line).error().at("code"), "invalid_argument");
  }
}

TEST_F(Usage, ExitCodesAreThoseOfTheHelp) {
  const FakeServer loading([](const FakeServer::Words&) { return "-LOADING not yet\r\n"; });
  redis({"HSET", v1_key("bull", "fenced-" + name, "meta"), "version", "bullmq:5.65.1"});
  const struct {
    int code;
    std::string error;
    std::vector<std::string> line;
  } cases[]{
      {2, "invalid_name", {"add", "no blanks", "n"}},
      {2, "invalid_name", {"status", "emq"}},
      {2, "invalid_name", {"job", name, "no:colons"}},
      {2, "invalid_url", {"status", "--url", "http://localhost"}},
      {2, "too_large", {"add", name, "n", "--stdin"}},
      {2, "unsupported", {"status", "--url", "redis+sentinel://localhost"}},
      {3, "unavailable", {"status", "--url", "unix://" + file("nobody.sock")}},
      {3, "loading", {"status", "--url", loading.url()}},
      {4, "fence", {"add", "fenced-" + name, "n"}},
      {5, "not_found", {"status", name}},
      {5, "not_found", {"job", name, "BAT0KHTOWnGLuC"}},
      {1, "embedded", {"up", "--dir", "/dev/null/here"}},
  };
  EmqHow large;
  large.input = "\"" + std::string((1U << 20) - 1, 'x') + "\"\n";
  for (auto [code, error, line] : cases) {
    const auto run = emq(line, large);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(run.err.rfind("emq: " + error + ": ", 0), 0U) << run.err;
    line.emplace_back("--json");
    const auto with_json = emq(line, large);
    EXPECT_EQ(with_json.code, code);
    EXPECT_EQ(with_json.error().at("code"), error);
    EXPECT_FALSE(with_json.error().at("detail").get<std::string>().empty());
  }
  redis({"DEL", v1_key("bull", "fenced-" + name, "meta")});
}

TEST_F(Usage, FenceIsLiftedForThoseWhoRunBullMqBeside) {
  const auto v1 = v1_key("bull", name, "meta");
  redis({"HSET", v1, "version", "bullmq:5.65.1"});
  EXPECT_EQ(emq({"add", name, "n", "--json"}).error().at("found"), "bullmq:5.65.1");
  EXPECT_EQ(emq({"add", name, "n", "--v1-prefixes", "other"}).code, 0);
  EXPECT_EQ(emq({"add", name, "n", "--v1-prefixes", ""}).code, 0);
  redis({"DEL", v1});
}

TEST_F(Usage, EvictingServerIsRefusedUnlessAllowed) {
  redis({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto refused = emq({"add", name, "n"});
  const auto allowed = emq({"add", name, "n", "--allow-eviction"});
  redis({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err.rfind("emq: config: ", 0), 0U) << refused.err;
  EXPECT_EQ(allowed.code, 0) << allowed.err;
}

TEST_F(Usage, UrlOptionWinsOverTheEnvironment) {
  EmqHow elsewhere;
  elsewhere.environment = {{"EMQ_URL", "unix://" + file("nobody.sock")}};
  EXPECT_EQ(emq({"add", name, "n"}, elsewhere).code, 3);
  EXPECT_EQ(emq({"add", name, "n", "--url", server.url()}, elsewhere).code, 0);
}

TEST_F(Usage, OutputThatCannotBeWrittenIsAFailure) {
  EmqHow full;
  full.out_file = "/dev/full";
  const auto run = emq({"keys", name}, full);
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.err, "emq: cannot write to stdout\n");
}

TEST_F(Usage, ColoursOnATerminalOnly) {
  add({"x"});
  EmqHow terminal;
  terminal.terminal = true;
  terminal.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  EXPECT_NE(emq({"status", name}, terminal).out.find("\x1b[1mqueue"), std::string::npos);
  terminal.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  EXPECT_EQ(emq({"status", name}, terminal).out.find('\x1b'), std::string::npos);
  terminal.environment = {{"TERM", "dumb"}, {"NO_COLOR", ""}};
  EXPECT_EQ(emq({"status", name}, terminal).out.find('\x1b'), std::string::npos);
  EmqHow plain;
  plain.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  EXPECT_EQ(emq({"status", name}, plain).out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace echomq::test
