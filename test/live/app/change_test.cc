// SPDX-License-Identifier: MIT
// The verbs that change a job that is there, wait for one, or count by priority: change, wait,
// logs --append, status --priorities.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class ChangeVerbs : public EmqTest {
 protected:
  // Works all that waits.
  template <class Handler>
  void work(Handler handler) {
    Worker worker{queue, {.stop_when_empty = true}, handler};
    ASSERT_TRUE(worker.wait(20s));
  }
};

TEST_F(ChangeVerbs, Priorities) {
  const auto ids = add_many(3);
  EXPECT_EQ(emq({"change", name, ids.at(0), brand_id(ids.at(1)).value(), "--priority", "7"}).out,
            ids.at(0) + "\n" + ids.at(1) + "\n");
  const auto counted = emq({"status", name, "--priorities", "--json"}).json();
  EXPECT_EQ(counted, (json{{"queue", name}, {"priorities", {{"0", 1}, {"7", 2}}}}));
  const auto text = emq({"status", name, "--priorities"});
  EXPECT_NE(text.out.find("7           2"), std::string::npos) << text.out;
}

TEST_F(ChangeVerbs, DelaysFromNow) {
  const std::string id = queue.add("x", {.delay = 1h}).value();
  const auto before = client.server_time_ms();
  EXPECT_EQ(emq({"change", name, id, "--delay", "2h", "--json"}).json(),
            (json{{"done", {id}}, {"refused", json::array()}}));
  EXPECT_GE(info(id).due_ms, before + 7'200'000);
  EXPECT_EQ(emq({"change", name, id, "--delay", "0"}).code, 0);
  EXPECT_EQ(info(id).state, JobState::waiting);
  const auto run = emq({"change", name, id, "--delay", "5s"});
  EXPECT_EQ(run.code, 1) << "it is not delayed any more";
  EXPECT_NE(run.err.find("wrong_state"), std::string::npos) << run.err;
}

TEST_F(ChangeVerbs, DataFromTheLineAndFromStdin) {
  const std::string id = queue.add("x").value();
  EXPECT_EQ(emq({"change", name, id, "--data", "new"}).code, 0);
  EXPECT_EQ(info(id).data, "new");
  EmqHow from;
  from.input = std::string("a\0b\n", 4);
  EXPECT_EQ(emq({"change", name, id, "--stdin"}, from).code, 0);
  EXPECT_EQ(info(id).data, from.input) << "every byte of it";
  from.input = std::string(ClientOptions{}.data_limit + 1, 'x');
  const auto large = emq({"change", name, id, "--stdin", "--json"}, from);
  EXPECT_EQ(large.code, 2);
  EXPECT_EQ(large.error().at("code"), "too_large");
  EXPECT_EQ(info(id).data.size(), 4U);
}

TEST_F(ChangeVerbs, BadInputIsNamedAndChangesNothing) {
  const auto ids = add_many(2);
  const std::vector<std::vector<std::string>> lines{{ids[0]},
                                                    {"--priority", "1"},
                                                    {ids[0], "--priority", "2097152"},
                                                    {ids[0], "--priority", "-1"},
                                                    {ids[0], "--delay", "soon"},
                                                    {ids[0], "--priority", "1", "--delay", "1s"},
                                                    {ids[0], "--data", "x", "--stdin"},
                                                    {ids[0], ids[1], "--data", "x"},
                                                    {"two words", "--priority", "1"}};
  for (const auto& options : lines) {
    std::vector<std::string> line{"change", name};
    line.insert(line.end(), options.begin(), options.end());
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << options.back() << run.out;
    EXPECT_NE(run.err, "");
  }
  EXPECT_EQ(counts().waiting, 2);
  EXPECT_EQ(info(ids[0]).data, "0");
  EXPECT_EQ(emq({"change", name, "nobody", "--priority", "1"}).code, 5);
  EXPECT_EQ(emq({"status", "--priorities"}).code, 2) << "of which queue?";
  EXPECT_EQ(emq({"status", name, "--priorities", "--prometheus"}).code, 2);
}

TEST_F(ChangeVerbs, ALineForTheLog) {
  const std::string id = queue.add("x").value();
  EXPECT_EQ(emq({"logs", name, id, "--append", "by hand"}).out, "");
  EXPECT_EQ(queue.logs(id)->lines, std::vector<std::string>{"by hand"});
  EXPECT_EQ(emq({"logs", name, "nobody", "--append", "x"}).code, 5);
  EXPECT_EQ(emq({"logs", name, id, "--append", "x", "--limit", "3"}).code, 2);
}

TEST_F(ChangeVerbs, WaitPrintsTheResult) {
  const std::string id = queue.add("x").value();
  EXPECT_EQ(emq({"wait", name, id, "--timeout", "0"}).code, 3) << "it has not ended";
  EmqProcess waiting({"wait", name, id, "--timeout", "20s"}, how());
  work([](Job<>&) { return Outcome::done("12 KiB\n"); });
  const auto run = waiting.wait();
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "12 KiB\n");
  EXPECT_EQ(emq({"wait", name, id, "--json"}).json(),
            (json{{"id", id}, {"state", "completed"}, {"kept", true}, {"result", "12 KiB\n"}}));
}

TEST_F(ChangeVerbs, WaitTellsWhyItFailed) {
  const std::string id = queue.add("x").value();
  work([](Job<>&) { return Outcome::unrecoverable("no ink"); });
  const auto run = emq({"wait", name, id});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.err, "no ink\n");
  EXPECT_EQ(run.out, "");
  const auto told = emq({"wait", name, id, "--json"}).json();
  EXPECT_EQ(told.at("state"), "failed");
  EXPECT_EQ(told.at("failed_reason"), "no ink");
  EXPECT_EQ(emq({"wait", name, "nobody"}).code, 5);
  EXPECT_EQ(emq({"wait", name, id, "--timeout", "soon"}).code, 2);
}

}  // namespace
}  // namespace echomq::test
