// SPDX-License-Identifier: MIT
// Adding jobs and looking at them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Add : public LibraryTest {};

TEST_F(Add, NameInBracesIsTheSameQueue) {
  Queue<> braced{client, "{" + name + "}"};
  ASSERT_TRUE(braced.add("x"));
  EXPECT_EQ(braced.name(), name);
  EXPECT_EQ(counts().waiting, 1);
}

// The script takes a flush number that it has seen for a repetition; numbers that began anew with
// each handle made it answer adds that it had never applied.
TEST_F(Add, HandlesMadeAnewInOneClientLoseNothing) {
  for (int time = 0; time < 20; ++time) {
    Queue<> fresh(client, time % 2 == 0 ? name : "{" + name + "}");
    ASSERT_TRUE(fresh.add("job " + std::to_string(time)));
  }
  EXPECT_EQ(counts().waiting, 20);
}

TEST_F(Add, IsReadBackAsItWasGiven) {
  const std::string data("bytes \0 and \xff", 14);
  const auto begun = client.server_time_ms();
  const auto id = queue
                      .add(data, {.attempts = 5,
                                  .backoff = Backoff::exponential(250ms, 0.25),
                                  .priority = 7,
                                  .name = "caf\xc3\xa9",
                                  .keep_completed = Keep{3, 60s},
                                  .keep_failed = Keep::none()})
                      .value();
  const auto job = info(id);
  EXPECT_EQ(job.queue, name);
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.name, "caf\xc3\xa9");
  EXPECT_EQ(job.data, data);
  EXPECT_EQ(job.state, JobState::prioritized);
  EXPECT_EQ(job.options.attempts, 5U);
  EXPECT_EQ(job.options.backoff.kind, Backoff::Kind::exponential);
  EXPECT_EQ(job.options.backoff.delay, 250ms);
  EXPECT_EQ(job.options.backoff.jitter, 0.25);
  EXPECT_EQ(job.options.priority, 7U);
  ASSERT_TRUE(job.options.keep_completed);
  EXPECT_EQ(job.options.keep_completed->count, 3);
  EXPECT_EQ(job.options.keep_completed->age, 60s);
  ASSERT_TRUE(job.options.keep_failed);
  EXPECT_EQ(job.options.keep_failed->count, 0);
  EXPECT_GE(job.added_ms, begun - 50);  // the server's time is an estimate, and gets better
  EXPECT_EQ(job.attempts_made, 0U);
  EXPECT_EQ(job.attempts_started, 0U);
  EXPECT_EQ(job.crashes, 0U);
  EXPECT_EQ(job.finished_ms, 0);
  EXPECT_FALSE(job.result);
}

TEST_F(Add, CountsByState) {
  add_many(3);
  add_many(2, {.priority = 9});
  add_many(4, {.delay = 1h});
  add_many(1, {.lifo = true});
  const auto got = counts();
  EXPECT_EQ(got.waiting, 4);
  EXPECT_EQ(got.prioritized, 2);
  EXPECT_EQ(got.delayed, 4);
  EXPECT_EQ(got.active + got.completed + got.failed + got.waiting_children, 0);
  EXPECT_FALSE(got.paused);
}

TEST_F(Add, DelayedJobKnowsItsTime) {
  const auto before = client.server_time_ms();
  const auto job = info(queue.add("later", {.delay = 1h}).value());
  EXPECT_EQ(job.state, JobState::delayed);
  EXPECT_EQ(job.options.delay, 1h);
  EXPECT_EQ(job.due_ms, job.added_ms + 3'600'000);
  EXPECT_GE(job.due_ms, before + 3'600'000);
}

TEST_F(Add, DuplicateCustomIdIsLeftAsItIs) {
  EXPECT_EQ(queue.add("first", {.id = "invoice-42"}).value(), "invoice-42");
  const auto before = dump_queue(redis, name);
  const auto again = queue.add("second", {.id = "invoice-42"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::duplicate) << again.error().message();
  EXPECT_EQ(*again.error().field("value"), "invoice-42");
  auto after = dump_queue(redis, name);
  // Only the record of the flush that was answered may differ.
  after[key_of(Structure::producers)] = before.at(key_of(Structure::producers));
  EXPECT_EQ(difference(before, after), "");
  EXPECT_EQ(info("invoice-42").data, "first");
}

TEST_F(Add, BulkAnswersDuplicatesOneByOne) {
  ASSERT_TRUE(queue.add("first", {.id = "b"}));
  const auto results =
      queue.add_bulk({{"1", {.id = "a"}}, {"2", {.id = "b"}}, {"3", {}}, {"4", {.id = "a"}}})
          .value();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].value(), "a");
  EXPECT_EQ(error_of(results[1]).code, ErrorCode::duplicate);
  EXPECT_TRUE(is_minted_id(results[2].value()));
  EXPECT_EQ(error_of(results[3]).code, ErrorCode::duplicate);
  EXPECT_EQ(counts().waiting, 3);
  EXPECT_EQ(info("a").data, "1");
}

TEST_F(Add, B48_BeyondTheLengthOfTheQueueAddsAreRefused) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_max_length(2));
  EXPECT_EQ(queue.limits().value().max_length, 2);
  const auto some = queue.add_bulk({{"1", {}}, {"2", {.delay = 1h}}, {"3", {}}}).value();
  EXPECT_TRUE(some[0]);
  EXPECT_TRUE(some[1]);
  EXPECT_EQ(error_of(some[2]).code, ErrorCode::queue_full);
  EXPECT_EQ(error_of(queue.add("4", {.deduplication = Deduplication::simple("D")})).code,
            ErrorCode::queue_full);
  EXPECT_EQ(counts().waiting + counts().delayed, 2);
  {
    Worker worker{queue, {}, [](Job<>&) {}};
    EXPECT_TRUE(eventually([&] { return counts().completed == 1; }));
    EXPECT_TRUE(queue.add("5")) << "what was worked has left its place";
  }
  ASSERT_TRUE(queue.clear_max_length());
  EXPECT_EQ(queue.limits().value().max_length, std::nullopt);
  EXPECT_TRUE(queue.add("6"));
  EXPECT_EQ(error_of(queue.set_max_length(0)).code, ErrorCode::invalid_argument);
}

TEST_F(Add, BulkOfNothing) {
  EXPECT_TRUE(queue.add_bulk({}).value().empty());
  EXPECT_FALSE(redis({"EXISTS", key_of(Structure::meta)}).integer);
}

// Over the batch limits of jobs and of bytes, with large jobs between small ones.
TEST_F(Add, BulkKeepsItsOrder) {
  std::vector<echomq::NewJob<>> jobs;
  for (int i = 0; i < 1'500; ++i)
    jobs.push_back({std::to_string(i) + std::string(i % 100 == 99 ? 300'000 : 20, ' '), {}});
  const auto results = queue.add_bulk(jobs).value();
  std::vector<std::string> ids;
  for (const auto& result : results) ids.push_back(result.value());
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), jobs.size());
  EXPECT_EQ(texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"})), ids);
  for (const std::size_t i : {0U, 99U, 100U, 1'499U}) EXPECT_EQ(info(ids[i]).data, jobs[i].data);
}

TEST_F(Add, CallbacksComeOnceEach) {
  constexpr int kJobs = 2'000;
  std::mutex mutex;
  std::multiset<std::string> ids;
  std::atomic<int> answered{0};
  for (int i = 0; i < kJobs; ++i)
    queue.async_add("x", {}, [&](const Result<AddedJob>& id) {
      {
        const std::lock_guard lock(mutex);
        ids.insert(id ? *id : id.error().message());
      }
      ++answered;
    });
  ASSERT_TRUE(eventually([&] { return answered == kJobs; }));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(counts().waiting, kJobs);
}

TEST_F(Add, ManyThreadsAtOnce) {
  constexpr int kThreads = 64;
  constexpr int kEach = 50;
  std::vector<std::vector<std::string>> ids(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : ids)
    threads.emplace_back([this, &mine] {
      for (int i = 0; i < kEach; ++i) {
        auto id = queue.add("x");
        mine.push_back(id ? *id : id.error().message());
      }
    });
  for (auto& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& mine : ids)
    for (const auto& id : mine) {
      EXPECT_TRUE(is_minted_id(id)) << id;
      all.insert(id);
    }
  EXPECT_EQ(all.size(), std::size_t{kThreads} * kEach);
  const auto waiting = texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"}));
  EXPECT_EQ(std::set<std::string>(waiting.begin(), waiting.end()), all);
}

TEST_F(Add, LookingMakesNoQueue) {
  const auto counted = queue.counts();
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, ErrorCode::not_found) << counted.error().message();
  EXPECT_EQ(*counted.error().field("queue"), name);
  const auto looked = queue.job("nobody");
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, ErrorCode::not_found) << looked.error().message();
  EXPECT_EQ(difference({}, dump_queue(redis, name)), "");
  EXPECT_TRUE(redis({"ZSCORE", reserve_key(Reserve::queues), name}).is_null());
}

TEST_F(Add, JobThatIsNotThere) {
  ASSERT_TRUE(queue.open());
  for (const std::string id : {"nobody", "274557032793636864"}) {
    const auto got = queue.job(id);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::not_found) << got.error().message();
    EXPECT_EQ(*got.error().field("value"), id);
  }
}

class AddOnAServerOfItsOwn : public OwnServerTest {};

TEST_F(AddOnAServerOfItsOwn, AfterFlushallTheNextAddOpensTheQueueAnew) {
  ASSERT_TRUE(queue.add("lost with the rest"));
  redis({"FLUSHALL"});
  const auto id = queue.add("first of the new");
  ASSERT_TRUE(id) << id.error().message();
  EXPECT_EQ(counts().waiting, 1);
  EXPECT_EQ(info(*id).data, "first of the new");
  EXPECT_EQ(redis({"HGET", key_of(Structure::meta), "version"}).text, "echomq:2.0.0");
  EXPECT_EQ(redis({"GET", key_of(Structure::id)}).text, "echomq:2.0.0");
}

// A full server refuses adds before anything changed, and takes them again when there is room.
TEST_F(AddOnAServerOfItsOwn, FullServerRefusesAdds) {
  ASSERT_TRUE(queue.add("fits"));
  const auto before = dump_queue(redis, name);
  redis({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = queue.add("does not");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::full) << refused.error().message();
  EXPECT_EQ(counts().waiting, 1) << "looking still works";
  EXPECT_EQ(difference(before, dump_queue(redis, name)), "");
  Queue<> fresh{client, name + ".fresh"};
  EXPECT_EQ(error_of(fresh.open()).code, ErrorCode::full);
  redis({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(queue.add("does again"));
}

TEST_F(AddOnAServerOfItsOwn, ServerGoneAndBack) {
  ASSERT_TRUE(queue.add("before"));
  server.kill9();
  auto hasty = options();
  hasty.connect_timeout = 200ms;
  EXPECT_EQ(error_of(connect(server.url(), hasty)).code, ErrorCode::unavailable);
  auto pending = queue.async_add("meanwhile");
  server.start();
  const auto id = pending.get();
  ASSERT_TRUE(id) << id.error().message();
  RawClient again = server.connect();
  EXPECT_EQ(texts(again({"LRANGE", key_of(Structure::wait), "0", "-1"})),
            std::vector<std::string>{*id});
}

// Nobody comes back within the deadline: the add was never sent, and says so.
TEST_F(AddOnAServerOfItsOwn, ServerGoneForGood) {
  auto hasty = options();
  hasty.command_timeout = 300ms;
  auto hurried = connect(server.url(), hasty).value();
  Queue<> q{hurried, name};
  ASSERT_TRUE(q.add("before"));
  server.kill9();
  const auto got = q.add("after");
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().code == ErrorCode::unavailable || got.error().unknown_outcome())
      << got.error().message();
  ASSERT_FALSE(q.add("later"));
  EXPECT_EQ(error_of(q.add("later")).code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace echomq::test
