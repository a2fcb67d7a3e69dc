// SPDX-License-Identifier: MIT
#include "worker/intake.h"

#include <algorithm>
#include <utility>

#include "base/weak_call.h"
#include "protocol/refusal.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDrainPoll{200};  // how often a worker that stops when empty looks
constexpr milliseconds kPause{500};      // after a refusal that passes

// A worker that dies quietly is the worst of failures: it ends only over what no waiting will mend.
bool is_final(const Error& error) {
  return error.code == ErrorCode::fence || error.code == ErrorCode::wrong_type ||
         error.code == ErrorCode::denied || error.code == ErrorCode::closed ||
         error.code == ErrorCode::protocol;
}

}  // namespace

std::shared_ptr<Intake> Intake::make(const std::shared_ptr<QueueCore>& queue,
                                     const WorkerOptions& options, Events events) {
  auto intake = std::make_shared<Intake>(queue, options, std::move(events));
  auto& self = *intake;
  self.claimer_ = std::make_shared<Claimer>(
      queue, options.lease,
      Claimer::Events{.claimed = weak_call(self, &Intake::claimed),
                      .refused = weak_call(self, &Intake::claim_refused),
                      .loaded = self.events_.loaded,
                      .crashed_ready = weak_call(self, &Intake::crashed_ready),
                      .progress = self.events_.progress});
  self.marker_ = std::make_shared<Marker>(
      queue, options.stop_when_empty ? std::min(options.poll, kDrainPoll) : options.poll,
      Marker::Events{.popped = weak_call(self, &Intake::popped),
                     .late = weak_call(self, &Intake::wait_late),
                     .put_back = self.events_.put_ended});
  return intake;
}

Intake::Intake(std::shared_ptr<QueueCore> queue, const WorkerOptions& options, Events events)
    : queue_(std::move(queue)),
      events_(std::move(events)),
      life_(options.concurrency, options.stop_when_empty),
      promoter_(std::make_shared<Promoter>(queue_)),
      firer_(std::make_shared<schedule::Firer>(queue_)) {}

void Intake::open() {
  marker_->open();
  life_.connected();
}

void Intake::step() {
  using Kind = Lifecycle::Action::Kind;
  const auto& client = queue_->client();
  for (auto action = life_.next(client->now_ms()); action.kind != Kind::none;
       action = life_.next(client->now_ms())) {
    switch (action.kind) {
      case Kind::claim: claimer_->claim(action.count); break;
      case Kind::block: marker_->wait(); break;
      case Kind::promote: promote(); break;
      case Kind::fire: fire(); break;
      case Kind::put_wake: marker_->put_wake(); break;
      case Kind::put_timer: marker_->put_timer(action.due_ms); break;
      case Kind::put_gate: marker_->put_gate(); break;
      case Kind::put_tick: marker_->put_tick(action.due_ms); break;
      case Kind::drained: return events_.drained();
      case Kind::none: break;
    }
  }
  arm_timer();
}

void Intake::arm_timer() {
  const auto due = life_.timer_ms();
  if (due == timer_for_ms_) return;
  timer_for_ms_ = due;
  if (timer_) timer_->cancel();
  if (due == 0) return;
  const auto wait = std::max<std::int64_t>(due - queue_->client()->now_ms(), 0) + 1;
  timer_ = queue_->client()->loop().after(milliseconds(wait), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->timer_for_ms_ = 0;
    self->step();
  });
}

void Intake::clock_jumped() {
  if (timer_) timer_->cancel();
  timer_for_ms_ = 0;
  life_.look_again();
  if (firer_->has_schedulers()) look_at_schedules();
}

// Its slot is free before the loop writes: the next claim travels with the end of this job.
void Intake::ended(const std::shared_ptr<RunningJob>& job) {
  life_.slot_freed();
  claimer_->ended(job);
}

void Intake::stop() {
  claimer_->stop();
  life_.stop();
  marker_->close();
}

// --- claims

void Intake::claimed(const Claimer::Claimed& claimed) {
  life_.claimed(claimed.asked, claimed.taken, claimed.ready, claimed.due_ms, claimed.anyone_active,
                queue_->client()->now_ms(), claimed.open, claimed.opens_ms);
  events_.claim_ended();
}

void Intake::crashed_ready() {
  life_.look_again();
  events_.claim_ended();
}

void Intake::claim_refused(const Error& error) {
  life_.claim_failed();
  // The claim may yet run: only a new connection, which kills the old one, can tell what it took.
  if (error.code == ErrorCode::timeout)
    queue_->client()->drop_connection("a claim went unanswered");
  if (protocol::is_absent(error)) return open_anew();
  if (is_final(error)) return events_.failed(error);
  queue_->client()->log(LogLevel::warning,
                        "claim on \"" + queue_->name() + "\": " + error.message());
  // The next claim waits for the connection by itself; other refusals get a pause first.
  const bool waits = error.unknown_outcome() || error.code == ErrorCode::unavailable;
  look_again_after(waits ? milliseconds(0) : kPause);
  events_.claim_ended();
}

// Obliterated or flushed under us: the queue is opened anew, if it still may be.
void Intake::open_anew() {
  queue_->forget_open();
  queue_->with_open([self = shared_from_this()](Result<void> opened) {
    if (opened) {
      self->life_.look_again();
    } else {
      if (is_final(opened.error())) return self->events_.failed(opened.error());
      self->queue_->client()->log(LogLevel::warning,
                                  "queue \"" + self->queue_->name() +
                                      "\" cannot be opened anew yet: " + opened.error().message());
      self->look_again_after(kPause);
    }
    self->events_.claim_ended();
  });
}

void Intake::look_again_after(milliseconds pause) {
  queue_->client()->loop().after(pause, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->life_.look_again();
    self->step();
  });
}

// --- the marker

void Intake::popped(const Result<Marker::Mark>& mark) {
  if (!mark) return wait_refused(mark.error());
  switch (mark->kind) {
    case Marker::Mark::Kind::none:
      life_.block_timed_out();
      if (firer_->has_schedulers()) look_at_schedules();
      break;
    case Marker::Mark::Kind::wake: life_.woken(); break;
    case Marker::Mark::Kind::timer: life_.became_timekeeper(mark->due_ms); break;
    case Marker::Mark::Kind::gate: life_.became_gatekeeper(mark->due_ms); break;
    case Marker::Mark::Kind::tick: life_.became_tickkeeper(mark->due_ms); break;
  }
  step();
}

// The wake may have gone to a lane that is dead: the client's other connection is asked.
void Intake::wait_late() {
  life_.look_again();
  step();
}

// A server that loads, changes its role or loses its cluster comes back.
void Intake::wait_refused(const Error& error) {
  life_.block_failed();
  if (error.code == ErrorCode::wrong_type || error.code == ErrorCode::denied)
    return events_.failed(error);
  queue_->client()->log(LogLevel::warning, error.message());
  look_again_after(kPause);
}

void Intake::promote() {
  promoter_->promote([self = shared_from_this()](Promoter::Promoted promoted) {
    if (promoted.again_ms != 0)
      self->life_.promotion_failed(promoted.again_ms);
    else
      self->life_.promoted(promoted.more_due);
    self->step();
  });
}

void Intake::fire() {
  firer_->fire([self = shared_from_this()](schedule::Firer::Fired fired) {
    if (fired.again_ms != 0)
      self->life_.firing_failed(fired.again_ms);
    else
      self->life_.fired(fired.more_due);
    self->step();
  });
}

void Intake::look_at_schedules() {
  firer_->look([weak = weak_from_this()](std::int64_t due_ms) {
    auto self = weak.lock();
    if (!self || due_ms == 0) return;
    self->life_.tick_due(due_ms);
    self->step();
  });
}

}  // namespace echomq::inline v2
