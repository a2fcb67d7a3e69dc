// SPDX-License-Identifier: MIT
// P9: no job is left waiting at an open gate. Workers that are nothing but their Lifecycle claim,
// wait, keep the time and end jobs in an order that chance decides, with answers that are on their
// way for as long as chance will have it, while limits, holds and pauses come and go. Then all is
// delivered, time passes, and nothing is changed any more: all jobs must end, and no poll helps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "probe/script_queue.h"
#include "support/dump.h"
#include "support/server.h"
#include "support/wanted.h"
#include "worker/lifecycle.h"

namespace echomq::test {
namespace {

struct ModelWorker {
  Lifecycle life{3, false};
  std::optional<unsigned> to_send{};                     // a claim that has not reached the server
  std::optional<std::pair<unsigned, Claimed>> answer{};  // asked for, and on its way back
  std::optional<std::pair<std::string, std::int64_t>> mark{};  // popped, and on its way back
  std::vector<JobRun> runs{};
  bool paused = false;
};

class LimitsModel {
 public:
  LimitsModel(ScriptQueue& queue, std::uint32_t seed) : q_(queue), random_(seed), workers_(4) {
    for (auto& worker : workers_) worker.life.connected();
    let_all_act();
  }

  void step() {
    switch (below(13)) {
      case 0: add(); break;
      case 1: change(); break;
      case 2: q_.now += static_cast<std::int64_t>(below(60)); break;
      case 3:
      case 4: end_one(some_worker()); break;
      case 5: pause_worker(); break;
      case 6:
      case 7: deliver_mark(some_worker()); break;
      case 8:
      case 9:
      case 10: deliver_answer(some_worker()); break;
      default: send_claim(some_worker()); break;
    }
    let_all_act();
  }

  // Everything on its way arrives, every job ends, and time goes on, until nothing moves any more.
  void come_to_rest() {
    q_.pause(false);
    for (auto& worker : workers_)
      if (std::exchange(worker.paused, false)) worker.life.pause(false);
    let_all_act();
    for (int quiet = 0; quiet < 2;) {
      const auto before = moves_;
      for (auto& worker : workers_) {
        send_claim(worker);
        deliver_answer(worker);
        deliver_mark(worker);
        while (!worker.runs.empty()) finish(worker);
        let_all_act();
      }
      if (moves_ != before) {
        quiet = 0;
      } else if (const auto timer = next_timer(); timer != 0) {
        q_.now = std::max(q_.now, timer);
        let_all_act();
        quiet = 0;
      } else {
        ++quiet;
      }
    }
  }

  [[nodiscard]] std::string left() {
    std::string all;
    for (const auto& key : {q_.keys.wait, q_.keys.crashed})
      for (const auto& id : texts(q_.redis()({"LRANGE", key, "0", "-1"}))) all += id + " ";
    for (const auto& key : {q_.keys.prioritized, q_.keys.delayed})
      for (const auto& id : texts(q_.redis()({"ZRANGE", key, "0", "-1"}))) all += id + " ";
    return all + std::to_string(q_.active()) + " active";
  }

 private:
  using ActionKind = Lifecycle::Action::Kind;

  std::size_t below(std::size_t limit) { return random_() % limit; }
  ModelWorker& some_worker() { return workers_[below(workers_.size())]; }

  void add() {
    std::vector<JobToAdd> jobs(1 + below(4));
    for (auto& job : jobs) {
      job.id = "j" + std::to_string(next_++);
      job.delay = below(4) == 0 ? static_cast<std::int64_t>(1 + below(100)) : 0;
      job.priority = below(3) == 0 ? 1 : 0;
    }
    q_.add(jobs);
  }

  void change() {
    switch (below(7)) {
      case 0:
      case 1: q_.limit({.concurrency = std::to_string(below(4))}); return;
      case 2: q_.limit({.max = std::to_string(below(3)), .duration = "50"}); return;
      case 3:
        q_.limit({.max = std::to_string(1 + below(3)), .duration = "50", .burst = "1"});
        return;
      case 4: q_.hold(static_cast<std::int64_t>(below(80))); return;
      case 5: q_.hold(0); return;
      default: q_.pause(below(2) == 0); return;
    }
  }

  void pause_worker() {
    auto& worker = some_worker();
    worker.paused = !worker.paused;
    worker.life.pause(worker.paused);
  }

  void end_one(ModelWorker& worker) {
    if (worker.runs.empty()) return;
    const auto run = worker.runs.back();
    switch (below(6)) {
      case 0: q_.retry({{.run = run, .delay = static_cast<std::int64_t>(below(2) * 40)}}); break;
      case 1: q_.release({{.run = run}}, static_cast<std::int64_t>(below(2) * 30)); break;
      case 2: {  // its process died, and others took it back
        const auto lease = q_.score(q_.keys.active, run.id);
        q_.now += 60'000;
        q_.recover({{run.id, lease}}, static_cast<unsigned>(below(2)));
        break;
      }
      default: return finish(worker);
    }
    worker.runs.pop_back();
    worker.life.slot_freed();
    ++moves_;
  }

  void finish(ModelWorker& worker) {
    q_.finish({{.run = worker.runs.back(), .drop = true}});
    worker.runs.pop_back();
    worker.life.slot_freed();
    ++moves_;
  }

  void send_claim(ModelWorker& worker) {
    if (!worker.to_send) return;
    const auto asked = *std::exchange(worker.to_send, std::nullopt);
    worker.answer.emplace(asked, q_.claim(asked, {.lease_ms = 30'000}));
    ++moves_;
  }

  void deliver_answer(ModelWorker& worker) {
    if (!worker.answer) return;
    const auto [asked, claimed] = *std::exchange(worker.answer, std::nullopt);
    worker.runs.insert(worker.runs.end(), claimed.runs.begin(), claimed.runs.end());
    worker.life.claimed(asked, static_cast<unsigned>(claimed.runs.size()), claimed.left(),
                        std::stoll(claimed.due()), true, q_.now, claimed.gate() == "open",
                        claimed.opens());
    ++moves_;
  }

  void deliver_mark(ModelWorker& worker) {
    if (!worker.mark) return;
    const auto [member, score] = *std::exchange(worker.mark, std::nullopt);
    if (member == "0") worker.life.woken();
    if (member == "1") worker.life.became_timekeeper(score);
    if (member == "2") worker.life.became_gatekeeper(score);
    ++moves_;
  }

  void let_all_act() {
    for (bool again = true; std::exchange(again, false);) {
      for (auto& worker : workers_) again = act(worker) || again;
      again = pop_marks() || again;
    }
  }

  bool act(ModelWorker& worker) {
    bool acted = false;
    for (auto action = worker.life.next(q_.now); action.kind != ActionKind::none;
         action = worker.life.next(q_.now)) {
      acted = true;
      const auto& marker = q_.keys.marker;
      switch (action.kind) {
        case ActionKind::claim: worker.to_send = action.count; break;
        case ActionKind::block: blocked_.push_back(&worker); break;
        case ActionKind::promote: promote(worker); break;
        case ActionKind::put_wake: q_.redis()({"ZADD", marker, "0", "0"}); break;
        case ActionKind::put_timer:
          q_.redis()({"ZADD", marker, "LT", std::to_string(action.due_ms), "1"});
          break;
        case ActionKind::put_gate:
          q_.redis()({"HDEL", q_.keys.limiter, "armed"});
          q_.redis()({"ZADD", marker, "0", "0"});
          break;
        case ActionKind::fire:  // there are no schedulers
        case ActionKind::put_tick:
        case ActionKind::drained:
        case ActionKind::none: break;
      }
    }
    return acted;
  }

  void promote(ModelWorker& worker) {
    const auto due = q_.peek_due();
    if (!due.empty()) q_.promote(due);
    const auto next = texts(q_.redis()({"ZRANGE", q_.keys.delayed, "0", "0", "WITHSCORES"}));
    if (due.empty() && next.size() == 2)
      worker.life.promotion_failed(std::stoll(next[1]));
    else
      worker.life.promoted(false);
  }

  // As the server does: at once, for whoever has waited longest.
  bool pop_marks() {
    bool any = false;
    while (!blocked_.empty()) {
      const auto popped = texts(q_.redis()({"ZPOPMIN", q_.keys.marker}));
      if (popped.size() != 2) break;
      blocked_.front()->mark.emplace(popped[0], std::stoll(popped[1]));
      blocked_.pop_front();
      any = true;
    }
    return any;
  }

  [[nodiscard]] std::int64_t next_timer() const {
    std::int64_t first = 0;
    for (const auto& worker : workers_)
      if (const auto timer = worker.life.timer_ms(); timer != 0 && (first == 0 || timer < first))
        first = timer;
    return first;
  }

  ScriptQueue& q_;
  std::mt19937 random_;
  std::vector<ModelWorker> workers_;
  std::deque<ModelWorker*> blocked_;
  int next_ = 0;
  int moves_ = 0;
};

class LimitsOfManyWorkers : public testing::TestWithParam<std::uint32_t> {};

// A million steps where long forms are wanted.
TEST_P(LimitsOfManyWorkers, P9_NoJobIsLeftAtAnOpenGate) {
  auto redis = shared_server().connect();
  const std::uint32_t rounds = long_forms_wanted() ? 4'200 : 150;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    ScriptQueue q(redis, unique_queue("model"));
    q.open();
    LimitsModel model(q, GetParam() * 10'000 + round);
    for (int i = 0; i < 60; ++i) model.step();
    model.come_to_rest();
    EXPECT_EQ(model.left(), "0 active") << "round " << round;
    delete_queue(redis, q.name());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LimitsOfManyWorkers, testing::Range(1U, 5U));

}  // namespace
}  // namespace echomq::test
