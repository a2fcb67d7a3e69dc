// SPDX-License-Identifier: MIT
// drain(): everything that is ready, on the calling thread, as a worker would do it; with a clock
// that jumps what is due later too; and an end whatever a handler does.
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/testing/letter.h"
#include "live/testing/served.h"
#include "support/runs.h"

namespace echomq_test {
namespace {

using echomq::Backoff;
using echomq::Queue;

class TestDrain : public Served {
 protected:
  Queue<> queue{client(), "queue"};
  std::vector<std::string> ran;
  std::function<void(Job<>&)> noting = [this](Job<>& job) { ran.push_back(job.data()); };
};

TEST_F(TestDrain, RunsWhatIsReadyOnTheCallingThread) {
  queue.add_bulk({{"b", {.priority = 2}}, {"c", {.priority = 9}}, {"a", {}}}).value();
  const auto here = std::this_thread::get_id();
  const auto report = mqt::drain(queue, [&](Job<>& job) {
                        EXPECT_EQ(std::this_thread::get_id(), here);
                        ran.push_back(job.data());
                        return "result of " + job.data();
                      }).value();
  EXPECT_EQ(ran, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(report.runs, 3U);
  EXPECT_EQ(report.completed, 3U);
  EXPECT_EQ(report.failed + report.retried + report.put_off + report.refused, 0U);
  EXPECT_EQ(report.left.completed, 3);
  for (const auto& job : queue.jobs(JobState::completed, {.data = true}).value().jobs)
    EXPECT_EQ(job.result, "result of " + job.data);
}

TEST_F(TestDrain, AnEmptyQueueIsDoneAtOnce) {
  EXPECT_EQ(mqt::drain(queue, noting).value().runs, 0U);
  EXPECT_EQ(mqt::drain(queue, noting, {.with_delayed = true}).value().runs, 0U);
}

TEST_F(TestDrain, RunsWhatTheHandlerAdds) {
  queue.add("3").value();
  mqt::drain(queue, [&](Job<>& job) {
    ran.push_back(job.data());
    const int rest = std::stoi(job.data()) - 1;
    if (rest > 0) queue.add(std::to_string(rest)).value();
  }).value();
  EXPECT_EQ(ran, (std::vector<std::string>{"3", "2", "1"}));
}

TEST_F(TestDrain, LeavesWhatIsNotDueUnlessToldToGoOn) {
  queue.add_bulk({{"soon", {.delay = 10min}}, {"later", {.delay = 3h}}, {"now", {}}}).value();
  EXPECT_EQ(mqt::drain(queue, noting).value().left.delayed, 2);
  EXPECT_EQ(ran, std::vector<std::string>{"now"});
  const auto within = mqt::drain(queue, noting, {.with_delayed = true, .horizon = 1h}).value();
  EXPECT_EQ(ran, (std::vector<std::string>{"now", "soon"}));
  EXPECT_EQ(within.left.delayed, 1);
  EXPECT_LE(within.jumped, 10min);
  EXPECT_GT(within.jumped, 9min);
  const auto all = mqt::drain(queue, noting, {.with_delayed = true}).value();
  EXPECT_EQ(ran.back(), "later");
  EXPECT_LE(all.jumped, 3h);
  EXPECT_EQ(all.left.delayed, 0);
}

TEST_F(TestDrain, RetriesWithTheirBackoffsInNoTime) {
  const auto id = queue.add("x", {.attempts = 5, .backoff = Backoff::exponential(1h)}).value();
  const auto report = mqt::drain(queue,
                                 [](Job<>& job) {
                                   if (job.attempt() < 5) throw std::runtime_error("not yet");
                                 },
                                 {.with_delayed = true})
                          .value();
  EXPECT_EQ(report.runs, 5U);
  EXPECT_EQ(report.retried, 4U);
  EXPECT_EQ(report.completed, 1U);
  EXPECT_GT(report.jumped, 14h);
  EXPECT_LE(report.jumped, 15h);
  ASSERT_EQ(report.failures.size(), 4U);
  EXPECT_EQ(report.failures[3].id, id);
  EXPECT_EQ(report.failures[3].attempt, 4U);
  EXPECT_EQ(report.failures[3].reason, "not yet");
  EXPECT_FALSE(report.failures[3].final);
  EXPECT_EQ(queue.job(id).value().attempts_made, 5U);
}

TEST_F(TestDrain, TellsWhyJobsFailed) {
  Queue<Letter> letters{client(), "letters"};
  letters.add({"ada", 1}, {.name = "send"}).value();
  letters.add({"bob", 2}, {.attempts = 3}).value();
  letters.add({"cyd", 3}, {.attempts = 2}).value();
  letters.raw().add(R"({"to":"dan"})", {.attempts = 9}).value();
  const auto handler = [](Job<Letter>& job) -> Outcome {
    if (job.data().copies == 1) throw std::runtime_error("no stamps");
    if (job.data().copies == 2) return Outcome::unrecoverable("gone away");
    return Outcome::fail("no answer");
  };
  const auto report = mqt::drain(letters, handler).value();
  EXPECT_EQ(report.completed, 0U);
  EXPECT_EQ(report.failed, 4U);
  EXPECT_EQ(report.retried, 1U);
  std::vector<std::string> reasons;
  for (const auto& failure : report.failures)
    if (failure.final) reasons.push_back(failure.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"no stamps", "gone away",
                                               "decode: /copies is missing", "no answer"}));
  EXPECT_EQ(report.failures[0].name, "send");
}

TEST_F(TestDrain, AJobThatIsTriedForEverIsNamed) {
  queue.add("good").value();
  const auto id =
      queue.add("bad", {.attempts = 1'000'000, .backoff = Backoff::fixed(1s), .name = "poll"})
          .value();
  const auto handler = [](Job<>& job) -> Outcome {
    return job.data() == "good" ? Outcome::done() : Outcome::fail("still nothing");
  };
  const auto error =
      error_of(mqt::drain(queue, handler, {.with_delayed = true, .max_runs_per_job = 7}));
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_EQ(error.detail, "job " + id +
                              " (\"poll\") of \"queue\" has run 7 times and is to run "
                              "again: still nothing");
  EXPECT_EQ(*error.field("value"), id);
  const auto job = queue.job(id).value();
  EXPECT_EQ(job.state, JobState::delayed);
  EXPECT_EQ(job.attempts_started, 7U) << "no claim was made in vain";
  EXPECT_EQ(queue.counts().value().completed, 1);

  const auto put_off = error_of(mqt::drain(
      queue, [](Job<>&) { return Outcome::retry_in(0ms, "busy"); }, {.with_delayed = true}));
  EXPECT_EQ(*put_off.field("value"), id);
  EXPECT_EQ(*put_off.field("reason"), "busy");
}

TEST_F(TestDrain, EndsAtItsDeadlineAndTellsTheHandler) {
  queue.add_bulk({{"a", {}}, {"b", {}}}).value();
  const auto handler = [&](Job<>& job) {
    ran.push_back(job.data());
    EXPECT_TRUE(eventually([&] { return job.stop_token().stop_requested(); }));
  };
  const auto error = error_of(mqt::drain(queue, handler, {.deadline = 50ms}));
  EXPECT_EQ(error.code, ErrorCode::timeout);
  EXPECT_NE(error.detail.find("after 1 runs"), std::string::npos) << error.detail;
  EXPECT_EQ(ran.size(), 1U);
  EXPECT_EQ(queue.counts().value().waiting, 1);
  EXPECT_EQ(queue.counts().value().completed, 1);
}

TEST_F(TestDrain, LimitsOfTheQueueHold) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(echomq::RateLimit::window(1, 1h)));
  queue.add_bulk({{"a", {}}, {"b", {}}, {"c", {}}}).value();
  const auto one = mqt::drain(queue, noting).value();
  EXPECT_EQ(one.completed, 1U);
  EXPECT_EQ(one.left.waiting, 2);
  const auto rest = mqt::drain(queue, noting, {.with_delayed = true}).value();
  EXPECT_EQ(rest.completed, 2U);
  EXPECT_GT(rest.jumped, 1h);

  bool held = false;
  queue.clear_rate_limit().value();
  queue.add("d").value();
  const auto handler = [&](Job<>&) {
    return std::exchange(held, true) ? Outcome::done() : Outcome::rate_limited(30min);
  };
  const auto after = mqt::drain(queue, handler, {.with_delayed = true}).value();
  EXPECT_EQ(after.put_off, 1U);
  EXPECT_EQ(after.completed, 1U);
  EXPECT_GT(after.jumped, 29min);
}

TEST_F(TestDrain, APausedQueueGivesNothing) {
  queue.add("x").value();
  queue.pause().value();
  const auto report = mqt::drain(queue, noting, {.with_delayed = true}).value();
  EXPECT_EQ(report.runs, 0U);
  EXPECT_TRUE(report.left.paused);
  EXPECT_EQ(report.left.waiting, 1);
}

TEST_F(TestDrain, UsesTheWorkersOptions) {
  queue.add_bulk({{"a", {}}, {"b", {}}}).value();
  echomq::WorkerOptions worker{.keep_completed = echomq::Keep::none(), .name = "tester"};
  worker.middleware.emplace_back([&](echomq::RawJob& job, const echomq::RawHandler& next) {
    ran.push_back("around " + std::string(job.bytes()));
    if (job.bytes() == "b") throw std::runtime_error("not this one");
    return next(job);
  });
  const auto report = mqt::drain(queue, noting, {.worker = worker}).value();
  EXPECT_EQ(ran, (std::vector<std::string>{"around a", "a", "around b"}));
  EXPECT_EQ(report.completed, 1U);
  EXPECT_EQ(report.left.completed, 0);
  EXPECT_EQ(queue.job(report.failures.at(0).id).value().worker, "tester");
}

TEST_F(TestDrain, WaitsForWhatOtherWorkersRun) {
  echomq::test::Gate gate;
  echomq::Worker other{queue, {}, [&](Job<>&) { gate.pass(); }};
  queue.add("theirs").value();
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  other.pause();
  queue.add("ours").value();
  const auto report = mqt::drain(queue, [&](Job<>& job) {
                        ran.push_back(job.data());
                        gate.open();
                      }).value();
  EXPECT_EQ(ran, std::vector<std::string>{"ours"});
  EXPECT_EQ(report.left.completed, 2);
}

TEST_F(TestDrain, AResultThatIsTooLateIsCounted) {
  queue.add("x").value();
  const auto report = mqt::drain(queue, [&](Job<>&) {
                        queue.obliterate({.force = true}).value();
                        queue.resume().value();
                      }).value();
  EXPECT_EQ(report.refused, 1U);
  EXPECT_EQ(report.completed, 0U);
}

TEST_F(TestDrain, RefusesWhatItCannotDo) {
  const auto code = [&](const mqt::DrainSettings& how) {
    return error_of(mqt::drain(queue, noting, how)).code;
  };
  EXPECT_EQ(code({.horizon = -1ms}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.deadline = 0ms}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.max_runs_per_job = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.worker = {.lease = 1s}}), ErrorCode::invalid_argument);
  Queue<> bad{client(), "no name"};
  EXPECT_EQ(error_of(mqt::drain(bad, noting)).code, ErrorCode::invalid_name);
  std::promise<ErrorCode> on_io_thread;
  queue.async_add(
      "x", {}, [&](const echomq::Result<echomq::AddedJob>&) { on_io_thread.set_value(code({})); });
  EXPECT_EQ(on_io_thread.get_future().get(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace echomq_test
