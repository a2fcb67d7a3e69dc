// SPDX-License-Identifier: MIT
// What a stock v1 client can do to one job of ours, and how it is found: the rows of docs/fence.md,
// "What a v1 client can still do", that need more than StockClient.EachAct.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "echomq/doctor.h"
#include "live/fence/stock.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class StockJob : public StockTest {
 protected:
  // One after the other, of a client that leaves `meta` alone.
  std::vector<Tried> try_all(const std::vector<std::string>& acts) {
    return try_stock(server, {{"emq", braced(name), acts, true}}).at(0);
  }
  FenceState state() { return inspect_fence(client, name).value().state; }
};

// No script of ours notices, and no repair knows what stood there.
TEST_F(StockJob, OverwritesTheDataOfAJob) {
  fill(name);
  const auto tried = try_stock(server, {{"emq", braced(name), {"update_data"}, true}});
  EXPECT_TRUE(tried.at(0).at(0).ok) << tried.at(0).at(0).error;
  EXPECT_EQ(redis({"HGET", job_key(name, "first"), "data"}).text, R"({"v":1})");
  EXPECT_EQ(inspect_fence(client, name).value().state, FenceState::v2);
  EXPECT_FALSE(repair_fence(client, name).value().any());
}

// It takes the id out of its set before it meets the type that stops it.
TEST_F(StockJob, PromotingOrRetryingOneTakesItsPlaceAway) {
  fill(name);
  const auto before = places(redis, name);
  for (const auto& [act, ok, error, value] : try_all({"promote", "retry", "retry_completed"}))
    EXPECT_NE(error.find("WRONGTYPE"), std::string::npos) << act << ": " << error;
  auto expected = before;
  for (const auto* const id : {"later", "broken", "done"}) {
    expected.erase(id);
    EXPECT_EQ(redis({"EXISTS", job_key(name, id)}).integer, 1) << id;
  }
  EXPECT_EQ(places(redis, name), expected);
  // Nothing of the queue names them, but who looks through the keys of the server finds them.
  EXPECT_EQ(state(), FenceState::v2);
  EXPECT_FALSE(repair_fence(client, name).value().any());
  const auto examined = examine(server.url());
  ASSERT_TRUE(examined) << examined.error().message();
  std::string orphans;
  for (const auto& finding : examined->findings)
    if (finding.what == "orphans" && finding.queue == name) orphans = finding.found;
  EXPECT_NE(orphans.find(" 3 jobs in no state"), std::string::npos) << orphans;
}

TEST_F(StockJob, AnotherDelayIsDividedAgain) {
  fill(name);
  const auto before = std::stoll(redis({"TIME"}).items.at(0).text) * 1000;
  EXPECT_TRUE(try_all({"change_delay"}).at(0).ok);
  const auto report = inspect_fence(client, name).value();
  EXPECT_EQ(report.state, FenceState::damaged);
  EXPECT_EQ(report.probe, key_of(Structure::delayed));
  EXPECT_EQ(repair_fence(client, name).value().delayed, 1);
  const auto due = queue.job("later").value().due_ms;
  EXPECT_GE(due, before + 7'200'000 - 1'000);
  EXPECT_LE(due, before + 7'200'000 + 60'000);
  EXPECT_EQ(state(), FenceState::v2);
}

// Without it a fetch goes as far as making delayed jobs ready, and is refused only then.
TEST_F(StockJob, ARemovedConcurrencyOpensTheWayToDelayedJobs) {
  fill(name);
  EXPECT_TRUE(try_all({"remove_global_concurrency"}).at(0).ok);
  EXPECT_EQ(state(), FenceState::damaged);
  EXPECT_EQ(repair_fence(client, name).value().sentinels, 1);
  EXPECT_FALSE(try_all({"fetch"}).at(0).ok);
  EXPECT_EQ(places(redis, name).at("later"), "delayed");
  EXPECT_FALSE(try_all({"remove_global_concurrency", "fetch"}).at(1).ok);
  EXPECT_EQ(places(redis, name).at("later"), "wait") << "an hour before its time";
}

// --- what it reads

// No type hides a job's hash, nor the sets that both wires have.
TEST_F(StockJob, ReadsWhatItLikes) {
  ASSERT_TRUE(queue.add(R"({"secret":7})", {.id = "one"}));
  ASSERT_TRUE(queue.add(R"({"secret":8})", {.delay = 1h, .id = "later"}));
  ASSERT_TRUE(queue.add(R"({"secret":9})", {.priority = 1, .id = "urgent"}));
  const auto before = everything();
  const std::vector<std::pair<std::string, std::string>> read{
      {"get_job", R"({"secret":7})"},
      {"get_state", R"("delayed")"},
      {"get_waiting", R"([["one",{"secret":7}]])"},
      {"get_delayed", R"([["later",{"secret":8}]])"},
      {"get_prioritized", R"([["urgent",{"secret":9}]])"},
      {"get_completed", "[]"},
      {"get_failed", "[]"},
      {"get_logs", R"({"logs":[],"count":0})"},
      {"get_counts", R"({"wait":1,"delayed":1})"},
  };
  std::vector<std::string> acts;
  for (const auto& [act, value] : read) acts.push_back(act);
  // What looks at `active` meets its type.
  acts.insert(acts.end(), {"get_active", "get_all_counts"});
  const auto tried = try_all(acts);
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_TRUE(tried.at(i).ok) << tried.at(i).act << ": " << tried.at(i).error;
    EXPECT_EQ(tried.at(i).value, read[i].second) << tried.at(i).act;
  }
  for (std::size_t i = read.size(); i < acts.size(); ++i)
    EXPECT_NE(tried.at(i).error.find("WRONGTYPE"), std::string::npos) << tried.at(i).act;
  EXPECT_EQ(difference(before, everything()), "");
}

// --- what is noticed of one that leaves `meta` alone

// The call of ours that tells of something first meets the events of v1; the next one is refused.
TEST_F(StockJob, ItsEventsAreNoticed) {
  const std::vector<std::string> acts{"publish",         "update_progress", "change_delay",
                                      "clean_completed", "clean_wait",      "remove_job"};
  std::vector<Attempts> targets;
  for (const auto& act : acts) {
    fill(act);
    targets.push_back({"emq", braced(act), {act}, true});
  }
  const auto tried = try_stock(server, targets);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto& of = acts[i];
    SCOPED_TRACE(of);
    EXPECT_TRUE(tried[i].at(0).ok) << tried[i].at(0).error;
    Queue<> told{client, of};
    EXPECT_TRUE(told.add("x", {.id = "new"})) << "done, but for its event";
    for (const auto& error : {error_of(told.add("x")), error_of(told.counts())})
      EXPECT_EQ(fence_error(error).value().found, "echomq:2.0.0:damaged");
    EXPECT_EQ(inspect_fence(client, of).value().found, "echomq:2.0.0:damaged");
    const auto repair = repair_fence(client, of).value();
    EXPECT_TRUE(repair.version);
    EXPECT_GT(repair.events, 0);
    EXPECT_TRUE(told.add("x"));
    EXPECT_TRUE(told.add("x"));
    EXPECT_EQ(redis({"EXISTS", job_key(of, "new")}).integer, 1);
    EXPECT_EQ(inspect_fence(client, of).value().state, FenceState::v2);
  }
}

}  // namespace
}  // namespace echomq::test
