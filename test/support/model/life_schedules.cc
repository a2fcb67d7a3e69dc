// SPDX-License-Identifier: MIT
// Schedulers, in a life.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/model/life.h"
#include "support/model/life_text.h"

namespace echomq::test {
namespace {

constexpr std::size_t kSchedulers = 5;

}  // namespace

std::string Life::some_scheduler() { return "s" + std::to_string(below(kSchedulers)); }

Step Life::put_scheduler() {
  static const Ids defs{"0:0:0:0:once:1:allow:every:60000:0", "0:0:9:0:once:1:allow:every:60000:0",
                        "5:0:9:0:once:1:allow:every:60000:0", "5:7:9:0:skip:1:skip:every:60000:0"};
  static const Ids shapes{"0:0:3:job", "3:0:6:a:name{}", "0:1:3:job"};
  SchedulerToPut put{.id = some_scheduler(),
                     .next = one_in(8) ? "" : std::to_string(now() + up_to(6'000) - 3'000),
                     .def = defs[below(defs.size())],
                     .shape = shapes[below(shapes.size())],
                     .data = std::to_string(below(2)),
                     .seen = ""};
  const auto found = model_.schedulers.find(put.id);
  if (found != model_.schedulers.end() && !one_in(5)) put.seen = ran_text(found->second);
  return step("put_scheduler " + put.id + " next '" + put.next + "' def " + put.def + " shape " +
                  put.shape + " seen '" + *put.seen + "'",
              [=](auto& q) { return q.put_scheduler(put); });
}

// The next step of a scheduler, mostly as it is.
FireStep Life::step_of(const std::string& id) {
  FireStep out{.id = id, .seen = std::to_string(now()), .def = "never"};
  const auto found = model_.schedulers.find(id);
  if (found != model_.schedulers.end()) {
    const auto& scheduler = found->second;
    if (scheduler.next) out.seen = std::to_string(*scheduler.next);
    out.def = scheduler.def;
    if (scheduler.ran && one_in(3)) out.last_job = scheduler.ran->job;
    if (one_in(20)) out.last_job = "c1";
  }
  const auto tick = std::stoll(*out.seen) + (one_in(4) ? up_to(2'000) : 0);
  if (!one_in(8)) out.tick = std::to_string(tick);
  if (!one_in(12)) out.next = std::to_string(tick + 1 + up_to(4'000));
  out.skipped = below(3);
  return out;
}

Step Life::fire() {
  std::vector<FireStep> steps;
  for (auto count = 1 + below(4); count > 0; --count) {
    steps.push_back(step_of(some_scheduler()));
    // One that leads on from there.
    const auto before = steps.back();
    if (before.next.empty() || !one_in(3)) continue;
    auto& after = steps.emplace_back(before);
    after.seen = before.next;
    after.tick = before.next;
    after.next = std::to_string(std::stoll(before.next) + 1 + up_to(4'000));
    after.last_job.clear();
  }
  if (!ticks_.empty() && one_in(3)) steps.push_back(ticks_[below(ticks_.size())]);
  ticks_.insert(ticks_.end(), steps.begin(), steps.end());
  if (ticks_.size() > 30) ticks_.erase(ticks_.begin(), ticks_.end() - 20);
  return step("fire" + all_of(steps), [=](auto& q) { return q.fire(steps); });
}

Step Life::pause_scheduler() {
  const auto id = some_scheduler();
  const bool pause = one_in(3);
  const auto next = one_in(8) ? std::string() : std::to_string(now() + up_to(3'000));
  std::optional<std::string> seen = "";
  std::optional<std::string> def = "never";
  const auto found = model_.schedulers.find(id);
  if (found != model_.schedulers.end() && !one_in(5)) {
    seen = ran_text(found->second);
    def = found->second.def;
  }
  return step((pause ? "pause_scheduler " : "resume_scheduler ") + id + " next '" + next +
                  "' seen '" + *seen + "'",
              [=](auto& q) { return q.pause_scheduler(id, pause, next, seen, def); });
}

Step Life::remove_schedulers() {
  const Ids ids{some_scheduler()};
  return step("remove_schedulers" + all_of(ids), [=](auto& q) { return q.remove_schedulers(ids); });
}

}  // namespace echomq::test
