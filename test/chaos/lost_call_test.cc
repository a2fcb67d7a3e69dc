// SPDX-License-Identifier: MIT
// Answers that are lost on their way to a program that manages a queue, at each script that such a
// call sends. The header says what holds then: the call may have been applied or not, it says so,
// and saying it again does no harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "chaos.h"
#include "echomq/fence.h"
#include "echomq/schedule.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// A program far away, and what it has to do with.
struct Program {
  Client client;
  Queue<> queue;
  Schedulers<> schedulers;
};

template <class T>
Result<void> done(Result<T> result) {
  if (!result) return result.error();
  return {};
}

struct LostCall {
  const char* script;
  std::function<Result<void>(Program&)> act;
  // What is so after it was said twice, by the test's own client.
  std::function<bool(Queue<>&)> holds;
  // What the second saying may answer where the first was applied.
  std::optional<ErrorCode> again = std::nullopt;
  friend std::ostream& operator<<(std::ostream& out, const LostCall& call) {
    return out << call.script;
  }
};

bool anything(Queue<>&) { return true; }

JobState state_of(Queue<>& queue, std::string_view id) { return queue.job(id).value_or({}).state; }

const std::vector<LostCall>& lost_calls() {
  static const std::vector<LostCall> all{
      {"queue/pause", [](Program& p) { return p.queue.pause(); },
       [](Queue<>& q) { return q.counts()->paused; }},
      {"queue/limit", [](Program& p) { return p.queue.set_concurrency(3); },
       [](Queue<>& q) { return q.limits()->concurrency == 3U; }},
      {"queue/hold", [](Program& p) { return done(p.queue.rate_limit(1h)); },
       [](Queue<>& q) { return q.limits()->gate == QueueGate::held; }},
      {"queue/keep_metrics", [](Program& p) { return p.queue.keep_metrics(60min); },
       [](Queue<>& q) { return q.metrics(JobState::completed, 0, 60'000).ok(); }},
      {"queue/trim", [](Program& p) { return done(p.queue.trim_events(0)); }, anything},
      {"queue/emit", [](Program& p) { return done(p.queue.emit_event("mine", "x")); }, anything},
      {"queue/obliterate", [](Program& p) { return done(p.queue.obliterate({.all = true})); },
       [](Queue<>& q) { return error_of(q.counts()).code == ErrorCode::not_found; },
       ErrorCode::not_found},
      {"queue/repair", [](Program& p) { return done(repair_fence(p.client, p.queue.name())); },
       [](Queue<>& q) { return q.counts()->waiting == 2; }},
      {"queue/counts", [](Program& p) { return done(p.queue.counts()); }, anything},
      {"queue/priorities", [](Program& p) { return done(p.queue.counts_by_priority()); }, anything},
      {"queue/page", [](Program& p) { return done(p.queue.jobs(JobState::delayed)); }, anything},
      {"queue/line", [](Program& p) { return done(p.queue.jobs(JobState::waiting)); }, anything},
      {"queue/gate", [](Program& p) { return done(p.queue.limits()); }, anything},
      {"queue/metrics",
       [](Program& p) { return done(p.queue.metrics(JobState::completed, 0, 60'000)); }, anything},
      {"job/read", [](Program& p) { return done(p.queue.job("waits")); }, anything},
      {"job/read_logs", [](Program& p) { return done(p.queue.logs("waits")); }, anything},
      {"job/update", [](Program& p) { return p.queue.update_data("waits", "new"); },
       [](Queue<>& q) { return q.job("waits")->data == "new"; }},
      // A line may stand there twice: each is one that was asked for.
      {"job/log", [](Program& p) { return p.queue.log("waits", "line"); },
       [](Queue<>& q) {
         const auto lines = q.logs("waits")->lines;
         return !lines.empty() && lines.size() <= 2;
       }},
      {"job/reschedule", [](Program& p) { return p.queue.change_delay("later", 2h); },
       [](Queue<>& q) { return state_of(q, "later") == JobState::delayed; }},
      {"job/prioritize", [](Program& p) { return p.queue.change_priority("waits", 7); },
       [](Queue<>& q) {
         return q.counts_by_priority().value() == std::map<unsigned, std::int64_t>{{0, 1}, {7, 1}};
       }},
      {"job/retry_finished", [](Program& p) { return p.queue.retry("broken"); },
       [](Queue<>& q) { return state_of(q, "broken") == JobState::waiting; },
       ErrorCode::wrong_state},
      {"job/remove", [](Program& p) { return p.queue.remove("waits"); },
       [](Queue<>& q) { return error_of(q.job("waits")).code == ErrorCode::not_found; },
       ErrorCode::not_found},
      {"deduplication/read", [](Program& p) { return done(p.queue.deduplication_owner("de")); },
       anything},
      {"deduplication/end", [](Program& p) { return done(p.queue.release_deduplication("de")); },
       [](Queue<>& q) { return !q.deduplication_owner("de").value(); }},
      {"schedule/put",
       [](Program& p) { return done(p.schedulers.upsert("new", {.when = Every{1h}})); },
       [](Queue<>& q) { return Schedulers<>(q).count().value() == 2; }},
      {"schedule/read", [](Program& p) { return done(p.schedulers.get("tick")); }, anything},
      {"schedule/pause", [](Program& p) { return p.schedulers.pause("tick"); },
       [](Queue<>& q) { return Schedulers<>(q).get("tick")->paused; }},
      {"schedule/remove", [](Program& p) { return p.schedulers.remove("tick"); },
       [](Queue<>& q) { return Schedulers<>(q).count().value() == 0; }, ErrorCode::not_found}};
  return all;
}

class LostCalls : public Chaos, public testing::WithParamInterface<LostCall> {
 protected:
  // A job of each kind that the calls need, and a scheduler.
  void fill() {
    ASSERT_TRUE(queue.add("x", {.id = "broken"}));
    {
      Worker worker{queue, {.keep_failed = Keep::all(), .stop_when_empty = true}, [](Job<>&) {
                      return Outcome::unrecoverable("no");
                    }};
      ASSERT_TRUE(worker.wait(kResumes));
    }
    ASSERT_TRUE(queue.add("x", {.id = "waits"}));
    ASSERT_TRUE(queue.add("x", {.id = "owner", .deduplication = Deduplication{.id = "de"}}));
    ASSERT_TRUE(queue.add("x", {.delay = 1h, .id = "later"}));
    ASSERT_TRUE(Schedulers<>(queue).upsert("tick", {.when = Every{1h}}));
  }
};

TEST_P(LostCalls, AreToldAndMayBeSaidAgain) {
  const auto& call = GetParam();
  for (const auto loss : {Loss::answer, Loss::command}) {
    fill();
    auto own = far();
    Queue<> far_queue{own, name};
    Program program{own, far_queue, Schedulers<>(far_queue)};
    ASSERT_TRUE(far_queue.open());
    proxy.lose(loss, call.script);
    const auto first = call.act(program);
    EXPECT_GE(proxy.lost(call.script), 1U);
    if (!first) {
      EXPECT_EQ(first.error().code, ErrorCode::connection_lost) << first.error().message();
    }
    proxy.pass();
    const auto second = call.act(program);
    EXPECT_TRUE(second || second.error().code == call.again) << second.error().message();
    EXPECT_TRUE(call.holds(queue));
    delete_queue(redis, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LostCalls, testing::ValuesIn(lost_calls()), [](const auto& call) {
  std::string name = call.param.script;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace echomq::test
