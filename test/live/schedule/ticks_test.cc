// SPDX-License-Identifier: MIT
// Workers make the jobs of schedulers: at their times, each once, whoever lives and whatever the
// clocks say. The poll is a minute unless a test says otherwise, so that nothing but the marks can
// be what woke them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/client_core.h"
#include "support/fleet.h"
#include "support/library_test.h"
#include "support/monitor.h"
#include "support/runs.h"
#include "support/sanitizer.h"
#include "support/wanted.h"
#include "wire/command.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// The client's clock is that much ahead from now on.
void set_ahead(const Client& client, std::chrono::milliseconds ahead) {
  const auto& core = client.core();
  core->wait_for<bool>([&](Function<void(Result<bool>)> done) {
        core->jump(ahead);
        done(true);
      })
      .value();
}

class Ticks : public LibraryTest {
 protected:
  static WorkerOptions patient(unsigned concurrency = 4) {
    return {.concurrency = concurrency, .keep_completed = Keep::all(), .poll = 60s};
  }
  auto noting() {
    return [this](Job<>& job) { runs.note(job.id()); };
  }
  SchedulerInfo get(const std::string& id) { return schedulers.get(id).value(); }
  bool mark_is_taken() { return redis({"ZSCORE", key_of(Structure::marker), "3"}).is_null(); }
  // scheduler -> its ticks that ran, rising.
  std::map<std::string, std::vector<std::int64_t>> ticks() const {
    std::map<std::string, std::vector<std::int64_t>> all;
    for (const auto& id : runs.all()) {
      const auto tick = scheduled_tick(id);
      all[tick->scheduler].push_back(tick->tick_ms);
    }
    for (auto& [id, times] : all) std::sort(times.begin(), times.end());
    return all;
  }
  void expect_each_once() const {
    for (const auto& [id, times] : runs.times()) EXPECT_EQ(times, 1) << id;
  }

  Schedulers<> schedulers{queue};
  Runs runs;
};

TEST_F(Ticks, AreMadeAtTheirTimesUpToTheLimit) {
  ASSERT_TRUE(queue.open());
  Worker worker{queue, patient(), [this](Job<>& job) {
                  EXPECT_GE(client.server_time_ms(), scheduled_tick(job.id())->tick_ms);
                  EXPECT_EQ(job.data(), "payload");
                  EXPECT_EQ(job.name(), "report");
                  EXPECT_EQ(job.attempts_allowed(), 3U);
                  runs.note(job.id());
                }};
  JobOptions options;
  options.name = "report";
  options.attempts = 3;
  schedulers
      .upsert("a", {.when = Every{200ms}, .limit = 4, .immediately = true}, {"payload", options})
      .value();
  ASSERT_TRUE(eventually([&] { return runs.size() == 4; }, 20s)) << runs.size();
  const auto times = ticks()["a"];
  EXPECT_EQ(times[2] - times[1], 200);
  EXPECT_EQ(times[3] - times[2], 200);
  EXPECT_EQ(times[1] % 200, 0);
  EXPECT_LT(times[1] - times[0], 201) << "the first one was at once";
  EXPECT_TRUE(eventually([&] { return get("a").next_ms == 0; }));
  const auto info = get("a");
  EXPECT_EQ(info.made, 4U);
  EXPECT_EQ(info.last_ms, times[3]);
  EXPECT_EQ(info.last_job, "a." + std::to_string(times[3]));
  EXPECT_FALSE(schedulers.upsert("a", info.schedule, {"payload", options}).value().changed)
      << "it does not begin again";
  EXPECT_TRUE(eventually([&] { return counts().completed == 4; }));
  EXPECT_EQ(redis({"ZCARD", key_of(Structure::schedules)}).integer, 1);
}

TEST_F(Ticks, OfCronPatternsToo) {
  ASSERT_TRUE(queue.open());
  Worker worker{queue, patient(), noting()};
  schedulers.upsert("a", {.when = Cron{"* * * * * *", "Europe/Berlin"}, .limit = 2}).value();
  ASSERT_TRUE(eventually([&] { return runs.size() == 2; }, 20s));
  const auto times = ticks()["a"];
  EXPECT_EQ(times[0] % 1'000, 0);
  EXPECT_EQ(times[1] - times[0], 1'000);
}

TEST_F(Ticks, AreMadeWhileTheQueueIsPaused) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.pause());
  Worker worker{queue, patient(), noting()};
  schedulers.upsert("a", {.when = Every{100ms}, .limit = 3}).value();
  ASSERT_TRUE(eventually([&] { return counts().waiting == 3; }, 20s));
  EXPECT_EQ(runs.size(), 0U);
  ASSERT_TRUE(queue.resume());
  EXPECT_TRUE(eventually([&] { return runs.size() == 3; }, 20s));
}

TEST_F(Ticks, AConsumerMakesThemAsAWorkerDoes) {
  ASSERT_TRUE(queue.open());
  Consumer<> consumer{queue, {}};
  schedulers.upsert("a", {.when = Every{1h}, .immediately = true}).value();
  auto fetched = consumer.fetch(20s).value();
  ASSERT_TRUE(fetched);
  EXPECT_EQ(scheduled_tick(fetched->job().id())->scheduler, "a");
  EXPECT_TRUE(fetched->complete());
}

TEST_F(Ticks, PausedSchedulersMakeNone) {
  ASSERT_TRUE(queue.open());
  Worker worker{queue, patient(), noting()};
  schedulers.upsert("a", {.when = Every{50ms}}).value();
  ASSERT_TRUE(eventually([&] { return runs.size() >= 2; }, 20s));
  ASSERT_TRUE(schedulers.pause("a"));
  const auto made = get("a").made;
  EXPECT_FALSE(eventually([&] { return get("a").made != made; }, 300ms));
  const auto next = schedulers.resume("a").value();
  EXPECT_GT(next, get("a").last_ms);
  ASSERT_TRUE(eventually([&] { return get("a").made >= made + 2; }, 20s));
  ASSERT_TRUE(schedulers.remove("a"));
  expect_each_once();
}

TEST_F(Ticks, AreSkippedWhileTheLastJobRuns) {
  ASSERT_TRUE(queue.open());
  Gate gate;
  Worker worker{queue, patient(), [&](Job<>& job) {
                  runs.note(job.id());
                  if (runs.size() == 1) gate.pass();
                }};
  schedulers.upsert("a", {.when = Every{50ms}, .overlap = Overlap::skip}).value();
  ASSERT_TRUE(eventually([&] { return get("a").skipped >= 3; }, 20s));
  EXPECT_EQ(get("a").made, 1U);
  EXPECT_EQ(runs.size(), 1U);
  gate.open();
  EXPECT_TRUE(eventually([&] { return runs.size() >= 3; }, 20s));
  ASSERT_TRUE(schedulers.remove("a"));
}

TEST_F(Ticks, B16_TheJobsOfARemovedOneAreJobsAsAnyOthers) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.pause());
  Worker worker{queue, patient(), noting()};
  schedulers.upsert("a", {.when = Every{50ms}, .limit = 4}).value();
  ASSERT_TRUE(eventually([&] { return counts().waiting == 4; }, 20s));
  ASSERT_TRUE(schedulers.remove("a"));
  const auto page = queue.jobs(JobState::waiting).value();
  ASSERT_EQ(page.jobs.size(), 4U);
  EXPECT_TRUE(queue.remove(page.jobs[0].id));
  EXPECT_EQ(queue.remove_all(JobState::waiting).value().done, 3);
  EXPECT_EQ(counts().waiting, 0);
}

// No job of a scheduler is let off for being one.
TEST_F(Ticks, B14_AJobThatCrashesTooOftenFails) {
  Fleet fleet{server.url(), name};
  schedulers.upsert("a", {.when = Every{1h}, .limit = 1, .immediately = true}, {"abort"}).value();
  ChildProcess* worker = nullptr;
  bool removed = false;
  const auto failed = [&] {
    if (worker == nullptr || worker->ended())
      worker = &fleet.start({"lease=2000", "max_crashes=1", "poll=200"});
    if (!removed && get("a").made == 1) removed = schedulers.remove("a").ok();
    return counts().failed == 1;
  };
  ASSERT_TRUE(eventually(failed, 40s)) << fleet.output();
  const auto page = queue.jobs(JobState::failed).value();
  ASSERT_EQ(page.jobs.size(), 1U);
  EXPECT_EQ(page.jobs[0].crashes, 2U);
  EXPECT_TRUE(removed);
}

// --- who keeps the time

TEST_F(Ticks, TheNextWorkerKeepsTheTimeOfOneThatStops) {
  ASSERT_TRUE(queue.open());
  auto first = std::make_unique<Worker>(queue, patient(), noting());
  schedulers.upsert("a", {.when = Every{1s}, .limit = 3}).value();
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
  auto other = another();
  Queue<> theirs{other, name};
  Worker second{theirs, patient(), noting()};
  ASSERT_TRUE(first->stop(10s));
  first.reset();
  EXPECT_TRUE(eventually([&] { return runs.size() == 3; }, 20s)) << runs.size();
}

TEST_F(Ticks, APausedWorkerHandsTheTimeOver) {
  ASSERT_TRUE(queue.open());
  Worker first{queue, patient(), noting()};
  schedulers.upsert("a", {.when = Every{1s}, .limit = 3}).value();
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
  auto other = another();
  Queue<> theirs{other, name};
  Worker second{theirs, patient(), noting()};
  first.pause();
  EXPECT_TRUE(eventually([&] { return runs.size() == 3; }, 20s)) << runs.size();
}

// A keeper that was killed, or a mark that somebody deleted.
TEST_F(Ticks, ALostMarkCostsNoMoreThanAPoll) {
  ASSERT_TRUE(queue.open());
  schedulers.upsert("a", {.when = Every{1h}, .immediately = true}).value();
  redis({"DEL", key_of(Structure::marker)});
  auto how = patient();
  Worker worker{queue, how, noting()};
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, 20s)) << "a new worker looks";
  ASSERT_TRUE(worker.stop(10s));
  how.poll = 300ms;
  Worker looking{queue, how, noting()};
  schedulers.upsert("b", {.when = Every{400ms}, .limit = 2}).value();
  ASSERT_TRUE(eventually([&] { return get("b").made == 1; }, 20s));
  schedulers.upsert("c", {.when = Every{1h}}).value();
  ASSERT_TRUE(eventually([&] { return mark_is_taken() && get("b").made == 2; }, 20s));
  // As if a keeper had taken the mark with it.
  redis({"ZADD", key_of(Structure::schedules), "1000", "c"});
  EXPECT_TRUE(eventually([&] { return get("c").made == 1; }, 20s));
}

TEST_F(Ticks, AnEarlierTickOverridesTheTimeOfALaterOne) {
  ASSERT_TRUE(queue.open());
  Worker worker{queue, patient(), noting()};
  schedulers.upsert("later", {.when = Every{24h}}).value();
  ASSERT_TRUE(eventually([&] { return mark_is_taken(); }, 20s));
  schedulers.upsert("soon", {.when = Every{200ms}, .limit = 2}).value();
  EXPECT_TRUE(eventually([&] { return runs.size() == 2; }, 20s));
}

// Their zones may be of newer zone files than ours: they are left to other workers, and hold up
// nothing.
TEST_F(Ticks, ThoseThatNobodyHereCanFireHoldUpNoOthers) {
  ASSERT_TRUE(queue.open());
  constexpr int kUnknown = 300;  // more than are looked at together
  for (int i = 0; i < kUnknown; ++i) {
    const auto id = "u" + std::to_string(i);
    redis({"HSET", named_key(name, "schedule", id), "def",
           "0:0:0:0:once:1:allow:cron:Moon/Tranquility:* * * * *", "shape", "0:0:3:job", "data",
           ""});
    redis({"ZADD", key_of(Structure::schedules), "1000", id});
  }
  schedulers.upsert("a", {.when = Every{200ms}, .limit = 3}).value();
  Monitor monitor(server);
  Worker worker{queue, patient(), noting()};
  ASSERT_TRUE(eventually([&] { return runs.size() == 3; }, 20s)) << runs.size();
  EXPECT_TRUE(log.says("scheduler \"u299\" of \"" + name + "\" cannot be fired here"));
  EXPECT_TRUE(log.says("Moon/Tranquility"));
  EXPECT_EQ(redis({"ZCOUNT", key_of(Structure::schedules), "1000", "1000"}).integer, kUnknown);
  // They are not asked about all the time either.
  monitor.take(redis);
  std::this_thread::sleep_for(500ms);
  const auto lines = monitor.take(redis);
  EXPECT_LT(std::count_if(lines.begin(), lines.end(),
                          [&](const auto& line) {
                            return std::find(line.words.begin(), line.words.end(),
                                             key_of(Structure::schedules)) != line.words.end();
                          }),
            5);
}

// --- nobody makes a tick twice

TEST_F(Ticks, B12_ProducersThatSayItAgainAndAgainAndTwoWorkers) {
  ASSERT_TRUE(queue.open());
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(another());
  set_ahead(clients[1], 700ms);
  set_ahead(clients[3], 1'300ms);
  std::vector<std::unique_ptr<Queue<>>> queues;
  for (auto& one : clients) queues.push_back(std::make_unique<Queue<>>(one, name));
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 2; ++i)
    workers.push_back(
        std::make_unique<Worker>(*queues[static_cast<std::size_t>(i)], patient(), noting()));
  std::atomic<bool> stop{false};
  std::vector<std::thread> producers;
  for (std::size_t i = 2; i < 4; ++i)
    producers.emplace_back([&, i] {
      Schedulers<> theirs{*queues[i]};
      // The two do not agree about the template, and now and then about the schedule.
      for (int round = 0; !stop; ++round) {
        const bool other = i == 3 && round % 7 == 0;
        (void)theirs.upsert("a", {.when = Every{other ? 300ms : 200ms}, .immediately = true},
                            {std::to_string(i)});
        std::this_thread::sleep_for(10ms);
      }
    });
  EXPECT_FALSE(eventually(
      [&] {
        const auto pending = queue.jobs(JobState::waiting).value().jobs;
        std::set<std::string> ids;
        for (const auto& job : pending) ids.insert(job.id);
        return ids.size() != pending.size();
      },
      long_forms_wanted() ? 60s : 8s));
  stop = true;
  for (auto& producer : producers) producer.join();
  for (auto& worker : workers) EXPECT_TRUE(worker->stop(10s));
  EXPECT_GT(runs.size(), 20U);
  expect_each_once();
  EXPECT_EQ(schedulers.count().value(), 1);
}

// Clocks ten minutes apart: whoever is ahead makes ticks early, nobody makes one again.
TEST_F(Ticks, P15_TwentySchedulersWithClocksApartAndRandomPauses) {
  ASSERT_TRUE(queue.open());
  constexpr int kSchedulers = 20;
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(another());
  set_ahead(clients[1], 5min);
  set_ahead(clients[2], 10min);
  std::vector<std::unique_ptr<Queue<>>> queues;
  std::vector<std::unique_ptr<Worker>> workers;
  for (auto& one : clients) {
    queues.push_back(std::make_unique<Queue<>>(one, name));
    auto how = patient(8);
    how.poll = 500ms;
    workers.push_back(std::make_unique<Worker>(*queues.back(), how, noting()));
  }
  for (int i = 0; i < kSchedulers; ++i)
    schedulers.upsert("s" + std::to_string(i), {.when = Every{10s}, .missed = Missed::run_all()})
        .value();
  std::minstd_rand random(7);
  const auto end = std::chrono::steady_clock::now() + 6s;
  while (std::chrono::steady_clock::now() < end) {
    const auto who = random() % 3;
    Schedulers<> theirs{*queues[random() % 3]};
    const auto id =
        "s" + std::to_string(random() % (kSchedulers / 2));  // the others are left alone
    switch (random() % 4) {
      case 0: ASSERT_TRUE(theirs.pause(id)); break;
      case 1: ASSERT_TRUE(theirs.resume(id)); break;
      case 2: workers[who]->pause(); break;
      default: workers[who]->resume(); break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
  }
  for (auto& worker : workers) worker->resume();
  for (int i = 0; i < kSchedulers; ++i) ASSERT_TRUE(schedulers.pause("s" + std::to_string(i)));
  ASSERT_TRUE(eventually([&] { return counts().waiting + counts().active == 0; }, 20s));
  for (auto& worker : workers) EXPECT_TRUE(worker->stop(10s));
  expect_each_once();
  const auto all = ticks();
  for (int i = kSchedulers / 2; i < kSchedulers; ++i) {
    const auto id = "s" + std::to_string(i);
    ASSERT_TRUE(all.contains(id));
    const auto& times = all.at(id);
    EXPECT_GE(times.size(), 59U) << id << ": the clock that is ahead makes ten minutes' ticks";
    for (std::size_t k = 1; k < times.size(); ++k) EXPECT_EQ(times[k] - times[k - 1], 10'000) << id;
  }
}

// --- what it costs

class TicksAndIdle : public OwnServerTest {
 protected:
  Schedulers<> schedulers{queue};
};

// A worker looks once when it begins, and then with its sweep: nothing else knows of schedulers.
TEST_F(TicksAndIdle, AQueueWithoutSchedulersCostsNoMore) {
  ASSERT_TRUE(queue.open());
  Monitor monitor(server);
  {
    Worker worker{queue, WorkerOptions{.concurrency = 20}, [](Job<>&) {}};
    add_many(1'000);
    ASSERT_TRUE(eventually([&] { return counts().completed == 1'000; }, 20s));
  }
  const auto lines = monitor.take(redis);
  const auto concerned = std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
    const bool opens = line.words.size() > 20;  // queue/open declares all structures
    return !opens && std::find(line.words.begin(), line.words.end(),
                               key_of(Structure::schedules)) != line.words.end();
  });
  EXPECT_LE(concerned, 1);
}

// The bound of the machine that all of this is measured on.
TEST_F(TicksAndIdle, AHundredThousandDueInOneSecondStartWithinTen) {
  if (kSanitized) GTEST_SKIP() << "what is timed is the plain build";
  if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  constexpr int kSchedulers = 100'000;
  ASSERT_TRUE(queue.open());
  const auto due = std::to_string(client.server_time_ms() - 500);
  std::string bytes;
  for (int i = 0; i < kSchedulers; ++i) {
    const auto id = "s" + std::to_string(i);
    wire::append_command(
        bytes, {"HSET", named_key(name, "schedule", id), "def",
                "0:0:0:0:once:1:allow:every:86400000:0", "shape", "0:0:3:job", "data", "{}"});
    wire::append_command(bytes, {"ZADD", key_of(Structure::schedules), due, id});
    if (i % 1'000 != 999) continue;
    redis.send(bytes);
    bytes.clear();
    for (int k = 0; k < 2'000; ++k) ASSERT_FALSE(redis.receive().is_error());
  }
  std::atomic<int> started{0};
  const auto begin = std::chrono::steady_clock::now();
  Worker worker{queue, WorkerOptions{.concurrency = 100, .keep_completed = Keep::none()},
                [&](Job<>&) { ++started; }};
  EXPECT_TRUE(eventually([&] { return started == kSchedulers; }, 30s)) << started;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  std::printf("%d schedulers fired and their jobs started in %lld ms\n", kSchedulers,
              static_cast<long long>(took.count()));
  EXPECT_LT(took, 10s);
}

}  // namespace
}  // namespace echomq::test
