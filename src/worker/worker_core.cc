// SPDX-License-Identifier: MIT
#include "worker/worker_core.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/weak_call.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOpenPause{500};  // after an opening that the network refused
constexpr milliseconds kPatience{
    10'000};  // of a worker that stops with ends that go unanswered, at least
constexpr milliseconds kTrashEvery{30'000};  // between sweeps of trash and ages

}  // namespace

// --- the beginning

void WorkerCore::start(std::shared_ptr<Runner> runner, Observer settled) {
  observer_ = std::move(settled);
  runner_ = std::move(runner);
  runner_->attach({.ended = weak_call(*this, &WorkerCore::ended),
                   .wanted = weak_call(*this, &WorkerCore::wanted),
                   .changed = weak_call(*this, &WorkerCore::step),
                   .lowered = weak_call(*this, &WorkerCore::look_at_capacity),
                   .claims = [weak = weak_from_this()] {
                     const auto self = weak.lock();
                     return self ? self->claims() : Runner::Claims{};
                   }});
  evictor_ = std::make_shared<Evictor>(queue_, options_.keep_completed, options_.keep_failed);
  relay_ = std::make_shared<Relay>(queue_, weak_call(*this, &WorkerCore::released),
                                   Relay::Forget::in_a_moment);
  flow_sweep_ = std::make_shared<flow::FlowSweep>(queue_);
  settler_ = std::make_shared<Settler>(queue_, options_.name, std::max(options_.lease, kPatience),
                                       evictor_, relay_, weak_call(*this, &WorkerCore::settled));
  releaser_ = std::make_shared<Releaser>(queue_, weak_call(*this, &WorkerCore::released));
  sweeper_ = std::make_shared<Sweeper>(queue_, options_.max_crashes, options_.keep_failed, evictor_,
                                       releaser_, relay_, weak_call(*this, &WorkerCore::recovered));
  reconciler_ = std::make_shared<Reconciler>(queue_, settler_);
  extender_ =
      std::make_shared<Extender>(queue_, options_.lease, weak_call(*this, &WorkerCore::lease_lost));
  progress_ = std::make_shared<ProgressSender>(queue_, weak_call(*this, &WorkerCore::lease_lost),
                                               weak_call(*this, &WorkerCore::send_progress));
  intake_ = Intake::make(queue_, options_,
                         {.loaded = weak_call(*this, &WorkerCore::loaded),
                          .progress = weak_call(*this, &WorkerCore::progress_told),
                          .claim_ended = weak_call(*this, &WorkerCore::step),
                          .put_ended = weak_call(*this, &WorkerCore::check_stopped),
                          .drained = weak_call(*this, &WorkerCore::drained),
                          .failed = weak_call(*this, &WorkerCore::fail)});
  queue_->client()->loop().post([self = shared_from_this()] { self->begin(); });
}

void WorkerCore::begin() {
  if (stopping_) return;
  if (bad_) return fail(*bad_);
  open();
}

void WorkerCore::open() {
  if (stopping_) return;
  opening_ = true;
  queue_->with_open([self = shared_from_this()](Result<void> result) { self->opened(result); });
}

void WorkerCore::opened(const Result<void>& result) {
  opening_ = false;
  if (!result && is_weather(result.error().code)) return open_later(result.error());
  if (!result) return fail(result.error());
  if (stopping_) return check_stopped();
  began_ = true;
  intake_->open();
  const auto& client = queue_->client();
  reconnect_hook_ = client->on_reconnect(weak_call(*this, &WorkerCore::reconnected));
  jump_hook_ = client->on_jump(weak_call(*this, &WorkerCore::clock_jumped));
  tick();
  step();
}

// The server is away or was lost just now: that ends no worker, this one neither.
void WorkerCore::open_later(const Error& why) {
  log(LogLevel::warning, "worker of \"" + queue_->name() + "\" cannot start yet: " + why.message());
  queue_->client()->loop().after(kOpenPause, weak_call(*this, &WorkerCore::open));
  runner_->claims_moved();
}

// The worker cannot go on: what it holds goes back, and status() tells why.
void WorkerCore::fail(const Error& why) {
  report_.failed(why);
  log(LogLevel::error, "worker of \"" + queue_->name() + "\" stops: " + why.message());
  stop_now();
}

// Lets every part do what it can do now.
void WorkerCore::step() {
  if (!began_) return runner_->claims_moved();
  if (stopping_) give_back_unstarted(running_.size());
  if (lowered_) give_back_surplus();
  settler_->pump();
  let_in();
  intake_->step();
  runner_->claims_moved();
  let_in();  // who gave up on the claims wants no more
  check_stopped();
}

// --- jobs

void WorkerCore::let_in() { intake_->set_concurrency(runner_->capacity(running_.size())); }

// Some may be too many: the capacity was lowered while their claim was on its way. They go back
// with those that are unfit, the job that was claimed last first.
void WorkerCore::loaded(Claimer::Jobs fit, Claimer::Jobs unfit) {
  end_expired(fit);
  const std::size_t most = runner_->most(running_.size());
  const auto room = std::min(fit.size(), most - std::min(most, running_.size()));
  unfit.insert(unfit.end(), fit.begin() + static_cast<std::ptrdiff_t>(room), fit.end());
  fit.resize(room);
  run(fit);
  std::sort(unfit.rbegin(), unfit.rend(), claimed_before);
  for (const auto& job : unfit) {
    if (stopping_) {  // goes back with all others that have not begun, in their order
      running_.insert(job);
      continue;
    }
    settler_->push(give_back(job, /*started=*/false));
    intake_->ended(job);
  }
  step();
}

// Those that were taken too late are not run.
void WorkerCore::end_expired(Claimer::Jobs& jobs) {
  const auto now = queue_->client()->now_ms();
  std::erase_if(jobs, [&](const auto& job) {
    auto expired = expire(job, options_, now);
    if (!expired) return false;
    settler_->push(*std::move(expired));
    intake_->ended(job);
    return true;
  });
}

void WorkerCore::run(const Claimer::Jobs& jobs) {
  for (const auto& job : jobs) job->core = queue_;
  running_.insert(jobs.begin(), jobs.end());
  runner_->run(jobs);
}

void WorkerCore::ended(const Runner::Ended& runs) {
  for (const auto& [job, outcome] : runs) end_attempt(job, outcome);
  step();
}

void WorkerCore::end_attempt(const std::shared_ptr<RunningJob>& job,
                             const std::optional<Outcome>& outcome) {
  running_.erase(job);
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  settler_->push(outcome      ? settle(job, *outcome, options_, draw(random_))
                 : job->begun ? put_back(job, options_)
                              : give_back(job, /*started=*/false));
  intake_->ended(job);
}

void WorkerCore::settled(const Settlement& settlement, const std::string& status) {
  queue_->holds_no_more(settlement.job->job.id, settlement.job->token());
  report_.settled(settlement.kind, status);
  const auto& rule = settlement.job->job.options.deduplication;
  if (rule && (status == "gone" || (settlement.ends_job() && (status == "ok" || status == "done"))))
    releaser_->push(OwnedId{rule->id, settlement.job->job.id, {}});
  if (observer_) observer_(settlement, status);
  if (status != "ok" && status != "done")
    log(LogLevel::warning, "job " + settlement.job->job.id + " of \"" + queue_->name() +
                               "\": the end of its run was answered \"" + status + "\"");
  // Once for all that one answer tells of.
  if (std::exchange(step_posted_, true)) return;
  queue_->client()->loop().post([self = shared_from_this()] {
    self->step_posted_ = false;
    self->step();
  });
}

// --- while they run

// Once every renewal interval.
void WorkerCore::tick() {
  const auto interval = options_.lease / 3;
  tick_ = queue_->client()->loop().after(interval, weak_call(*this, &WorkerCore::tick));
  extender_->extend(running_);
  if (stopping_) return;
  // A lost connection that nobody may end may bring a claim at any time.
  if (queue_->client()->kill_denied()) reconciler_->reconcile();
  sweeper_->tick();
  flow_sweep_->tick();
  if (ticks_++ * interval >= kTrashEvery || ticks_ == 1) {
    ticks_ = 1;
    evictor_->sweep();
    releaser_->sweep();
    intake_->look_at_schedules();
  }
}

void WorkerCore::lease_lost(const std::shared_ptr<RunningJob>& job) {
  if (!running_.contains(job) || job->lease_lost()) return;
  job->ask_to_stop(StopReason::Kind::lease_lost);
  log(LogLevel::warning, "job " + job->job.id + " of \"" + queue_->name() +
                             "\" lost its lease; its result will be refused");
}

// From any thread.
void WorkerCore::progress_told() {
  queue_->client()->loop().post([self = shared_from_this()] { self->send_progress(); });
}

void WorkerCore::send_progress() { progress_->send(running_); }

// Extending comes first: every lease may be about to end.
void WorkerCore::reconnected() {
  extender_->extend(running_);
  intake_->look_again();
  reconciler_->reconcile();
  step();
}

// A test has set the clock ahead: what runs keeps its jobs, and what has become due meanwhile is
// seen now.
void WorkerCore::clock_jumped() {
  extender_->extend(running_);
  if (stopping_) return;
  evictor_->sweep();
  flow_sweep_->tick();
  intake_->clock_jumped();
  step();
}

// --- the end

void WorkerCore::request_stop() {
  queue_->client()->loop().post([self = shared_from_this()] { self->stop_now(); });
}

// What it took from the marker and others need goes back at the next step.
void WorkerCore::pause(bool pause) {
  if (paused_.exchange(pause) == pause) return;
  queue_->client()->loop().post([self = shared_from_this()] {
    self->intake_->pause(self->paused_);
    self->step();
  });
}

void WorkerCore::capacity_changed() {
  queue_->client()->loop().post([self = shared_from_this()] { self->look_at_capacity(); });
}

void WorkerCore::look_at_capacity() {
  lowered_ = running_.size() > runner_->capacity(running_.size());
  step();
}

Runner::Claims WorkerCore::claims() const {
  return {.opening = opening_,
          .sent = intake_->claims_sent(),
          .through = intake_->claims_sent() - intake_->claims_on_their_way()};
}

void WorkerCore::wanted() {
  if (began_) intake_->look_again();
  step();
}

// What may not begin now must not wait here: other workers may be free.
void WorkerCore::give_back_surplus() {
  if (intake_->claiming()) return;
  lowered_ = false;
  const std::size_t capacity = runner_->capacity(running_.size());
  if (running_.size() > capacity) give_back_unstarted(running_.size() - capacity);
}

void WorkerCore::drained() {
  if (releaser_->idle() && relay_->idle()) {
    if (settler_->idle()) stop_now();
    return;
  }
  drain_waits_ = true;
}

// What was kept for the end of a job may have become one.
// The releaser or the relay has nothing left to do, and jobs may be ready by what it did.
void WorkerCore::released() {
  if (std::exchange(drain_waits_, false)) intake_->look_again();
  step();
}

void WorkerCore::stop_now() {
  if (!stopping_) {
    stopping_ = true;
    runner_->stop(report_.status());
    for (const auto& job : running_) job->ask_to_stop(StopReason::Kind::shutdown);
    intake_->stop();
    settler_->stop();
    releaser_->stop();
  }
  if (began_)
    step();
  else
    check_stopped();
}

// At most so many of what was claimed and not begun go back to the front of the line. Each release
// goes in front of those before it, so the job that was claimed last goes first; and the claims
// that are still on their way, whose jobs stood behind all of these, go before.
void WorkerCore::give_back_unstarted(std::size_t most) {
  if (intake_->claiming()) return;
  Claimer::Jobs claimed{running_.begin(), running_.end()};
  std::sort(claimed.rbegin(), claimed.rend(), claimed_before);
  for (const auto& job : claimed) {
    if (most == 0) return;
    // What the end of one sets off may come back here and have ended the rest already.
    if (!running_.contains(job) || !runner_->withdraw(job)) continue;
    end_attempt(job, std::nullopt);
    --most;
  }
}

void WorkerCore::check_stopped() {
  if (!stopping_ || !running_.empty() || !intake_->idle() || !settler_->idle() ||
      !releaser_->idle() || !relay_->idle())
    return;
  if (tick_) tick_->cancel();
  reconnect_hook_.reset();
  jump_hook_.reset();
  report_.stopped();
  if (until_stopped_) queue_->client()->loop().post([self = std::move(until_stopped_)] {});
}

void WorkerCore::keep_until_stopped() {
  queue_->client()->loop().post([self = shared_from_this()] {
    if (self->report_.wait_stopped(milliseconds(0))) return;
    self->until_stopped_ = self;
  });
}

}  // namespace echomq::inline v2
