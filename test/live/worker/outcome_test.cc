// SPDX-License-Identifier: MIT
// How an attempt ends, by everything that a handler may do, and what is stored of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "job/encode.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Outcomes : public LibraryTest {
 protected:
  template <class Handler>
  WorkerStats drain(Handler handler, std::vector<Middleware> middleware = {}) {
    WorkerOptions how;
    how.middleware = std::move(middleware);
    how.stop_when_empty = true;
    how.name = "clerk";
    Worker worker{queue, how, std::move(handler)};
    EXPECT_TRUE(worker.wait(20s));
    EXPECT_TRUE(worker.status());
    return worker.stats();
  }
};

TEST_F(Outcomes, WhatIsStoredOfASuccess) {
  const auto before = client.server_time_ms();
  const auto id = queue.add("x").value();
  const auto stats = drain([](Job<>&) { return std::string("the result"); });
  const auto after = client.server_time_ms();
  EXPECT_EQ(stats.completed, 1U);
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.result, "the result");
  EXPECT_EQ(job.worker, "clerk");
  EXPECT_EQ(job.attempts_made, 1U);
  EXPECT_EQ(job.attempts_started, 1U);
  EXPECT_EQ(job.crashes, 0U);
  EXPECT_LE(before, job.processed_ms + 5);
  EXPECT_LE(job.processed_ms, job.finished_ms);
  EXPECT_LE(job.finished_ms, after + 5);
}

TEST_F(Outcomes, EveryFormOfReturning) {
  const auto value_of = [this](auto handler) {
    const auto id = queue.add("x").value();
    drain(std::move(handler));
    const auto job = info(id);
    return std::string(echomq::name(job.state)) + " " +
           (job.result ? *job.result : job.failed_reason);
  };
  EXPECT_EQ(value_of([](Job<>&) {}), "completed ");
  EXPECT_EQ(value_of([](Job<>&) { return "literal"; }), "completed literal");
  EXPECT_EQ(value_of([](Job<>&) { return std::string("text"); }), "completed text");
  EXPECT_EQ(value_of([](Job<>&) { return Outcome::done("outcome"); }), "completed outcome");
  EXPECT_EQ(value_of([](Job<>&) { return Result<void>(); }), "completed ");
  EXPECT_EQ(value_of([](Job<>&) { return Result<std::string>("inside"); }), "completed inside");
  EXPECT_EQ(value_of([](Job<>&) -> Result<void> {
              return Error{ErrorCode::not_found, "no cat", {}};
            }),
            "failed not_found: no cat");
  EXPECT_EQ(value_of([](Job<>&) -> Result<std::string> {
              return Error{ErrorCode::timeout, "slow cat", {}};
            }),
            "failed timeout: slow cat");
  EXPECT_EQ(value_of([](Job<>&) { return Outcome::fail("on purpose"); }), "failed on purpose");
  EXPECT_EQ(value_of([](Job<>&) -> void { throw std::runtime_error("thrown"); }), "failed thrown");
  EXPECT_EQ(value_of([](Job<>&) -> void { throw 42; }),
            "failed the handler threw something that is not a std::exception");
}

TEST_F(Outcomes, AttemptsWithFixedBackoff) {
  const auto id = queue.add("x", {.attempts = 3, .backoff = Backoff::fixed(150ms)}).value();
  std::vector<std::int64_t> starts;
  const auto stats = drain([&](Job<>& job) {
    EXPECT_EQ(job.attempt(), starts.size() + 1);
    EXPECT_EQ(job.attempts_allowed(), 3U);
    starts.push_back(client.server_time_ms());
    throw std::runtime_error("attempt " + std::to_string(job.attempt()));
  });
  EXPECT_EQ(stats.retried, 2U);
  EXPECT_EQ(stats.failed, 1U);
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_GE(starts[1] - starts[0], 149);
  EXPECT_GE(starts[2] - starts[1], 149);
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.failed_reason, "attempt 3");
  EXPECT_EQ(job.attempts_made, 3U);
  EXPECT_EQ(job.attempts_started, 3U);
}

TEST_F(Outcomes, SecondAttemptMaySucceed) {
  const auto id = queue.add("x", {.attempts = 5}).value();
  const auto stats = drain([](Job<>& job) {
    return job.attempt() == 1 ? Outcome::fail("not yet") : Outcome::done("at last");
  });
  EXPECT_EQ(stats.retried, 1U);
  EXPECT_EQ(stats.completed, 1U);
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.result, "at last");
  EXPECT_EQ(job.attempts_made, 2U);
}

TEST_F(Outcomes, RetryInSpendsNoAttempt) {
  const auto id = queue.add("x", {.attempts = 1}).value();
  std::vector<std::int64_t> starts;
  drain([&](Job<>& job) {
    EXPECT_EQ(job.attempt(), 1U);
    starts.push_back(client.server_time_ms());
    return starts.size() < 4 ? Outcome::retry_in(100ms, "busy") : Outcome::done();
  });
  ASSERT_EQ(starts.size(), 4U);
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_GE(starts[i] - starts[i - 1], 99);
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.attempts_made, 1U);
  EXPECT_EQ(job.attempts_started, 4U);
}

// A handler of several steps notes how far it came.
TEST_F(Outcomes, TheNextRunIsGivenTheDataThatTheLastOneLeft) {
  const auto id = queue.add("0").value();
  std::vector<std::string> given;
  drain([&](Job<>& job) {
    given.push_back(job.data());
    if (job.data() == "2") return Outcome::done();
    EXPECT_TRUE(job.update_data(std::to_string(given.size())));
    EXPECT_EQ(job.data(), given.back()) << "this run keeps what it has";
    return Outcome::retry_in(0ms, "the next step");
  });
  EXPECT_EQ(given, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(info(id).data, "2");
}

TEST_F(Outcomes, DataOverTheLimitIsRefusedAndTheRunGoesOn) {
  const auto id = queue.add("x").value();
  drain([&](Job<>& job) {
    const std::string large(ClientOptions{}.data_limit + 1, 'x');
    EXPECT_EQ(error_of(job.update_data(large)).code, ErrorCode::too_large);
  });
  EXPECT_EQ(info(id).data, "x");
  EXPECT_EQ(info(id).state, JobState::completed);
}

TEST_F(Outcomes, FailWithADelayBeatsTheBackoff) {
  const auto id = queue.add("x", {.attempts = 2, .backoff = Backoff::fixed(1h)}).value();
  std::vector<std::int64_t> starts;
  drain([&](Job<>&) {
    starts.push_back(client.server_time_ms());
    return Outcome::fail("again soon", 100ms);
  });
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_GE(starts[1] - starts[0], 99);
  EXPECT_EQ(info(id).state, JobState::failed);
  EXPECT_EQ(info(id).attempts_made, 2U) << "it spends attempts, unlike retry_in";
}

TEST_F(Outcomes, ReasonTellsTheChainOfCauses) {
  const auto id = queue.add("x").value();
  drain([](Job<>&) {
    try {
      try {
        throw std::runtime_error("connection refused");
      } catch (...) {
        std::throw_with_nested(std::runtime_error("no invoice 7"));
      }
    } catch (...) {
      std::throw_with_nested(std::runtime_error("mail not sent"));
    }
  });
  EXPECT_EQ(info(id).failed_reason,
            "mail not sent; caused by: no invoice 7; caused by: connection refused");
}

TEST_F(Outcomes, EndlessChainOfCausesIsCut) {
  const auto id = queue.add("x").value();
  drain([](Job<>&) {
    std::function<void(int)> fail = [&](int depth) {
      try {
        if (depth == 0) throw 42;
        fail(depth - 1);
      } catch (...) {
        std::throw_with_nested(std::runtime_error(std::to_string(depth)));
      }
    };
    fail(100);
  });
  const auto reason = info(id).failed_reason;
  EXPECT_EQ(reason.rfind("100; caused by: 99; caused by: 98", 0), 0U) << reason;
  EXPECT_EQ(reason.substr(reason.size() - 3), " 84") << reason;
}

TEST_F(Outcomes, MiddlewareStandsAroundTheHandlerTheFirstOutermost) {
  const auto id = queue.add("x").value();
  std::string order;
  const auto noting = [&order](const std::string& letter) -> Middleware {
    return [&order, letter](RawJob& job, const RawHandler& next) {
      order += letter + "(";
      auto outcome = next(job);
      order += ")" + letter;
      return outcome;
    };
  };
  drain(
      [&](Job<>&) {
        order += "run";
        return std::string("result");
      },
      {noting("a"), noting("b")});
  EXPECT_EQ(order, "a(b(run)b)a");
  EXPECT_EQ(info(id).result, "result");
}

TEST_F(Outcomes, MiddlewareGivesABackoffOfOnesOwn) {
  const auto id = queue.add("x", {.attempts = 3, .backoff = Backoff::fixed(1h)}).value();
  std::vector<std::int64_t> starts;
  drain(
      [&](Job<>&) -> void {
        starts.push_back(client.server_time_ms());
        throw std::runtime_error("no");
      },
      {[](RawJob& job, const RawHandler& next) {
        const auto outcome = next(job);
        EXPECT_EQ(outcome.text(), "no") << "a throw is an outcome by now";
        EXPECT_EQ(outcome.delay(), std::nullopt);
        return Outcome::fail(outcome.text(), job.attempt() * 50ms);
      }});
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_GE(starts[1] - starts[0], 49);
  EXPECT_GE(starts[2] - starts[1], 99);
  EXPECT_EQ(info(id).failed_reason, "no");
}

TEST_F(Outcomes, MiddlewareMayRefuseAJobAndMayThrow) {
  const auto refused = queue.add("refused").value();
  const auto thrown = queue.add("thrown").value();
  Runs runs;
  drain([&](Job<>& job) { runs.note(job.id()); }, {[](RawJob& job, const RawHandler&) -> Outcome {
          if (job.bytes() == "refused") return Outcome::unrecoverable("not on this machine");
          throw std::runtime_error("no trace");
        }});
  EXPECT_EQ(runs.size(), 0U);
  EXPECT_EQ(info(refused).failed_reason, "not on this machine");
  EXPECT_EQ(info(thrown).failed_reason, "no trace");
}

TEST_F(Outcomes, UnrecoverableLeavesTheOtherAttempts) {
  const auto id = queue.add("x", {.attempts = 5}).value();
  Runs runs;
  drain([&](Job<>& job) {
    runs.note(job.id());
    return Outcome::unrecoverable("no such customer");
  });
  EXPECT_EQ(runs.size(), 1U);
  EXPECT_EQ(info(id).state, JobState::failed);
  EXPECT_EQ(info(id).failed_reason, "no such customer");
  EXPECT_EQ(info(id).attempts_made, 1U);
}

TEST_F(Outcomes, ResultAtItsLimitAndOverIt) {
  const auto fits = queue.add(std::to_string(kMaxResultBytes)).value();
  const auto over = queue.add(std::to_string(kMaxResultBytes + 1), {.attempts = 3}).value();
  Runs runs;
  drain([&](Job<>& job) {
    runs.note(job.id());
    return std::string(std::stoul(job.data()), 'r');
  });
  EXPECT_EQ(info(fits).state, JobState::completed);
  EXPECT_EQ(info(fits).result, std::string(kMaxResultBytes, 'r'));
  EXPECT_EQ(info(over).state, JobState::failed);
  EXPECT_EQ(info(over).failed_reason.rfind("too_large: ", 0), 0U) << info(over).failed_reason;
  EXPECT_EQ(runs.times(over), 1) << "a second attempt would only fail again";
}

TEST_F(Outcomes, LongReasonIsCutBetweenCharacters) {
  std::string reason = "x";
  while (reason.size() < 3 * kMaxReasonBytes) reason += "\xc3\xa9";  // é
  const auto id = queue.add("x").value();
  drain([&](Job<>&) { return Outcome::fail(reason); });
  const auto stored = info(id).failed_reason;
  EXPECT_LE(stored.size(), kMaxReasonBytes);
  EXPECT_GE(stored.size(), kMaxReasonBytes - 3);
  EXPECT_TRUE(job::is_utf8(stored));
  EXPECT_EQ(stored, reason.substr(0, stored.size()));
}

TEST_F(Outcomes, ReasonsMayHoldAnyBytes) {
  const auto id = queue.add("x").value();
  const std::string reason("\0\r\n\xff", 4);
  drain([&](Job<>&) { return Outcome::fail(reason); });
  EXPECT_EQ(info(id).failed_reason, reason);
}

TEST_F(Outcomes, ProgressIsSeenByOthers) {
  const auto id = queue.add("x").value();
  std::atomic<bool> seen{false};
  Worker worker{queue, {}, [&](Job<>& job) {
                  for (const std::string value : {"10", "20", "50 %"})
                    EXPECT_TRUE(job.progress(value));
                  const auto refused = job.progress(std::string(kMaxReasonBytes + 1, 'p'));
                  EXPECT_EQ(error_of(refused).code, ErrorCode::too_large);
                  EXPECT_TRUE(eventually([&] { return seen.load(); }));
                }};
  EXPECT_TRUE(eventually([&] { return info(id).progress == "50 %"; })) << info(id).progress;
  EXPECT_EQ(info(id).state, JobState::active);
  seen = true;
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_EQ(info(id).progress, "50 %");
}

// Long before its lease would be renewed.
TEST_F(Outcomes, ProgressOfARunThatLostItsLeaseIsRefusedAndTellsTheRun) {
  const auto id = queue.add("x").value();
  std::atomic<bool> running{false};
  std::atomic<bool> taken{false};
  Worker worker{queue, {.lease = 10min}, [&](Job<>& job) {
                  running = true;
                  EXPECT_TRUE(eventually([&] { return taken.load(); }));
                  EXPECT_TRUE(job.progress("of the first"));
                  EXPECT_TRUE(eventually([&] { return job.lease_lost(); }));
                  EXPECT_EQ(error_of(job.progress("again")).code, ErrorCode::stale);
                  EXPECT_EQ(error_of(job.update_data("again")).code, ErrorCode::stale);
                }};
  ASSERT_TRUE(eventually([&] { return running.load(); }));
  worker.pause();
  redis({"ZREM", key_of(Structure::active), id});
  redis({"RPUSH", key_of(Structure::wait), id});
  auto other = another();
  Queue<> theirs{other, name};
  Consumer<> heir{theirs};
  auto job = heir.fetch(20s).value();
  ASSERT_TRUE(job);
  taken = true;
  ASSERT_TRUE(eventually([&] { return worker.stats().refused == 1; }));
  EXPECT_EQ(info(id).progress, "");
  EXPECT_EQ(info(id).data, "x");
  ASSERT_TRUE(job->job().progress("of the heir"));
  EXPECT_TRUE(eventually([&] { return info(id).progress == "of the heir"; }));
  EXPECT_TRUE(job->complete());
}

// A hash that somebody deleted by hand is no job: nothing runs, and the others do.
TEST_F(Outcomes, B48_AJobThatExpiredIsNotRun) {
  const auto stale = queue.add("stale", {.attempts = 5, .expires_in = 1ms}).value();
  const auto fresh = queue.add("fresh", {.expires_in = 1h}).value();
  const auto added_ms = info(stale).added_ms;
  ASSERT_TRUE(eventually([&] {
    const auto time = texts(redis({"TIME"}));
    return std::stoll(time.at(0)) * 1'000 + std::stoll(time.at(1)) / 1'000 > added_ms + 10;
  }));
  std::vector<std::string> ran;
  const auto stats = drain([&](Job<>& job) { ran.push_back(job.data()); });
  EXPECT_EQ(ran, std::vector<std::string>{"fresh"});
  EXPECT_EQ(stats.failed, 1U);
  EXPECT_EQ(info(fresh).state, JobState::completed);
  const auto expired = info(stale);
  EXPECT_EQ(expired.state, JobState::failed);
  EXPECT_EQ(expired.failed_reason.substr(0, 9), "expired: ") << expired.failed_reason;
  EXPECT_EQ(expired.attempts_made, 0U);
  EXPECT_EQ(expired.options.expires_in, 1ms);
}

TEST_F(Outcomes, JobDeletedByHand) {
  const auto ids = add_many(3);
  redis({"DEL", job_key(name, ids[1])});
  Runs runs;
  drain([&](Job<>& job) { runs.note(job.id()); });
  EXPECT_EQ(runs.all(), (std::vector<std::string>{ids[0], ids[2]}));
  EXPECT_EQ(counts().active, 0);
  EXPECT_EQ(counts().completed, 2);
}

TEST_F(Outcomes, JobDeletedWhileItRuns) {
  const auto id = queue.add("x").value();
  const auto stats = drain([&](Job<>& job) {
    auto own = server.connect();
    own({"DEL", job_key(name, job.id())});
  });
  EXPECT_EQ(stats.refused, 1U);
  EXPECT_EQ(stats.completed, 0U);
  EXPECT_EQ(error_of(queue.job(id)).code, ErrorCode::not_found);
  EXPECT_EQ(counts().active, 0);
  EXPECT_EQ(counts().completed, 0);
}

}  // namespace
}  // namespace echomq::test
