// SPDX-License-Identifier: MIT
// Moving jobs by the library: promote, delay, priority, retry, remove, singly, in lists and all of
// a state; data and logs; and what is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Moves : public LibraryTest {
 protected:
  // Works what is ready, one after the other; answers their data in order.
  std::vector<std::string> drain() {
    Runs runs;
    Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) { runs.note(job.data()); }};
    EXPECT_TRUE(worker.wait(20s));
    return runs.all();
  }
  // One failed job for each.
  std::vector<std::string> failed(const std::vector<NewJob<>>& jobs) {
    std::vector<std::string> ids;
    auto added = queue.add_bulk(jobs).value();
    for (auto& id : added) ids.push_back(std::move(id).value());
    Worker worker{queue, {.stop_when_empty = true}, [](Job<>&) { return Outcome::fail("broke"); }};
    EXPECT_TRUE(worker.wait(20s));
    return ids;
  }
  static std::string codes(const Result<JobResults>& results) {
    std::string all;
    for (const auto& result : results.value())
      all +=
          (all.empty() ? "" : " ") + std::string(result ? "ok" : echomq::name(result.error().code));
    return all;
  }
};

TEST_F(Moves, PromoteMakesADelayedJobReady) {
  const auto id = queue.add("later", {.delay = 1h}).value();
  ASSERT_TRUE(queue.promote(id));
  EXPECT_EQ(info(id).state, JobState::waiting);
  EXPECT_EQ(error_of(queue.promote(id)).code, ErrorCode::wrong_state);
  EXPECT_EQ(error_of(queue.promote("never")).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.promote("two words")).code, ErrorCode::invalid_name);
}

TEST_F(Moves, PromotedJobWakesAnIdleWorker) {
  Runs runs;
  ASSERT_TRUE(queue.open());
  Worker worker{queue, {.poll = 60s}, [&](Job<>& job) { runs.note(job.id()); }};
  const auto id = queue.add("later", {.delay = 1h}).value();
  ASSERT_TRUE(queue.promote(id));
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
}

TEST_F(Moves, ListsAreAnsweredOneByOne) {
  const auto delayed = add_many(2, {.delay = 1h});
  const auto ready = queue.add("ready").value();
  const std::vector<std::string> ids{delayed.at(0), ready, "never", delayed.at(1)};
  EXPECT_EQ(codes(queue.promote(ids)), "ok wrong_state not_found ok");
  const auto bad = queue.promote({delayed.at(0), "a:b", ready});
  EXPECT_EQ(error_of(bad).code, ErrorCode::invalid_name);
  EXPECT_TRUE(queue.promote(std::vector<std::string>{}).value().empty());
}

TEST_F(Moves, ChangeDelayCountsFromNow) {
  const auto id = queue.add("later", {.delay = 1h}).value();
  ASSERT_TRUE(queue.change_delay(id, 3h));
  const auto job = info(id);
  EXPECT_NEAR(static_cast<double>(job.due_ms),
              static_cast<double>(client.server_time_ms() + 3 * 3'600'000), 10'000.0);
  EXPECT_EQ(job.options.delay, 3h);
  EXPECT_EQ(error_of(queue.change_delay(id, -1ms)).code, ErrorCode::invalid_argument);
  const auto over = error_of(queue.change_delay(id, kMaxDelay + 1ms));
  EXPECT_EQ(over.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*over.field("value"), std::to_string((kMaxDelay + 1ms).count()));
  ASSERT_TRUE(queue.change_delay(id, 0ms));
  EXPECT_EQ(info(id).state, JobState::waiting);
}

// B42: no priority goes before priority 1, and that before 2.
TEST_F(Moves, B42_ChangePriorityReorders) {
  std::vector<std::string> ids;
  for (const char* const data : {"a", "b", "c", "d"}) ids.push_back(queue.add(data).value());
  ASSERT_TRUE(queue.change_priority(ids.at(0), kMaxPriority));
  ASSERT_TRUE(queue.change_priority(ids.at(1), 2));
  ASSERT_TRUE(queue.change_priority(ids.at(2), 2));
  EXPECT_EQ(info(ids.at(1)).options.priority, 2U);
  EXPECT_EQ(info(ids.at(1)).state, JobState::prioritized);
  ASSERT_TRUE(queue.change_priority(ids.at(1), 1));
  const auto over = error_of(queue.change_priority(ids.at(0), kMaxPriority + 1));
  EXPECT_EQ(over.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*over.field("value"), "2097152");
  EXPECT_EQ(drain(), (std::vector<std::string>{"d", "b", "c", "a"}));
  EXPECT_EQ(error_of(queue.change_priority(ids.at(0), 1)).code, ErrorCode::wrong_state);
}

TEST_F(Moves, ChangePriorityDeepInALongLine) {
  const auto ids = add_many(3'000);
  ASSERT_TRUE(queue.change_priority(ids.at(1'500), 5));
  EXPECT_EQ(info(ids.at(1'500)).state, JobState::prioritized);
  EXPECT_EQ(counts().waiting, 2'999);
}

// B40: mixed priorities keep their order over a retry in bulk.
TEST_F(Moves, B40_RetryKeepsPriorities) {
  const auto ids = failed({{"p5", {.priority = 5}}, {"w", {}}, {"p1", {.priority = 1}}});
  EXPECT_EQ(codes(queue.retry(ids)), "ok ok ok");
  EXPECT_EQ(info(ids.at(0)).state, JobState::prioritized);
  EXPECT_EQ(info(ids.at(0)).failed_reason, "");
  EXPECT_EQ(drain(), (std::vector<std::string>{"w", "p1", "p5"}));
  EXPECT_EQ(codes(queue.retry(ids)), "ok ok ok") << "completed ones too";
  EXPECT_EQ(codes(queue.retry(ids)), "wrong_state wrong_state wrong_state");
}

TEST_F(Moves, RetryGivesAllAttemptsAgainUnlessToldOtherwise) {
  const auto ids = failed({{"a", {.attempts = 2}}, {"b", {.attempts = 2}}});
  EXPECT_EQ(info(ids.at(0)).attempts_made, 2U);
  ASSERT_TRUE(queue.retry(ids.at(0)));
  ASSERT_TRUE(queue.retry(ids.at(1), {.reset_attempts = false}));
  std::atomic<int> a{0};
  std::atomic<int> b{0};
  Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) {
                  ++(job.data() == "a" ? a : b);
                  return Outcome::fail("again");
                }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(a, 2);
  EXPECT_EQ(b, 1);
  EXPECT_EQ(info(ids.at(0)).attempts_started, 4U);
}

TEST_F(Moves, RemoveTakesAJobOutOfEveryStateButActive) {
  const auto waiting = queue.add("w").value();
  const auto delayed = queue.add("d", {.delay = 1h}).value();
  const auto placed = queue.add("p", {.priority = 3}).value();
  ASSERT_TRUE(queue.log(waiting, "a line"));
  EXPECT_EQ(codes(queue.remove({waiting, delayed, placed})), "ok ok ok");
  EXPECT_EQ(error_of(queue.job(waiting)).code, ErrorCode::not_found);
  EXPECT_EQ(redis({"EXISTS", job_key(name, waiting, Sub::logs)}).integer, 0);
  EXPECT_EQ(error_of(queue.remove(waiting)).code, ErrorCode::not_found);

  const auto running = queue.add("r").value();
  Gate gate;
  Worker worker{queue, {}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  const auto refused = error_of(queue.remove(running));
  EXPECT_EQ(refused.code, ErrorCode::wrong_state);
  EXPECT_NE(refused.detail.find("running"), std::string::npos) << refused.detail;
  gate.open();
  ASSERT_TRUE(eventually([&] { return info(running).state == JobState::completed; }, 20s));
  EXPECT_TRUE(queue.remove(running));
}

TEST_F(Moves, RemovedCustomIdsMayBeAddedAgain) {
  add_many(1'000);
  ASSERT_TRUE(queue.add("first", {.id = "mine"}));
  add_many(1'000);
  ASSERT_TRUE(queue.remove("mine"));
  EXPECT_EQ(counts().waiting, 2'000);
  ASSERT_TRUE(queue.add("second", {.id = "mine"}));
  EXPECT_EQ(counts().waiting, 2'001);
  Runs runs;
  Worker worker{queue,
                {.concurrency = 50, .keep_completed = Keep::all(), .stop_when_empty = true},
                [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(worker.wait(60s));
  EXPECT_EQ(runs.times("mine"), 1);
  EXPECT_EQ(runs.size(), 2'001U);
}

TEST_F(Moves, UpdateData) {
  const auto id = queue.add("old").value();
  ASSERT_TRUE(queue.update_data(id, "new"));
  EXPECT_EQ(drain(), std::vector<std::string>{"new"});
  EXPECT_EQ(error_of(queue.update_data("never", "x")).code, ErrorCode::not_found);
  const auto over = std::string(ClientOptions{}.data_limit + 1, 'x');
  EXPECT_EQ(error_of(queue.update_data(id, over)).code, ErrorCode::too_large);
}

class Bulk : public Moves {};

TEST_F(Bulk, PromoteAllKeepsTheOrderOfTheTimes) {
  std::vector<NewJob<>> jobs;
  for (int i = 0; i < 600; ++i) jobs.push_back({std::to_string(i), {.delay = 1h}});
  jobs.push_back({"p", {.delay = 2h, .priority = 1}});
  ASSERT_TRUE(queue.add_bulk(jobs));
  std::vector<std::int64_t> steps;
  const auto report = queue
                          .promote_all({.on_progress =
                                            [&](const BulkProgress& now) {
                                              EXPECT_EQ(now.total, 601);
                                              steps.push_back(now.done);
                                              return true;
                                            }})
                          .value();
  EXPECT_EQ(report.done, 601);
  EXPECT_EQ(report.skipped, 0);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{256, 512, 601}));
  EXPECT_EQ(counts().waiting, 600);
  EXPECT_EQ(counts().prioritized, 1);
  const auto front = queue.jobs(JobState::waiting, {.limit = 2, .data = true}).value();
  EXPECT_EQ(front.jobs.at(0).data + front.jobs.at(1).data, "01");
}

TEST_F(Bulk, RetryAllTakesTheOldestFirstAndLeavesOutWhatEndsMeanwhile) {
  std::vector<NewJob<>> jobs(300, NewJob<>{"x", {}});
  failed(jobs);
  EXPECT_EQ(queue.retry_all(JobState::failed, {}, {.limit = 100}).value().done, 100);
  EXPECT_EQ(counts().failed, 200);
  // A worker fails them again as fast as they come.
  Worker worker{queue, {.concurrency = 20}, [](Job<>&) { return Outcome::fail("again"); }};
  const auto report = queue.retry_all().value();
  EXPECT_LE(report.done, 300);
  EXPECT_GE(report.done, 200);
  EXPECT_TRUE(eventually([&] { return counts().failed == 300; }, 20s));
}

// As a whole too: whatever the jobs have been through, the priorities decide.
TEST_F(Bulk, B40_MixedPrioritiesKeepTheirOrder) {
  const std::vector<NewJob<>> mixed{{"p9", {.priority = 9}},  {"w1", {}},
                                    {"p1", {.priority = 1}},  {"w2", {}},
                                    {"p9b", {.priority = 9}}, {"p1b", {.priority = 1}}};
  const std::vector<std::string> in_order{"w1", "w2", "p1", "p1b", "p9", "p9b"};
  failed(mixed);
  EXPECT_EQ(queue.retry_all().value().done, 6);
  const auto ran = drain();
  EXPECT_EQ(std::set<std::string>(ran.begin(), ran.end()).size(), 6U);
  EXPECT_EQ(std::vector<std::string>(ran.begin() + 2, ran.end()),
            (std::vector<std::string>(in_order.begin() + 2, in_order.end())));
  ASSERT_TRUE(queue.remove_all(JobState::completed));
  auto delayed = mixed;
  for (auto& job : delayed) job.options.delay = 1h;
  for (auto& added : queue.add_bulk(delayed).value()) ASSERT_TRUE(added);
  EXPECT_EQ(queue.promote_all().value().done, 6);
  for (const auto& job : queue.jobs(JobState::prioritized).value().jobs) EXPECT_EQ(job.due_ms, 0);
  EXPECT_EQ(drain(), in_order);
}

TEST_F(Bulk, RemoveAllOfEachState) {
  add_many(700);
  add_many(300, {.priority = 2});
  add_many(300, {.delay = 1h});
  EXPECT_EQ(queue.remove_all(JobState::waiting, {.dry_run = true}).value().done, 700);
  EXPECT_EQ(counts().waiting, 700);
  for (const auto state : {JobState::waiting, JobState::prioritized, JobState::delayed,
                           JobState::completed, JobState::failed})
    EXPECT_EQ(queue.remove_all(state).value().skipped, 0);
  const auto after = counts();
  EXPECT_EQ(after.waiting + after.prioritized + after.delayed, 0);
  for (const auto& [key, content] : dump_queue(redis, name))
    EXPECT_EQ(parse_key(key)->kind, KeyKind::structure) << key;
}

TEST_F(Bulk, RemoveAllPassesByGhosts) {
  const auto ids = add_many(1'600);
  std::vector<std::string> middle(ids.begin() + 520, ids.begin() + 1'080);
  ASSERT_TRUE(queue.remove(middle));
  EXPECT_EQ(counts().waiting, 1'040);
  EXPECT_EQ(queue.remove_all(JobState::waiting).value().done, 1'040);
  EXPECT_EQ(counts().waiting, 0);
}

// Those that a worker takes are left alone and are no place to go on from.
TEST_F(Bulk, P29_RemoveAllBesideABusyWorkerLeavesNone) {
  constexpr std::size_t kJobs = 20'000;
  for (const bool fails : {false, true}) {
    const auto ids = add_many(kJobs);
    Worker worker{queue, {.concurrency = 20}, [&](Job<>&) {
                    return fails ? Outcome::retry_in(1h) : Outcome::done();
                  }};
    const auto report = queue.remove_all(JobState::waiting).value();
    ASSERT_TRUE(queue.pause());
    EXPECT_EQ(counts().waiting, 0);
    EXPECT_LE(report.done + report.skipped, static_cast<std::int64_t>(kJobs));
    EXPECT_LT(report.done, static_cast<std::int64_t>(kJobs)) << "the worker took some";
    ASSERT_TRUE(eventually([&] { return counts().active == 0; }, 20s));
    ASSERT_TRUE(queue.resume());
  }
}

// What is too young is passed by, and taken by the worker meanwhile.
TEST_F(Bulk, P29_CleanBesideABusyWorkerLeavesNoOldOne) {
  const auto young_first = add_many(3'000);
  const auto old = add_many(3'000);
  const auto young_last = add_many(3'000);
  for (const auto& id : old) age_add(id, 2 * 3'600'000);
  std::set<std::string> of_old(old.begin(), old.end());
  Worker worker{queue, {.concurrency = 20}, [](Job<>&) {}};
  ASSERT_TRUE(queue.clean(JobState::waiting, 1h));
  ASSERT_TRUE(queue.pause());
  int left = 0;
  for (const auto& item : redis({"LRANGE", key_of(Structure::wait), "0", "-1"}).items)
    if (of_old.contains(item.text)) ++left;
  EXPECT_EQ(left, 0);
}

TEST_F(Bulk, StopsWhenItIsToldTo) {
  add_many(600, {.delay = 1h});
  const auto report =
      queue.promote_all({.on_progress = [](const BulkProgress&) { return false; }}).value();
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.done, 256);
  EXPECT_EQ(counts().delayed, 344);
}

TEST_F(Bulk, BadOptionsAreRefused) {
  ASSERT_TRUE(queue.open());
  EXPECT_EQ(error_of(queue.promote_all({.limit = -1})).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(queue.retry_all(JobState::waiting)).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(queue.remove_all(JobState::active)).code, ErrorCode::invalid_argument);
}

// B45, by the library: what is due in one millisecond starts in the order in which it was added.
TEST_F(Bulk, B45_TenThousandJobsOfOneMillisecond) {
  constexpr std::size_t kJobs = 10'000;
  const auto ids = add_many(kJobs, {.delay = 1h});
  // One time for all: that of the last one.
  const auto due = redis({"ZRANGE", key_of(Structure::delayed), "-1", "-1", "WITHSCORES"});
  std::vector<std::string> words{"ZADD", key_of(Structure::delayed)};
  const auto at = texts(due).at(1);
  for (const auto& id : ids) {
    words.push_back(at);
    words.push_back(id);
  }
  ASSERT_FALSE(redis(words).is_error());
  EXPECT_EQ(queue.promote_all().value().done, static_cast<std::int64_t>(kJobs));
  EXPECT_EQ(texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"})), ids);
}

class Logs : public LibraryTest {};

TEST_F(Logs, OfAHandlerAreThereWhenTheJobEnds) {
  const auto id = queue.add("x").value();
  Worker worker{queue, {.stop_when_empty = true}, [](Job<>& job) {
                  for (int i = 0; i < 3; ++i) EXPECT_TRUE(job.log("step " + std::to_string(i)));
                  EXPECT_EQ(error_of(job.log(std::string(kMaxLogLineBytes + 1, 'x'))).code,
                            ErrorCode::too_large);
                }};
  ASSERT_TRUE(worker.wait(20s));
  const auto logs = queue.logs(id).value();
  EXPECT_EQ(logs.count, 3);
  EXPECT_EQ(logs.lines, (std::vector<std::string>{"step 0", "step 1", "step 2"}));
}

TEST_F(Logs, ArePagedAndCapped) {
  const auto id = queue.add("x").value();
  for (std::size_t i = 0; i < kMaxLogLines + 20; ++i) ASSERT_TRUE(queue.log(id, std::to_string(i)));
  const auto first = queue.logs(id, {.limit = 2}).value();
  EXPECT_EQ(first.count, static_cast<std::int64_t>(kMaxLogLines));
  EXPECT_EQ(first.lines, (std::vector<std::string>{"20", "21"}));
  EXPECT_EQ(queue.logs(id, {.first = 998, .limit = 100}).value().lines,
            (std::vector<std::string>{"1018", "1019"}));
  EXPECT_EQ(queue.logs(id, {.first = -3, .limit = 2}).value().lines,
            (std::vector<std::string>{"1017", "1018"}));
  EXPECT_EQ(queue.logs(id, {.first = -2, .limit = 9}).value().lines,
            (std::vector<std::string>{"1018", "1019"}));
  EXPECT_TRUE(queue.logs(id, {.first = 5'000}).value().lines.empty());
}

TEST_F(Logs, BadInputIsRefused) {
  const auto id = queue.add("x").value();
  for (const std::size_t limit : {0U, 1'001U})
    EXPECT_EQ(error_of(queue.logs(id, {.limit = limit})).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(queue.logs("never")).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.log("never", "line")).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.log(id, std::string(kMaxLogLineBytes + 1, 'x'))).code,
            ErrorCode::too_large);
  EXPECT_EQ(error_of(queue.log("a:b", "line")).code, ErrorCode::invalid_name);
  EXPECT_EQ(queue.logs(id).value().count, 0);
}

TEST_F(Logs, OfARunThatLostItsLeaseAreRefused) {
  const auto id = queue.add("x").value();
  Gate gate;
  std::atomic<int> code{0};
  Worker worker{queue, {}, [&](Job<>& job) {
                  gate.pass();
                  code = static_cast<int>(error_of(job.log("late")).code);
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  redis({"ZADD", key_of(Structure::active), "9007199254740991", id});
  gate.open();
  EXPECT_TRUE(eventually([&] { return code == static_cast<int>(ErrorCode::stale); }, 20s));
  redis({"ZREM", key_of(Structure::active), id});
}

}  // namespace
}  // namespace echomq::test
