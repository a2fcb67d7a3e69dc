// SPDX-License-Identifier: MIT
// The verbs that read pages and move jobs: list, logs, workers, retry, promote, remove, pause,
// resume, limit.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class Verbs : public EmqTest {
 protected:
  // Jobs that failed, one after the other.
  std::vector<std::string> failed(std::size_t count) {
    const auto ids = add_many(count);
    Worker worker{queue, {.stop_when_empty = true}, [](Job<>&) { return Outcome::fail("broke"); }};
    EXPECT_TRUE(worker.wait(20s));
    return ids;
  }
};

TEST_F(Verbs, ListGoesOnWithTheCursor) {
  const auto ids = add_many(5, {.delay = 1h, .name = "send"});
  const auto first = emq({"list", name, "--state", "delayed", "--limit", "3", "--json"}).json();
  ASSERT_EQ(first.at("jobs").size(), 3U);
  EXPECT_EQ(first.at("jobs").at(0).at("id"), ids.at(0));
  EXPECT_EQ(first.at("jobs").at(0).at("state"), "delayed");
  EXPECT_FALSE(first.at("jobs").at(0).contains("data"));
  const auto cursor = first.at("next").get<std::string>();
  const auto rest =
      emq({"list", name, "--state", "delayed", "--cursor", cursor, "--data", "--json"}).json();
  ASSERT_EQ(rest.at("jobs").size(), 2U);
  EXPECT_EQ(rest.at("jobs").at(1).at("id"), ids.at(4));
  EXPECT_EQ(rest.at("jobs").at(1).at("data"), "4");
  EXPECT_TRUE(rest.at("next").is_null());
  const auto text = emq({"list", name, "--state", "delayed", "--order", "desc", "--limit", "1"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find(ids.at(4)), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("more: --cursor 1:" + name + ":delayed:d:"), std::string::npos);
  EXPECT_EQ(emq({"list", name, "--state", "failed"}).out, "no failed jobs\n");
}

TEST_F(Verbs, ListRefusesBadInput) {
  add_many(1);
  const std::vector<std::vector<std::string>> lines{
      {"--state", "broken"},
      {"--state", "failed", "--limit", "0"},
      {"--state", "failed", "--limit", "257"},
      {"--state", "failed", "--order", "up"},
      {"--state", "failed", "--cursor", "1:other:failed:a:5:x"}};
  for (const auto& options : lines) {
    std::vector<std::string> line{"list", name, "--json"};
    line.insert(line.end(), options.begin(), options.end());
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.error().at("code"), "invalid_argument");
    EXPECT_TRUE(run.error().contains("value")) << run.err;
  }
  EXPECT_EQ(emq({"list", name}).code, 2) << "which state?";
  EXPECT_EQ(emq({"list", "nobody", "--state", "failed"}).code, 5);
}

TEST_F(Verbs, RetrySomeAndAll) {
  const auto ids = failed(5);
  const auto some = emq({"retry", name, ids.at(0), brand_id(ids.at(1)).value(), "--json"});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_EQ(some.json().at("done"), (json{ids.at(0), ids.at(1)}));
  EXPECT_EQ(info(ids.at(0)).state, JobState::waiting);

  const auto dry = emq({"retry", name, "--all", "--dry-run", "--json"}).json();
  EXPECT_EQ(dry, (json{{"done", 3}, {"skipped", 0}, {"dry_run", true}}));
  EXPECT_EQ(counts().failed, 3);
  EXPECT_EQ(emq({"retry", name, "--all", "--limit", "1"}).out, "1 jobs retried\n");
  EXPECT_EQ(emq({"retry", name, "--all"}).out, "2 jobs retried\n");
  EXPECT_EQ(counts().waiting, 5);
}

TEST_F(Verbs, EachRefusedJobIsTold) {
  const std::string id = queue.add("x").value();
  const auto run = emq({"promote", name, id, "never", "--json"});
  EXPECT_EQ(run.code, 1) << "the first refusal's: not delayed";
  EXPECT_EQ(run.json(), (json{{"done", json::array()}, {"refused", {id, "never"}}}));
  EXPECT_NE(run.err.find("wrong_state"), std::string::npos);
  EXPECT_NE(run.err.find("not_found"), std::string::npos);
}

TEST_F(Verbs, PromoteAndRemove) {
  const auto ids = add_many(300, {.delay = 1h});
  EXPECT_EQ(emq({"promote", name, ids.at(7)}).out, ids.at(7) + "\n");
  EXPECT_EQ(emq({"promote", name, "--all"}).out, "299 jobs promoted\n");
  EXPECT_EQ(emq({"remove", name, ids.at(0), ids.at(1)}).code, 0);
  EXPECT_EQ(counts().waiting, 298);
  EXPECT_EQ(emq({"remove", name, "--all", "--state", "waiting", "--dry-run"}).out,
            "298 jobs would be removed\n");
  EXPECT_EQ(emq({"remove", name, "--all", "--state", "waiting"}).out, "298 jobs removed\n");
  EXPECT_EQ(counts().waiting, 0);
}

TEST_F(Verbs, AProgressBarOnATerminal) {
  add_many(600, {.delay = 1h});
  EmqHow how;
  how.terminal = true;
  const auto run = emq({"promote", name, "--all"}, how);
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.out.find("] 256 of 600"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("[##############################] 600 of 600"), std::string::npos);
  EXPECT_NE(run.out.find("600 jobs promoted"), std::string::npos);
}

TEST_F(Verbs, WhichJobsMustBeSaid) {
  const std::string id = queue.add("x").value();
  const std::vector<std::vector<std::string>> lines{{"retry", name},
                                                    {"retry", name, id, "--all"},
                                                    {"retry", name, id, "--dry-run"},
                                                    {"retry", name, id, "--limit", "5"},
                                                    {"retry", name, "--all", "--limit", "0"},
                                                    {"retry", name, "--all", "--state", "waiting"},
                                                    {"remove", name, "--all"},
                                                    {"remove", name, "--all", "--state", "active"},
                                                    {"remove", name, "two words"}};
  for (const auto& line : lines) {
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << line.back() << run.out << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(counts().waiting, 1);
}

TEST_F(Verbs, LogsOfAJob) {
  const std::string id = queue.add("x").value();
  for (const char* const line : {"one", "two \x1b[31m", "three"}) ASSERT_TRUE(queue.log(id, line));
  EXPECT_EQ(emq({"logs", name, id}).out, "one\ntwo \\x1b[31m\nthree\n");
  const auto page =
      emq({"logs", name, brand_id(id).value(), "--first", "1", "--limit", "1", "--json"}).json();
  EXPECT_EQ(page, (json{{"lines", {"two \x1b[31m"}}, {"count", 3}}));
  EXPECT_EQ(emq({"logs", name, "never"}).code, 5);
  EXPECT_EQ(emq({"logs", name, id, "--limit", "1001"}).code, 2);
}

TEST_F(Verbs, PauseAndResume) {
  queue.add("x").value();
  EXPECT_EQ(emq({"pause", name}).code, 0);
  EXPECT_TRUE(counts().paused);
  EXPECT_EQ(emq({"resume", name, "--json"}).json(), (json{{"queue", name}, {"paused", false}}));
  EXPECT_FALSE(counts().paused);
  EXPECT_EQ(emq({"pause", "nobody"}).code, 5);
}

TEST_F(Verbs, WorkersAndWhatTheyHold) {
  const std::string id = queue.add("x").value();
  EXPECT_EQ(emq({"workers", name}).out, "nobody holds a job of this queue\n");
  redis({"LPOP", key_of(Structure::wait)});
  redis({"ZADD", key_of(Structure::active), "1", id});
  const auto all = emq({"workers", name, "--json"}).json().at("workers");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at(0).at("jobs").at(0).at("id"), id);
  EXPECT_NE(emq({"workers", name}).out.find(id), std::string::npos);
}

TEST_F(Verbs, DedupShowsAndReleases) {
  ASSERT_TRUE(queue.open());
  const json nobody{
      {"queue", name}, {"id", "D"}, {"job", nullptr}, {"until_ms", nullptr}, {"next", nullptr}};
  EXPECT_EQ(emq({"dedup", name, "D", "--json"}).json(), nobody);
  EXPECT_EQ(emq({"dedup", name, "D"}).out, "nobody owns it\n");
  const auto first = emq({"add", name, "n", "1", "--dedup-id", "D", "--json"}).json();
  const auto id = first.at("ids").at(0).get<std::string>();
  EXPECT_EQ(first.at("deduplicated"), json::array());
  const auto second = emq({"add", name, "n", "2", "--dedup-id", "D", "--json"}).json();
  EXPECT_EQ(second.at("ids"), json::array());
  EXPECT_EQ(second.at("deduplicated"), json{id});
  EXPECT_EQ(emq({"add", name, "n", "3", "--dedup-id", "D"}).out, id + "\n");
  auto owned = nobody;
  owned["job"] = id;
  EXPECT_EQ(emq({"dedup", name, "D", "--json"}).json(), owned);
  EXPECT_EQ(emq({"dedup", name, "D"}).out,
            "job    " + id + "\nuntil  it has ended or is removed\n");
  EXPECT_NE(emq({"job", name, id}).out.find("deduplication"), std::string::npos);
  EXPECT_EQ(emq({"dedup", name, "D", "--release", "--json"}).json(),
            (json{{"queue", name}, {"id", "D"}, {"released", true}}));
  EXPECT_EQ(emq({"dedup", name, "D", "--release"}).out, "nobody owned it\n");
  const auto timed = emq({"add", name, "n", "4", "--delay", "1h", "--dedup-id", "D", "--dedup-ttl",
                          "1h", "--dedup-extend", "--dedup-replace"});
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_NE(emq({"dedup", name, "D"}).out.find("until  20"), std::string::npos);
  EmqHow from;
  from.input = "1\n2\n3\n";
  const auto lines = emq({"add", name, "n", "--stdin", "--dedup-id", "L", "--json"}, from).json();
  EXPECT_EQ(lines.at("ids").size(), 1U);
  EXPECT_EQ(lines.at("deduplicated").size(), 2U);
  EXPECT_EQ(emq({"dedup", "nobody", "D"}).code, 5);
  EXPECT_EQ(emq({"dedup", name, ""}).code, 2);
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"--dedup-id", ""},
           {"--dedup-ttl", "5s"},
           {"--dedup-id", "D", "--dedup-ttl", "0ms"},
           {"--dedup-id", "D", "--dedup-extend"},
           {"--dedup-id", "D", "--dedup-keep-last", "--dedup-replace"}}) {
    std::vector<std::string> line{"add", name, "n", "x"};
    line.insert(line.end(), options.begin(), options.end());
    EXPECT_EQ(emq(line).code, 2) << options.back();
  }
}

TEST_F(Verbs, LimitSetsShowsAndEnds) {
  ASSERT_TRUE(queue.open());
  const json none{{"queue", name},         {"concurrency", nullptr},   {"rate", nullptr},
                  {"max_length", nullptr}, {"held_until_ms", nullptr}, {"gate", "open"},
                  {"opens_ms", nullptr}};
  EXPECT_EQ(emq({"limit", name, "--json"}).json(), none);
  const auto set = emq({"limit", name, "--concurrency", "3", "--rate", "600/1m", "--burst", "5",
                        "--max-length", "9", "--json"});
  EXPECT_EQ(set.code, 0) << set.err;
  EXPECT_EQ(set.json().at("concurrency"), 3);
  EXPECT_EQ(set.json().at("rate"), (json{{"max", 600}, {"duration_ms", 60'000}, {"burst", 5}}));
  const auto limits = queue.limits().value();
  EXPECT_EQ(limits.concurrency, 3U);
  EXPECT_EQ(limits.rate, RateLimit::smooth(600, 1min, 5));
  EXPECT_EQ(set.json().at("max_length"), 9);
  EXPECT_EQ(limits.max_length, 9);
  const auto held = emq({"limit", name, "--hold", "1h"});
  EXPECT_NE(held.out.find("600 in 1 min, evenly, 5 at once"), std::string::npos) << held.out;
  EXPECT_NE(held.out.find("closed: held, opens 20"), std::string::npos) << held.out;
  EXPECT_EQ(emq({"limit", name, "--concurrency", "none", "--rate", "none", "--hold", "none",
                 "--max-length", "none", "--json"})
                .json(),
            none);
  EXPECT_EQ(emq({"limit", "nobody"}).code, 5);
}

TEST_F(Verbs, LimitRefusesBadInputAndSetsNothing) {
  ASSERT_TRUE(queue.open());
  const std::vector<std::vector<std::string>> lines{{"--concurrency", "0"},
                                                    {"--concurrency", "1000001"},
                                                    {"--rate", "5"},
                                                    {"--rate", "0/1s"},
                                                    {"--rate", "5/0ms"},
                                                    {"--rate", "5/31d"},
                                                    {"--burst", "2"},
                                                    {"--rate", "none", "--burst", "2"},
                                                    {"--rate", "5/1s", "--burst", "6"},
                                                    {"--max-length", "0"},
                                                    {"--hold", "0ms"},
                                                    {"--hold", "31d"},
                                                    {"--concurrency", "-1"}};
  for (const auto& options : lines) {
    std::vector<std::string> line{"limit", name, "--concurrency", "7", "--json"};
    if (options[0] == "--concurrency") line.resize(2), line.emplace_back("--json");
    line.insert(line.end(), options.begin(), options.end());
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.error().at("code"), "invalid_argument");
    EXPECT_TRUE(run.error().contains("value")) << run.err;
  }
  EXPECT_EQ(queue.limits().value().concurrency, std::nullopt);
}

}  // namespace
}  // namespace echomq::test
