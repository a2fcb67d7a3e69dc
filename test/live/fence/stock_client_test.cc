// SPDX-License-Identifier: MIT
// What a stock v1 client can do to a queue of ours beside adding and fetching, act by act: what it
// changes, that it is seen, and what repair_fence brings back. The table of docs/fence.md, "What a
// v1 client can still do".
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "echomq/acl.h"
#include "live/fence/stock.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

struct Act {
  std::string act;
  bool skip;                        // whether the client leaves `meta` alone
  bool refused;                     // whether it is told so
  std::string found;                // what the next call of ours is refused with; empty: it is not
  std::vector<std::string> lost{};  // the jobs that no repair brings back to their places
  // Keys that stay as it left them, as they end behind "emq:{queue}:".
  std::vector<std::string> rewritten{};
};

const std::vector<Act>& all_acts() {
  const std::string paused = "a queue that v1 has paused";
  static const std::vector<Act> acts{
      {"construct", false, false, "bullmq:5.65.1"},
      {"pause", false, false, "bullmq:5.65.1"},
      {"pause", true, false, paused},
      {"resume", true, false, ""},
      {"drain", true, true, ""},
      {"drain_delayed", true, true, ""},
      {"clean_wait", true, false, "", {"first", "second", "third"}},
      {"clean_paused", true, false, ""},
      {"clean_prioritized", true, false, "", {"urgent"}},
      {"clean_delayed", true, false, "", {"later"}},
      {"clean_completed", true, false, "", {"done"}},
      {"clean_failed", true, false, "", {"broken"}},
      {"clean_active", true, true, ""},
      {"obliterate", true, true, paused},
      {"obliterate_force", true, true, paused},
      {"obliterate", false, true, "bullmq:5.65.1"},
      {"retry_jobs", true, true, ""},
      {"promote_jobs", true, true, ""},
      {"rate_limit", true, false, ""},
      {"global_concurrency", true, false, ""},
      {"trim_events", true, false, ""},
      {"remove_waiting", true, false, "", {"first"}},
      {"remove_scheduler", true, true, ""},
      {"publish", true, false, ""},
      {"promote", true, true, "", {"later"}},
      {"retry", true, true, "", {"broken"}},
      {"retry_completed", true, true, "", {"done"}},
      {"change_delay", true, false, "", {}, {"later", "delayed"}},
      {"change_priority", true, true, ""},
      {"move_to_failed", true, true, "", {}, {"first"}},
      {"move_to_completed", true, true, ""},
      {"move_to_delayed", true, true, ""},
      {"move_to_wait", true, true, ""},
      {"move_with_token", true, true, ""},
      {"extend_lock", true, false, ""},
      {"update_data", true, false, "", {}, {"first"}},
      {"update_progress", true, false, "", {}, {"first"}},
      {"log", true, false, "", {}, {"first:logs"}},
      {"clear_logs", true, false, ""},
      {"remove_children", true, false, ""},
      {"remove_job", true, false, "", {"later"}},
      {"global_rate_limit", true, false, ""},
      {"remove_global_rate_limit", true, false, ""},
      {"remove_global_concurrency", true, false, ""},
      {"remove_rate_limit_key", true, false, ""},
      {"remove_deduplication_key", true, false, ""},
  };
  return acts;
}

class StockClient : public StockTest {
 protected:
  static std::string queue_of(std::size_t i) { return "act-" + std::to_string(i); }

  // The jobs alone, and where they stand.
  std::map<std::string, std::string> standing(const std::string& of) {
    auto all = places(redis, of);
    for (const auto& [id, at] : all)
      EXPECT_EQ(redis({"EXISTS", job_key(of, id)}).integer, 1) << of << " " << id;
    return all;
  }
};

TEST_F(StockClient, EachAct) {
  const auto& acts = all_acts();
  std::vector<Attempts> targets;
  std::vector<Dump> before;
  std::vector<std::map<std::string, std::string>> stood;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    fill(queue_of(i));
    targets.push_back({"emq", braced(queue_of(i)), {acts[i].act}, acts[i].skip});
    before.push_back(dump_queue(redis, queue_of(i)));
    stood.push_back(standing(queue_of(i)));
  }
  const auto tried = try_stock(server, targets);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto of = queue_of(i);
    const auto& act = acts[i];
    SCOPED_TRACE(act.act + (act.skip ? " (skip)" : "") + ": " + tried[i].at(0).error);
    EXPECT_EQ(tried[i].at(0).ok, !act.refused);
    Queue<> looked{client, of};
    const auto counts = looked.counts();
    if (act.found.empty())
      EXPECT_TRUE(counts) << counts.error().message();
    else
      EXPECT_EQ(fence_error(error_of(counts)).value().found, act.found);
    ASSERT_TRUE(repair_fence(client, of));
    EXPECT_EQ(inspect_fence(client, of).value().state, FenceState::v2);
    EXPECT_FALSE(repair_fence(client, of).value().any()) << "the second one has nothing to do";
    auto expected = stood[i];
    for (const auto& id : act.lost) expected.erase(id);
    EXPECT_EQ(standing(of), expected);
    // Beside jobs that it deletes and the account of events, everything is as it was.
    if (!act.lost.empty()) continue;
    auto after = dump_queue(redis, of);
    const auto meta = key(of, Structure::meta);
    EXPECT_EQ(redis({"HGET", meta, "version"}).text, "echomq:2.0.0");
    std::vector<std::string> all{meta, key(of, Structure::events), key(of, Structure::marker)};
    for (const auto& word : act.rewritten) all.push_back("emq:{" + of + "}:" + word);
    for (const auto& apart : all) {
      after.erase(apart);
      before[i].erase(apart);
    }
    EXPECT_EQ(difference(before[i], after), "");
  }
  // And all of it goes on.
  for (std::size_t i = 0; i < acts.size(); ++i) {
    Queue<> worked{client, queue_of(i)};
    ASSERT_TRUE(worked.add("last"));
    Worker worker{worked, {.poll = 100ms}, [](Job<>&) {}};
    EXPECT_TRUE(eventually([&] {
      const auto counts = worked.counts().value();
      return counts.waiting + counts.prioritized + counts.active == 0;
    })) << acts[i].act;
    EXPECT_TRUE(worker.status()) << acts[i].act;
  }
}

// Those who watch are told once, and again after it was well in between.
TEST_F(StockClient, IsToldToWhoWatches) {
  std::vector<std::string> told;
  auto watching = options();
  watching.on_fence = [&told](const Error& fence) {
    told.push_back(fence_error(fence).value().found);
  };
  {
    auto watcher = connect(server.url(), watching).value();
    Queue<> watched{watcher, name};
    ASSERT_TRUE(watched.add("x"));
    QueueEvents listener(watched, {}, [](const Event&) {});
    Worker worker{watched, {.poll = 100ms}, [](Job<>&) {}};
    ASSERT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
    (void)try_stock(server, {{"emq", braced(name), {"construct"}}});
    EXPECT_TRUE(worker.wait(10s));
    EXPECT_EQ(error_of(worker.status()).code, ErrorCode::fence);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(error_of(watched.add("y")).code, ErrorCode::fence);
    ASSERT_TRUE(repair_fence(watcher, name).value().version);
    EXPECT_TRUE(watched.add("z"));
    set_meta("version", "bullmq:5.65.1");
    EXPECT_EQ(error_of(watched.add("y")).code, ErrorCode::fence);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"bullmq:5.65.1", "bullmq:5.65.1"}));
  EXPECT_TRUE(log.says("belongs to another wire"));
}

TEST_F(StockClient, ARepairIsAnEvent) {
  ASSERT_TRUE(queue.add("x", {.id = "a"}));
  (void)try_stock(server, {{"emq", braced(name), {"pause"}}});
  ASSERT_TRUE(repair_fence(client, name));
  const auto read = read_events(queue, EventPlace::beginning());
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_FALSE(read->events.empty());
  EXPECT_EQ(read->events.back().type, EventType::repaired);
}

// The newest release of the line meets the same; the oldest does not know the one field that stops
// a fetch before it promotes what is delayed.
TEST_F(StockClient, OtherReleasesOfTheLine) {
  for (const std::string package : {"bullmq-newest", "bullmq-oldest"}) {
    fill(package);
    const auto stood = standing(package);
    const auto tried = try_stock(
        server, {{"emq", braced(package), {"add", "add_bulk", "fetch", "stalled", "work"}, true}},
        package);
    for (const auto& [act, ok, error, value] : tried.at(0))
      EXPECT_FALSE(ok) << package << " " << act;
    auto expected = stood;
    if (package == "bullmq-oldest") expected["later"] = "wait";
    EXPECT_EQ(standing(package), expected) << package;
  }
}

// Each side with the rules that are printed for it: neither can touch the other's keys, and both do
// their own work.
TEST_F(StockClient, RulesOfTheServerShutEachSideOut) {
  const auto set_user = [this](const std::string& user, const std::string& line) {
    std::vector<std::string> command{"ACL", "SETUSER", user, ">secret"};
    const auto rules = acl_rules(line);
    command.insert(command.end(), rules.begin(), rules.end());
    ASSERT_EQ(redis(command).text, "OK") << line;
  };
  set_user("two", acl_line({.user = "two", .v1_prefixes = {}}).value());
  set_user("one", v1_acl_line({.user = "one", .prefixes = {"bull", "emq"}}).value());
  fill(name);
  const auto before = everything();
  const Environment login{{"V1_USER", "one"}, {"V1_PASSWORD", "secret"}};
  const auto shut = try_stock(server,
                              {{"emq", braced(name), {"add", "fetch", "pause", "clean_wait"}},
                               {"emq", "own", {"construct", "add", "work", "pause", "resume"}},
                               {"bull", "own", {"construct", "add", "work", "counts", "drain"}}},
                              "bullmq", login);
  for (const auto& [act, ok, error, value] : shut.at(0)) EXPECT_FALSE(ok) << act;
  for (const auto* const at_home : {&shut.at(1), &shut.at(2)})
    for (const auto& [act, ok, error, value] : *at_home) EXPECT_TRUE(ok) << act << ": " << error;
  auto after = everything();
  std::erase_if(after, [](const auto& entry) {
    return entry.first.starts_with("bull:") || entry.first.starts_with("emq:own:");
  });
  EXPECT_EQ(difference(before, after), "");

  auto two = connect("unix://two:secret@" + server.socket_path(), options()).value();
  Queue<> mine{two, name};
  EXPECT_TRUE(mine.add("x"));
  RawClient raw = server.connect();
  ASSERT_EQ(raw({"AUTH", "two", "secret"}).text, "OK");
  for (const auto* const key : {"bull:own:meta", "emq:own:meta"})
    EXPECT_TRUE(raw({"TYPE", key}).text.starts_with("NOPERM")) << key;
  // It cannot look, so what it finds there is unknown.
  const auto report = inspect_fence(two, name).value();
  EXPECT_EQ(report.state, FenceState::v2);
  EXPECT_EQ(report.findings.at(0).found, "unknown");
}

}  // namespace
}  // namespace echomq::test
