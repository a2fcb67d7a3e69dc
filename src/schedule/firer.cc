// SPDX-License-Identifier: MIT
#include "schedule/firer.h"

#include <utility>

#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "wire/command.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::int64_t kRetryMs = 1'000;        // after a call that failed
constexpr std::size_t kComplaintsKept = 1'000;  // then each is told once more

}  // namespace

void Firer::look(Function<void(std::int64_t due_ms)> done) {
  auto bytes = wire::command({"ZRANGE", queue_->keys().schedules, "0", "0", "WITHSCORES"});
  queue_->client()->command(std::move(bytes), [self = shared_from_this(), done = std::move(done)](
                                                  Result<wire::Reply> reply) mutable {
    if (!reply || reply->is_error()) return done(0);
    const auto earliest = wire::scored(*reply);
    self->has_schedulers_ = !earliest.empty();
    const auto now = self->queue_->client()->now_ms();
    done(!earliest.empty() && earliest.front().score <= now ? earliest.front().score : 0);
  });
}

void Firer::peek_from(std::size_t first, Done done) {
  has_schedulers_ = true;
  auto bytes = wire::command({"ZRANGEBYSCORE", queue_->keys().schedules, "-inf",
                              std::to_string(queue_->client()->now_ms()), "WITHSCORES", "LIMIT",
                              std::to_string(first), std::to_string(kMaxBatchJobs)});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this(), first,
                             done = std::move(done)](Result<wire::Reply> reply) mutable {
                              if (!reply || reply->is_error()) return done(self->try_again());
                              self->peeked(first, wire::scored(*reply), std::move(done));
                            });
}

void Firer::peeked(std::size_t first, const std::vector<wire::Scored>& due, Done done) {
  // Someone else was here first.
  if (due.empty()) return mark_next(std::move(done));
  auto peek = std::make_shared<Peek>();
  peek->first = first;
  peek->is_full = due.size() == kMaxBatchJobs;
  for (const auto& [id, next_ms] : due) peek->due.push_back({id, next_ms});
  peek->missing = due.size();
  peek->done = std::move(done);
  read(peek);
}

void Firer::read(const std::shared_ptr<Peek>& peek) {
  for (std::size_t i = 0; i < peek->due.size(); ++i) {
    const auto key = scheduler_key(queue_->name(), peek->due[i].id);
    queue_->client()->command(wire::command({"HMGET", key, "def", "ran"}),
                              [self = shared_from_this(), peek, i](Result<wire::Reply> reply) {
                                // One that is not there reads as one without a definition: the
                                // script takes it out.
                                if (reply && reply->items.size() == 2) {
                                  peek->due[i].def = reply->items[0].text;
                                  peek->due[i].ran = read_ran(reply->items[1].text);
                                } else if (!reply) {
                                  peek->is_full = false;
                                  peek->due[i].next_ms = 0;  // not read: not now
                                }
                                if (--peek->missing == 0) self->act(peek);
                              });
  }
}

std::vector<Firer::Step> Firer::work_out(const Peek& peek, std::int64_t now_ms) {
  std::vector<Step> all;
  for (const auto& due : peek.due) {
    if (all.size() == kMaxBatchJobs) break;
    if (due.next_ms == 0) continue;
    if (due.def.empty()) {
      all.push_back({&due, {.seen_ms = due.next_ms}});
      continue;
    }
    const auto schedule = read_definition(due.def);
    if (!schedule) {
      complain(due.id, "its schedule is of an unknown form: " + due.def);
      continue;
    }
    const auto timetable = Timetable::of(*schedule);
    if (!timetable) {
      complain(due.id, timetable.error().message());
      continue;
    }
    const auto last_job = schedule->overlap == Overlap::skip ? due.ran.job : std::string();
    for (const auto& step : steps(*schedule, *timetable, due.next_ms, due.ran.made, now_ms,
                                  kMaxBatchJobs - all.size()))
      all.push_back({&due, step, last_job});
  }
  return all;
}

void Firer::act(const std::shared_ptr<Peek>& peek) {
  using Transition = scripts::ScheduleFire;
  const auto now = queue_->client()->now_ms();
  const auto all = work_out(*peek, now);
  if (all.empty()) {
    // None of these can be fired here: others behind them may.
    if (peek->is_full) return peek_from(peek->first + kMaxBatchJobs, std::move(peek->done));
    return mark_next(std::move(peek->done));
  }
  auto call = ScriptCall::of<Transition>(
      queue_->keys(), {.revision = scripts::kRevision, .now = now, .count = all.size()});
  for (const auto& [of, step, last_job] : all) {
    // Where a step has no such job its scheduler stands in the place.
    const auto key = scheduler_key(queue_->name(), of->id);
    call.put_keys(Transition::ItemKeys{
        .schedule = key,
        .last = last_job.empty() ? key : job_key(queue_->name(), last_job),
        .job = step.tick_ms == 0 ? key : job_key(queue_->name(), tick_id(of->id, step.tick_ms))});
    call.put_args(Transition::ItemArgs{.id = of->id,
                                       .def = of->def,
                                       .seen = step.seen_ms,
                                       .tick = tick_text(step.tick_ms),
                                       .next = tick_text(step.next_ms),
                                       .skipped = step.skipped,
                                       .last_job = last_job});
  }
  queue_->call(std::move(call),
               [self = shared_from_this(), peek, count = all.size()](Result<wire::Reply> reply) {
                 if (!reply && !is_weather(reply.error().code))
                   self->complain(peek->due.front().id, reply.error().message());
                 if (!reply || reply->items.empty()) return peek->done(self->try_again());
                 std::size_t moved = 0;
                 const std::string none;
                 for (std::size_t i = 0; i < count; ++i)
                   moved += wire::status_of(reply->items[0], i, none) == "moved" ? 1 : 0;
                 // Where nothing could be done others are at work, or are done already.
                 if (moved == count) return peek->done(self->try_again());
                 peek->done({.more_due = peek->is_full || moved > 0 || count == kMaxBatchJobs});
               });
}

// Nothing is due. Others count on the one who took the mark to put the next time there.
void Firer::mark_next(Done done) {
  auto bytes = wire::command({"ZRANGEBYSCORE", queue_->keys().schedules,
                              "(" + std::to_string(queue_->client()->now_ms()), "(inf",
                              "WITHSCORES", "LIMIT", "0", "1"});
  queue_->client()->command(std::move(bytes), [self = shared_from_this(), done = std::move(done)](
                                                  Result<wire::Reply> reply) mutable {
    if (!reply || reply->is_error()) return done(self->try_again());
    const auto earliest = wire::scored(*reply);
    if (earliest.empty()) return done({});
    auto mark = wire::command(
        {"ZADD", self->queue_->keys().marker, "LT", std::to_string(earliest.front().score), "3"});
    self->queue_->client()->command(std::move(mark), [](Result<wire::Reply>) {});
    done({});
  });
}

// Somebody with newer software or other zone files may fire it; here it is left alone.
void Firer::complain(const std::string& id, const std::string& why) {
  if (complained_.size() == kComplaintsKept) complained_.clear();
  if (!complained_.insert(id).second) return;
  queue_->client()->log(LogLevel::warning, "scheduler \"" + id + "\" of \"" + queue_->name() +
                                               "\" cannot be fired here: " + why);
}

Firer::Fired Firer::try_again() const {
  return {.again_ms = queue_->client()->now_ms() + kRetryMs};
}

}  // namespace echomq::inline v2::schedule
