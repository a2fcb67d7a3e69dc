// SPDX-License-Identifier: MIT
// Clean, drain and obliterate by the library: what goes and what stays, while others add and work;
// what an interruption leaves; and what is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kHour = 3'600'000;

class Housekeeping : public LibraryTest {
 protected:
  // Works all that is ready; those whose data is "bad" fail.
  void work_off() {
    Worker worker{queue,
                  {.concurrency = 50,
                   .keep_completed = Keep::all(),
                   .keep_failed = Keep::all(),
                   .stop_when_empty = true},
                  [](Job<>& job) -> Outcome {
                    if (job.data() == "bad") return Outcome::fail("bad");
                    return Outcome::done();
                  }};
    ASSERT_TRUE(worker.wait(60s));
    std::this_thread::sleep_for(20ms);  // their ends are past, however the clock is estimated
  }
  // As if the jobs had ended so long ago.
  void age_end(Structure set, const std::vector<std::string>& ids, std::int64_t ms) {
    for (const auto& id : ids) redis({"ZINCRBY", key_of(set), std::to_string(-ms), id});
  }
  // As if they had been added so long ago.
  void age_add(const std::vector<std::string>& ids, std::int64_t ms) {
    for (const auto& id : ids) LibraryTest::age_add(id, ms);
  }
  // The keys of the queue, without its prefix.
  std::string keys_left() {
    std::string all;
    for (const auto& [key, content] : dump_queue(redis, name))
      all += (all.empty() ? "" : " ") + key.substr(key.find("}:") + 2);
    return all;
  }
};

class Clean : public Housekeeping {};

TEST_F(Clean, RemovesWhatHasEndedLongAgo) {
  const auto ids = add_many(6);
  work_off();
  age_end(Structure::completed, {ids.at(0), ids.at(1), ids.at(2)}, 2 * kHour);
  EXPECT_EQ(queue.clean(JobState::completed, 1h, {.dry_run = true}).value().done, 3);
  EXPECT_EQ(counts().completed, 6);
  const auto report = queue.clean(JobState::completed, 1h).value();
  EXPECT_EQ(report.done, 3);
  EXPECT_EQ(report.skipped, 0);
  EXPECT_EQ(counts().completed, 3);
  EXPECT_EQ(error_of(queue.job(ids.at(0))).code, ErrorCode::not_found);
  EXPECT_EQ(info(ids.at(3)).state, JobState::completed);
  EXPECT_EQ(queue.clean(JobState::completed, 1h).value().done, 0);
  EXPECT_EQ(queue.clean(JobState::completed, 0ms).value().done, 3);
}

TEST_F(Clean, LeavesOtherStatesAlone) {
  add({"bad", "good"});
  work_off();
  add_many(1);
  add_many(1, {.delay = 1h});
  EXPECT_EQ(queue.clean(JobState::failed, 0ms).value().done, 1);
  const auto left = counts();
  EXPECT_EQ(left.completed, 1);
  EXPECT_EQ(left.waiting, 1);
  EXPECT_EQ(left.delayed, 1);
}

// What has not ended is as old as its add, wherever it stands in the line.
TEST_F(Clean, OfWaitingOnesByTheirAdd) {
  const auto ids = add_many(1'200);
  std::vector<std::string> old;
  for (std::size_t i = 0; i < ids.size(); i += 3) old.push_back(ids[i]);
  age_add(old, 2 * kHour);
  EXPECT_EQ(queue.clean(JobState::waiting, 1h, {.dry_run = true}).value().done, 400);
  EXPECT_EQ(counts().waiting, 1'200);
  std::int64_t last_total = 0;
  std::int64_t last_done = 0;
  const auto report = queue
                          .clean(JobState::waiting, 1h,
                                 {.on_progress =
                                      [&](const BulkProgress& now) {
                                        EXPECT_LE(now.done, now.total);
                                        last_total = now.total;
                                        last_done = now.done;
                                        return true;
                                      }})
                          .value();
  EXPECT_EQ(report.done, 400);
  EXPECT_EQ(report.skipped, 0);
  EXPECT_EQ(last_total, 400);
  EXPECT_EQ(last_done, 400);
  EXPECT_EQ(counts().waiting, 800);
  Runs runs;
  Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(worker.wait(60s));
  EXPECT_EQ(runs.size(), 800U);
  for (const auto& id : old) EXPECT_EQ(runs.times(id), 0) << id;
}

TEST_F(Clean, OfDelayedAndPrioritizedOnesByTheirAdd) {
  const auto delayed = add_many(3, {.delay = 1h});
  const auto placed = add_many(3, {.priority = 4});
  age_add({delayed.at(1), placed.at(0), placed.at(2)}, 2 * kHour);
  EXPECT_EQ(queue.clean(JobState::delayed, 1h).value().done, 1);
  EXPECT_EQ(queue.clean(JobState::prioritized, 1h, {.limit = 1}).value().done, 1);
  EXPECT_EQ(error_of(queue.job(placed.at(0))).code, ErrorCode::not_found);
  EXPECT_EQ(queue.clean(JobState::prioritized, 1h).value().done, 1);
  EXPECT_EQ(counts().delayed, 2);
  EXPECT_EQ(counts().prioritized, 1);
}

// Young ones that come in front of the old ones meanwhile do not make it end before it has seen
// those.
TEST_F(Clean, SeesTheOldOnesThoughYoungOnesComeInFrontOfThem) {
  const auto old = add_many(600);
  age_add(old, 2 * kHour);
  std::this_thread::sleep_for(20ms);
  bool first = true;
  const auto report = queue
                          .clean(JobState::waiting, 1h,
                                 {.on_progress =
                                      [&](const BulkProgress&) {
                                        if (first) add_many(1'000, {.lifo = true});
                                        first = false;
                                        return true;
                                      }})
                          .value();
  EXPECT_EQ(report.done, 600);
  EXPECT_EQ(counts().waiting, 1'000);
}

TEST_F(Clean, GoesAtMostToTheLimitTheOldestFirst) {
  const auto ids = add_many(600);
  work_off();
  const auto listed = queue.jobs(JobState::completed, {.limit = 256}).value().jobs;
  EXPECT_EQ(queue.clean(JobState::completed, 0ms, {.limit = 256}).value().done, 256);
  EXPECT_EQ(counts().completed, 344);
  for (const auto& job : listed)
    EXPECT_EQ(error_of(queue.job(job.id)).code, ErrorCode::not_found) << job.id;
}

// 10,000 failed jobs, retried while they are cleaned: each is either removed or runs once more,
// none both.
TEST_F(Clean, JobsThatAreRetriedMeanwhileAreLeftAlone) {
  constexpr std::size_t kJobs = 10'000;
  add(std::vector<std::string>(kJobs, "bad"));
  work_off();
  ASSERT_EQ(counts().failed, static_cast<std::int64_t>(kJobs));
  auto other = another();
  Queue<> theirs(other, name);
  std::int64_t retried = 0;
  std::thread retrier([&] { retried = theirs.retry_all().value().done; });
  const auto report = queue.clean(JobState::failed, 0ms).value();
  retrier.join();
  EXPECT_EQ(report.done + retried, static_cast<std::int64_t>(kJobs));
  EXPECT_EQ(counts().waiting, retried);
  EXPECT_EQ(counts().failed, 0);
}

TEST_F(Clean, BadInputIsRefused) {
  ASSERT_TRUE(queue.open());
  const auto running = error_of(queue.clean(JobState::active, 1h));
  EXPECT_EQ(running.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*running.field("value"), "active");
  const auto negative = error_of(queue.clean(JobState::failed, -1ms));
  EXPECT_EQ(negative.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*negative.field("value"), "-1");
  EXPECT_EQ(*negative.field("option"), "older_than");
  EXPECT_EQ(error_of(queue.clean(JobState::failed, kMaxKeepAge + 1ms)).code,
            ErrorCode::invalid_argument);
  const auto limit = error_of(queue.clean(JobState::failed, 1h, {.limit = -7}));
  EXPECT_EQ(*limit.field("value"), "-7");
  Queue<> nobody(client, unique_queue("nobody"));
  EXPECT_EQ(error_of(nobody.clean(JobState::failed, 1h)).code, ErrorCode::not_found);
}

class Drain : public Housekeeping {};

TEST_F(Drain, RemovesWhatWaitsAndNothingElse) {
  add({"bad", "good"});
  work_off();
  add_many(700);
  add_many(300, {.priority = 2});
  add_many(300, {.delay = 1h});
  EXPECT_EQ(queue.drain({}, {.dry_run = true}).value().done, 1'000);
  EXPECT_EQ(queue.drain({.delayed = true}, {.dry_run = true}).value().done, 1'300);
  std::vector<std::int64_t> totals;
  const auto report = queue
                          .drain({}, {.on_progress =
                                          [&](const BulkProgress& now) {
                                            totals.push_back(now.total);
                                            return true;
                                          }})
                          .value();
  EXPECT_EQ(report.done, 1'000);
  EXPECT_EQ(totals, std::vector<std::int64_t>(5, 1'000));
  auto left = counts();
  EXPECT_EQ(left.waiting + left.prioritized, 0);
  EXPECT_EQ(left.delayed, 300);
  EXPECT_EQ(left.completed + left.failed, 2);
  EXPECT_EQ(queue.drain({.delayed = true}).value().done, 300);
  EXPECT_EQ(counts().delayed, 0);
}

TEST_F(Drain, GoesAtMostToTheLimit) {
  add_many(5);
  add_many(5, {.priority = 2});
  EXPECT_EQ(queue.drain({}, {.limit = 7}).value().done, 7);
  EXPECT_EQ(counts().waiting, 0);
  EXPECT_EQ(counts().prioritized, 3);
  const auto limit = error_of(queue.drain({}, {.limit = -1}));
  EXPECT_EQ(limit.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*limit.field("value"), "-1");
}

TEST_F(Drain, StopsWhenItIsToldTo) {
  add_many(600);
  add_many(600, {.priority = 2});
  const auto report =
      queue.drain({}, {.on_progress = [](const BulkProgress&) { return false; }}).value();
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.done, 256);
  EXPECT_EQ(counts().prioritized, 600);
}

// Running jobs go on, ids may be added again at once, and jobs are either drained or run, never
// both.
TEST_F(Drain, BesideWorkersAndProducers) {
  constexpr int kJobs = 10'000;
  std::vector<NewJob<>> jobs;
  for (int i = 0; i < kJobs; ++i) jobs.push_back({"old", {.id = "job-" + std::to_string(i)}});
  ASSERT_TRUE(queue.add_bulk(jobs));
  Runs runs;
  Worker worker{queue, {.concurrency = 20, .keep_completed = Keep::all()}, [&](Job<>& job) {
                  runs.note(job.id());
                }};
  std::atomic<bool> enough{false};
  int added = 0;
  std::thread producer([&] {
    while (!enough) {
      EXPECT_TRUE(queue.add("new", {.id = "new-" + std::to_string(added)}));
      ++added;
    }
  });
  std::int64_t drained = 0;
  while (drained + static_cast<std::int64_t>(runs.size()) < kJobs)
    drained += queue.drain().value().done;
  enough = true;
  producer.join();
  drained += queue.drain().value().done;
  ASSERT_TRUE(eventually([&] { return counts().waiting + counts().active == 0; }, 20s));
  EXPECT_EQ(drained + static_cast<std::int64_t>(runs.size()), kJobs + added);
  for (const auto& [id, times] : runs.times()) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(queue.remove_all(JobState::completed).value().done,
            static_cast<std::int64_t>(runs.size()));
  const auto again = queue.add_bulk(jobs).value();
  for (const auto& result : again) EXPECT_TRUE(result);
}

class SweepTrash : public Housekeeping {
 protected:
  // As a worker leaves jobs that is killed before it has deleted them, some with a log.
  std::vector<std::string> leave(std::size_t count) {
    const auto ids = add_many(count);
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1})
      EXPECT_TRUE(queue.log(ids.at(i), "a line"));
    std::vector<std::string> words{"SADD", key_of(Structure::trash)};
    words.insert(words.end(), ids.begin(), ids.end());
    redis({"DEL", key_of(Structure::wait)});
    redis(words);
    return ids;
  }
};

TEST_F(SweepTrash, DeletesWhatNoWorkerHas) {
  const auto ids = leave(700);
  const auto kept = queue.add("kept").value();
  EXPECT_EQ(queue.sweep_trash({.dry_run = true}).value().done, 700);
  EXPECT_EQ(redis({"SCARD", key_of(Structure::trash)}).integer, 700);
  std::int64_t last = 0;
  const auto report = queue
                          .sweep_trash({.on_progress =
                                            [&](const BulkProgress& now) {
                                              EXPECT_EQ(now.total, 700);
                                              EXPECT_GT(now.done, last);
                                              EXPECT_LE(now.done - last, 128);
                                              last = now.done;
                                              return true;
                                            }})
                          .value();
  EXPECT_EQ(report.done, 700);
  EXPECT_EQ(report.skipped, 0);
  for (const auto& id : ids)
    EXPECT_EQ(redis({"EXISTS", job_key(name, id), job_key(name, id, Sub::logs)}).integer, 0) << id;
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::trash), key_of(Structure::subkeys)}).integer, 0);
  EXPECT_EQ(info(kept).data, "kept");
  EXPECT_EQ(queue.sweep_trash().value().done, 0);
}

TEST_F(SweepTrash, StopsWhereItIsToldToAndIsGoneOnWith) {
  leave(300);
  EXPECT_EQ(queue.sweep_trash({.limit = 10}).value().done, 10);
  const auto stopped =
      queue.sweep_trash({.on_progress = [](const BulkProgress&) { return false; }}).value();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_GT(stopped.done, 0);
  EXPECT_LE(stopped.done, 128);
  EXPECT_EQ(queue.sweep_trash().value().done, 290 - stopped.done);
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::trash)}).integer, 0);
}

// Both may sweep at once: each job is deleted by one of them.
TEST_F(SweepTrash, BesideAWorkerThatFillsIt) {
  constexpr std::int64_t kJobs = 5'000;
  const JobOptions dropped{.keep_completed = Keep{10, std::chrono::seconds(0)}};
  const auto ids = add_many(kJobs, dropped);
  Worker worker{queue, {.concurrency = 20}, [](Job<>&) {}};
  while (counts().active + counts().waiting > 0) ASSERT_TRUE(queue.sweep_trash());
  ASSERT_TRUE(eventually([&] { return redis({"SCARD", key_of(Structure::trash)}).integer == 0; }));
  int left = 0;
  for (const auto& id : ids) left += static_cast<int>(redis({"EXISTS", job_key(name, id)}).integer);
  EXPECT_EQ(left, 10);
  EXPECT_EQ(counts().completed, 10);
}

TEST_F(SweepTrash, BadInputIsRefused) {
  EXPECT_EQ(error_of(queue.sweep_trash()).code, ErrorCode::not_found);
  ASSERT_TRUE(queue.open());
  const auto refused = error_of(queue.sweep_trash({.limit = -1}));
  EXPECT_EQ(refused.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*refused.field("value"), "-1");
}

class Obliterate : public Housekeeping {
 protected:
  // Something in each state but active, with logs, and something in trash.
  void fill() {
    std::vector<std::string> data(300, "good");
    data.insert(data.end(), 300, "bad");
    const auto ended = add(data);
    work_off();
    const auto dropped = queue.add("dropped", {.keep_completed = Keep::none()}).value();
    ASSERT_TRUE(queue.log(dropped, "a line"));
    {
      // Its end leaves it to trash, since it has a log; and its worker is gone before the next
      // sweep.
      Worker worker{queue, {.stop_when_empty = true}, [](Job<>&) {}};
      ASSERT_TRUE(worker.wait(20s));
    }
    redis({"SADD", key_of(Structure::trash), "left-over"});
    redis({"SADD", key_of(Structure::subkeys), "left-over"});
    redis({"HSET", job_key(name, "left-over"), "head", "1:3:job"});
    redis({"RPUSH", job_key(name, "left-over", Sub::logs), "a line"});
    // A job whose hash was deleted by hand, but not its log.
    redis({"SADD", key_of(Structure::subkeys), "torn"});
    redis({"RPUSH", job_key(name, "torn", Sub::logs), "a line"});
    // What no script of this revision writes yet.
    redis({"HSET", job_key(name, "parent"), "head", "1:3:job"});
    redis({"SADD", job_key(name, "parent", Sub::dependencies), "child"});
    redis({"ZADD", key_of(Structure::waiting_children), "1", "parent"});
    redis({"HSET", key_of(Structure::limiter), "window", "1"});
    redis({"HSET", key_of(Structure::de), "a", "b"});
    add_many(600, {.delay = 1h});
    add_many(300, {.priority = 3});
    const auto waiting = add_many(1'600);
    for (const auto& id : {ended.at(0), ended.at(599), waiting.at(0)})
      ASSERT_TRUE(queue.log(id, "a line"));
    ASSERT_TRUE(
        queue.remove(std::vector<std::string>(waiting.begin() + 700, waiting.begin() + 800)));
    ASSERT_TRUE(queue.emit_event("noon"));
  }
  static constexpr std::int64_t kFilled = 600 + 1 + 600 + 300 + 1'500;
};

// B10
TEST_F(Obliterate, B10_NothingIsLeftButTheSentinelsAndTheMeta) {
  fill();
  EXPECT_EQ(queue.obliterate({.dry_run = true}).value().done, kFilled);
  EXPECT_FALSE(counts().paused);
  std::int64_t last = 0;
  const auto report = queue
                          .obliterate({.on_progress =
                                           [&](const BulkProgress& now) {
                                             EXPECT_EQ(now.total, kFilled);
                                             EXPECT_GE(now.done, last);
                                             last = now.done;
                                             return true;
                                           }})
                          .value();
  EXPECT_EQ(report.done, kFilled);
  EXPECT_EQ(last, kFilled);
  EXPECT_EQ(keys_left(), "active id meta repeat");
  EXPECT_EQ(redis({"ZCARD", key_of(Structure::active)}).integer, 1);
  EXPECT_EQ(redis({"HGET", key_of(Structure::meta), "version"}).text, "echomq:2.0.0");
  EXPECT_FALSE(counts().paused);
  add({"good"});
  work_off();
  EXPECT_EQ(counts().completed, 1);
}

TEST_F(Obliterate, B10_WithAllNothingIsLeftAtAll) {
  fill();
  EXPECT_NE(redis({"ZSCORE", reserve_key(Reserve::queues), name}).text, "");
  EXPECT_EQ(queue.obliterate({.all = true}).value().done, kFilled);
  EXPECT_EQ(keys_left(), "");
  EXPECT_TRUE(redis({"ZSCORE", reserve_key(Reserve::queues), name}).is_null());
  EXPECT_EQ(error_of(queue.counts()).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.obliterate({.all = true})).code, ErrorCode::not_found);
  // An add makes it anew.
  ASSERT_TRUE(queue.add("again", {.id = "job-1"}));
  EXPECT_EQ(counts().waiting, 1);
}

// Between the end of the queue and that of its entry in the list of queues.
TEST_F(Obliterate, WithAllTakesAwayTheEntryThatAnInterruptionLeft) {
  redis({"ZADD", reserve_key(Reserve::queues), "1", name});
  EXPECT_EQ(error_of(queue.obliterate()).code, ErrorCode::not_found);
  EXPECT_EQ(queue.obliterate({.all = true}).value().done, 0);
  EXPECT_TRUE(redis({"ZSCORE", reserve_key(Reserve::queues), name}).is_null());
  EXPECT_EQ(error_of(queue.obliterate({.all = true})).code, ErrorCode::not_found);
}

TEST_F(Obliterate, IsRefusedWhileJobsRunAndLeavesTheQueueAsItWas) {
  add_many(3);
  Gate gate;
  Worker worker{queue, {.concurrency = 2}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  const auto refused = error_of(queue.obliterate());
  EXPECT_EQ(refused.code, ErrorCode::wrong_state);
  EXPECT_EQ(*refused.field("value"), "2");
  EXPECT_FALSE(counts().paused);
  EXPECT_EQ(counts().waiting, 1);
  gate.open();
  EXPECT_TRUE(eventually([&] { return counts().completed == 3; }, 20s));
}

TEST_F(Obliterate, ForcedRemovesRunningJobsUnderTheirWorkers) {
  const auto ids = add_many(3);
  Gate gate;
  Runs runs;
  Worker worker{queue, {.concurrency = 2}, [&](Job<>& job) {
                  if (job.data() == "after") return runs.note(job.id());
                  gate.pass();
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  EXPECT_EQ(queue.obliterate({.force = true}).value().done, 3);
  EXPECT_EQ(keys_left(), "active id meta repeat");
  gate.open();
  // What the workers tell of those jobs is refused, and makes nothing.
  ASSERT_TRUE(queue.add("after"));
  ASSERT_TRUE(eventually([&] { return runs.size() == 1 && counts().completed == 1; }, 20s));
  for (const auto& id : ids) EXPECT_EQ(error_of(queue.job(id)).code, ErrorCode::not_found);
  EXPECT_EQ(counts().completed + counts().failed, 1);
}

// A worker that is still there makes the queue again, and goes on.
TEST_F(Obliterate, WithAllUnderAWorker) {
  add_many(1);
  Runs runs;
  Worker worker{queue, {.poll = 100ms}, [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(eventually([&] { return counts().completed == 1; }, 20s));
  ASSERT_TRUE(queue.obliterate({.all = true}));
  ASSERT_TRUE(queue.add("after"));
  EXPECT_TRUE(eventually([&] { return runs.times("after") == 1; }, 20s));
}

TEST_F(Obliterate, StoppedItLeavesThePausedQueueToAnotherCall) {
  fill();
  const auto stopped =
      queue.obliterate({.on_progress = [](const BulkProgress&) { return false; }}).value();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_LT(stopped.done, kFilled);
  EXPECT_TRUE(counts().paused);
  EXPECT_EQ(stopped.done + queue.obliterate().value().done, kFilled);
  EXPECT_EQ(keys_left(), "active id meta repeat");
}

TEST_F(Obliterate, BesideAProducerItEndsOrSaysWhy) {
  add_many(2'000);
  std::atomic<bool> enough{false};
  std::thread producer([&] {
    auto other = another();
    Queue<> theirs(other, name);
    for (int i = 0; !enough; ++i) {
      EXPECT_TRUE(theirs.add("new", {.id = "new-" + std::to_string(i)}));
      std::this_thread::sleep_for(200us);
    }
  });
  const auto report = queue.obliterate();
  enough = true;
  producer.join();
  if (!report) {
    EXPECT_EQ(report.error().code, ErrorCode::wrong_state) << report.error().detail;
    EXPECT_TRUE(counts().paused);
  }
  EXPECT_TRUE(queue.obliterate());
  EXPECT_EQ(keys_left(), "active id meta repeat");
}

TEST_F(Obliterate, AnEmptyQueueAndNone) {
  ASSERT_TRUE(queue.open());
  EXPECT_EQ(queue.obliterate().value().done, 0);
  EXPECT_EQ(keys_left(), "active id meta repeat");
  Queue<> nobody(client, unique_queue("nobody"));
  EXPECT_EQ(error_of(nobody.obliterate()).code, ErrorCode::not_found);
  Queue<> bad(client, "two words");
  EXPECT_EQ(error_of(bad.obliterate()).code, ErrorCode::invalid_name);
}

}  // namespace
}  // namespace echomq::test
