// SPDX-License-Identifier: MIT
// emq events: what is kept, from where one likes, and what happens.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using nlohmann::json;

using EmqEvents = EmqTest;

TEST_F(EmqEvents, ListsWhatIsKept) {
  const auto ids = add({"a", "b"});
  queue.emit_event("invoice", "to: you\nand me\x1b").value();
  const auto lines = emq({"events", name, "--json"}).json_lines();
  ASSERT_EQ(lines.size(), 3U);
  const auto at = lines[0].at("at_ms");
  EXPECT_GT(at.get<std::int64_t>(), 1'700'000'000'000);
  EXPECT_EQ(lines[0], (json{{"id", "1-1"}, {"event", "added"}, {"at_ms", at}, {"job", ids[0]}}));
  EXPECT_EQ(lines[1].at("id"), "1-0");
  EXPECT_EQ(lines[1].at("job"), ids[1]);
  EXPECT_EQ(lines[2].at("event"), "custom");
  EXPECT_EQ(lines[2].at("name"), "invoice");
  EXPECT_EQ(lines[2].at("payload"), "to: you\nand me\x1b");
  const auto text = emq({"events", name});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("added      " + ids[0] + "\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("custom     invoice to: you and me\\x1b\n"), std::string::npos)
      << text.out;
}

TEST_F(EmqEvents, BeginsWhereItIsTold) {
  for (const char* event : {"a", "b", "c", "d"}) queue.emit_event(event).value();
  EXPECT_EQ(emq({"events", name, "--from", "2-0", "--json"}).json_lines().size(), 2U);
  EXPECT_EQ(emq({"events", name, "--from", "now"}).out, "");
  queue.trim_events(1).value();
  const auto lines = emq({"events", name, "--from", "1-0", "--json"}).json_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], (json{{"id", "3-0"}, {"event", "gap"}, {"missed", 2}}));
  EXPECT_NE(emq({"events", name, "--from", "1-0"}).out.find("(2 entries were missed)"),
            std::string::npos);
  EXPECT_EQ(emq({"events", name, "--from", "beginning", "--json"}).json_lines().size(), 1U);
}

TEST_F(EmqEvents, ReadsMoreThanAPage) {
  for (int i = 0; i < 250; ++i) queue.emit_event("e").value();
  EXPECT_EQ(emq({"events", name, "--json"}).json_lines().size(), 250U);
}

TEST_F(EmqEvents, WritesOnesOwnAndKeepsSoMany) {
  ASSERT_TRUE(queue.open());
  EXPECT_EQ(emq({"events", name, "--emit", "deployed", "--payload", "v7"}).out, "1-0\n");
  EXPECT_EQ(emq({"events", name, "--emit", "deployed", "--json"}).json(), (json{{"id", "2-0"}}));
  const auto lines = emq({"events", name, "--json"}).json_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("name"), "deployed");
  EXPECT_EQ(lines[0].at("payload"), "v7");
  EXPECT_EQ(emq({"events", name, "--trim", "1"}).out, "1 entries removed\n");
  EXPECT_EQ(emq({"events", name, "--keep", "3", "--exactly"}).code, 0);
  for (int i = 0; i < 5; ++i) queue.emit_event("e").value();
  EXPECT_EQ(redis({"XLEN", key_of(Structure::events)}).integer, 3);
  EXPECT_EQ(emq({"events", name, "--trim", "0", "--json"}).json(), (json{{"removed", 3}}));
}

TEST_F(EmqEvents, RefusesWhatDoesNotGoTogether) {
  ASSERT_TRUE(queue.open());
  const std::vector<std::vector<std::string>> lines{{"--emit", "completed"},
                                                    {"--emit", "two words"},
                                                    {"--payload", "x"},
                                                    {"--keep", "0"},
                                                    {"--trim", "-1"},
                                                    {"--exactly"},
                                                    {"--keep", "5", "--trim", "5"},
                                                    {"--emit", "x", "--follow"},
                                                    {"--trim", "5", "--from", "now"}};
  for (const auto& options : lines) {
    std::vector<std::string> line{"events", name};
    line.insert(line.end(), options.begin(), options.end());
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << options.front() << " " << run.out << run.err;
  }
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::events)}).integer, 0);
}

TEST_F(EmqEvents, FollowsUntilASignal) {
  ASSERT_TRUE(queue.open());
  EmqProcess process({"events", name, "--follow", "--from", "beginning", "--json"}, how());
  const auto ids = add({"a"});
  ASSERT_TRUE(eventually([&] { return process.out().find(ids[0]) != std::string::npos; }));
  queue.emit_event("later").value();
  ASSERT_TRUE(eventually([&] { return process.out().find("later") != std::string::npos; }));
  process.signal(SIGINT);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json_lines().size(), 2U);
}

TEST_F(EmqEvents, BadInputAndNoQueue) {
  EXPECT_EQ(emq({"events", name}).code, 5);
  EXPECT_EQ(emq({"events", "no blanks"}).code, 2);
  EXPECT_EQ(emq({"events"}).code, 2);
  ASSERT_TRUE(queue.open());
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--follow"}}) {
    std::vector<std::string> arguments{"events", name, "--from", "yesterday", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto ran = emq(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.error().at("value"), "yesterday");
  }
}

TEST_F(EmqEvents, LookingMakesNoQueue) {
  EXPECT_EQ(emq({"events", name}).code, 5);
  EXPECT_TRUE(dump_queue(redis, name).empty());
}

}  // namespace
}  // namespace echomq::test
