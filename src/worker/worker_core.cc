// SPDX-License-Identifier: MIT
#include "worker/worker_core.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/weak_call.h"
#include "echomq_scripts.h"
#include "protocol/refusal.h"
#include "wire/command.h"
#include "wire/reply_number.h"
#include "worker/worker_options.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBlockSlack{2'000};   // past its time-out a silent lane is dead
constexpr milliseconds kDrainPoll{200};      // how often a worker that stops when empty looks
constexpr milliseconds kPause{500};          // after a claim that the server refused
constexpr milliseconds kTrashEvery{30'000};  // between sweeps of trash and ages

}  // namespace

// One claim call: from its sending until its jobs are loaded.
struct WorkerCore::Claim {
  unsigned asked = 0;
  Lease lease;
  bool permit = false;  // may take a job that has been through a crash
  std::vector<std::string> ids;
  std::vector<std::optional<job::LoadedJob>> jobs;
  std::size_t missing = 0;
  bool lost = false;  // an answer of the load did not come
};

WorkerCore::WorkerCore(std::shared_ptr<QueueCore> queue, WorkerOptions options)
    : queue_(std::move(queue)),
      options_(std::move(options)),
      life_(options_.concurrency, options_.stop_when_empty) {}

void WorkerCore::start(RawHandler handler) {
  runner_ = std::make_shared<Runner>(queue_, std::move(handler), options_.concurrency,
                                     weak_call(*this, &WorkerCore::ended));
  extender_ =
      std::make_shared<Extender>(queue_, options_.lease, weak_call(*this, &WorkerCore::lease_lost));
  progress_ =
      std::make_shared<ProgressSender>(queue_, weak_call(*this, &WorkerCore::send_progress));
  queue_->client()->loop().post([self = shared_from_this()] { self->begin(); });
}

void WorkerCore::begin() {
  if (stopping_) return;
  if (auto bad = check(options_)) return fail(*bad);
  if (options_.stop_when_empty) options_.poll = std::min(options_.poll, kDrainPoll);
  evictor_ = std::make_shared<Evictor>(queue_, options_.keep_completed, options_.keep_failed);
  settler_ = std::make_shared<Settler>(
      queue_, options_.name, std::max(options_.lease, milliseconds(10'000)), evictor_,
      [weak = weak_from_this()](const Settlement& settlement, const std::string& status) {
        if (auto self = weak.lock()) self->settled(settlement, status);
      });
  sweeper_ = std::make_shared<Sweeper>(queue_, options_.max_crashes, options_.keep_failed, evictor_,
                                       weak_call(*this, &WorkerCore::recovered));
  promoter_ = std::make_shared<Promoter>(queue_);
  reconciler_ = std::make_shared<Reconciler>(queue_, settler_);
  queue_->with_open([self = shared_from_this()](Result<void> opened) {
    if (!opened) return self->fail(opened.error());
    if (self->stopping_) return self->check_stopped();
    self->began_ = true;
    self->lane_ = self->queue_->client()->make_lane(":block");
    self->lane_->start();
    const auto weak = self->weak_from_this();
    self->reconnect_hook_ = self->queue_->client()->on_reconnect([weak] {
      if (auto core = weak.lock()) core->reconnected();
    });
    self->permit_hook_ = self->queue_->client()->on_crash_permit([weak] {
      auto core = weak.lock();
      if (!core) return;
      core->life_.look_again();
      core->step();
    });
    self->renew_tick();
    self->life_.connected();
    self->step();
  });
}

// The worker cannot go on: what it holds goes back, and status() tells why.
void WorkerCore::fail(const Error& why) {
  report_.failed(why);
  log(LogLevel::error, "worker of \"" + queue_->name() + "\" stops: " + why.message());
  stop_now();
}

void WorkerCore::step() {
  if (!began_) return;
  if (stopping_) give_back_unstarted();
  if (settler_) settler_->pump();
  const auto& client = queue_->client();
  for (auto action = life_.next(client->now_ms()); action.kind != Lifecycle::Action::Kind::none;
       action = life_.next(client->now_ms())) {
    switch (action.kind) {
      case Lifecycle::Action::Kind::claim: claim(action.count); break;
      case Lifecycle::Action::Kind::block: block(); break;
      case Lifecycle::Action::Kind::promote: promote(); break;
      case Lifecycle::Action::Kind::put_wake:
        put_marker({"ZADD", queue_->keys().marker, "0", "0"});
        break;
      case Lifecycle::Action::Kind::put_timer:
        put_marker({"ZADD", queue_->keys().marker, "LT", std::to_string(action.due_ms), "1"});
        break;
      case Lifecycle::Action::Kind::drained:
        if (settler_->idle()) return stop_now();
        return;
      case Lifecycle::Action::Kind::none: break;
    }
  }
  arm_timer();
  check_stopped();
}

void WorkerCore::arm_timer() {
  const auto due = stopping_ ? 0 : life_.timer_ms();
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

void WorkerCore::put_marker(std::initializer_list<std::string_view> words) {
  std::string bytes;
  wire::append_command(bytes, words);
  ++puts_;
  queue_->client()->command(std::move(bytes), [self = shared_from_this()](Result<wire::Reply>) {
    --self->puts_;
    self->check_stopped();
  });
}

// --- claim and load

void WorkerCore::claim(unsigned count) {
  ++claims_;
  queue_->client()->node_holder().with([self = shared_from_this(), count](Result<void> held) {
    auto& client = self->queue_->client();
    auto claim = std::make_shared<Claim>();
    if (!held) return self->claimed(claim, held.error());
    claim->asked = std::min(count, static_cast<unsigned>(kMaxBatchJobs));
    const auto now = client->now_ms();
    claim->lease = client->node_lease().next_lease(now, self->options_.lease.count());
    claim->permit = client->take_crash_permit();
    self->queue_->claims_on_their_way().insert(claim->lease.token());
    const auto& k = self->queue_->keys();
    auto call = ScriptCall::of<scripts::JobClaim>({.meta = k.meta,
                                                   .active = k.active,
                                                   .wait = k.wait,
                                                   .prioritized = k.prioritized,
                                                   .crashed = k.crashed,
                                                   .marker = k.marker,
                                                   .delayed = k.delayed},
                                                  {.revision = scripts::kRevision,
                                                   .score = claim->lease.score(),
                                                   .count = claim->asked,
                                                   .take_crashed = claim->permit});
    client->call(
        std::move(call), self->queue_->name(), k.meta,
        [self, claim](Result<wire::Reply> reply) { self->claimed(claim, std::move(reply)); });
  });
}

void WorkerCore::claimed(const std::shared_ptr<Claim>& claim, Result<wire::Reply> reply) {
  const auto& client = queue_->client();
  auto& on_their_way = queue_->claims_on_their_way();
  if (const auto it = on_their_way.find(claim->lease.token()); it != on_their_way.end())
    on_their_way.erase(it);
  if (!reply || reply->items.size() < 5) {
    --claims_;
    if (claim->permit) client->give_crash_permit(/*wake=*/false);
    life_.claim_failed();
    const auto error =
        reply ? Error{ErrorCode::protocol, "job/claim answered too little", {}} : reply.error();
    // The claim may yet run: only a new connection, which kills the old one, can tell what it took.
    if (error.code == ErrorCode::timeout) client->drop_connection("a claim went unanswered");
    return claim_refused(error);
  }
  const bool open = reply->items[0].text == "open";
  const auto ready = wire::number_of(reply->items[1]);
  const auto crashed = wire::number_of(reply->items[2]);
  const auto due = wire::number_of(reply->items[3]);
  const auto oldest = wire::number_of(reply->items[4]);
  for (std::size_t i = 5; i < reply->items.size(); ++i)
    claim->ids.push_back(std::move(reply->items[i].text));
  const auto taken = static_cast<unsigned>(claim->ids.size());
  life_.claimed(claim->asked, taken, ready, due, oldest != 0 || crashed != 0, client->now_ms());
  if (!open) life_.claim_gated();
  for (const auto& id : claim->ids) queue_->holds(id, claim->lease.token());
  if (taken == 0) {
    --claims_;
    if (claim->permit) client->give_crash_permit(/*wake=*/false);
  } else {
    load(claim);
  }
  step();
}

// A worker that dies quietly is the worst of failures: it ends only over what no waiting will mend.
void WorkerCore::claim_refused(const Error& error) {
  const auto* found = error.field("found");
  if (error.code == ErrorCode::fence && found && *found == "nothing") {
    // Obliterated or flushed under us: the queue is opened anew, if it still may be.
    queue_->forget_open();
    return queue_->with_open([self = shared_from_this()](Result<void> opened) {
      if (!opened && opened.error().code == ErrorCode::fence) return self->fail(opened.error());
      self->life_.look_again();
      self->step();
    });
  }
  if (error.code == ErrorCode::fence || error.code == ErrorCode::wrong_type ||
      error.code == ErrorCode::denied || error.code == ErrorCode::closed ||
      error.code == ErrorCode::protocol)
    return fail(error);
  log(LogLevel::warning, "claim on \"" + queue_->name() + "\": " + error.message());
  // The next claim waits for the connection by itself; other refusals get a pause first.
  const bool waits = error.unknown_outcome() || error.code == ErrorCode::unavailable;
  queue_->client()->loop().after(waits ? milliseconds(0) : kPause, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->life_.look_again();
    self->step();
  });
  step();
}

// The claim touched no job hash; now their keys are known.
void WorkerCore::load(const std::shared_ptr<Claim>& claim) {
  claim->jobs.resize(claim->ids.size());
  claim->missing = claim->ids.size();
  for (std::size_t i = 0; i < claim->ids.size(); ++i) {
    std::string bytes;
    wire::append_header(bytes, 2 + job::kLoadFields.size());
    wire::append_bulk(bytes, std::string_view("HMGET"));
    wire::append_bulk(bytes, std::string_view(job_key(queue_->name(), claim->ids[i])));
    for (const auto field : job::kLoadFields) wire::append_bulk(bytes, field);
    queue_->client()->command(
        std::move(bytes), [self = shared_from_this(), claim, i](Result<wire::Reply> reply) {
          if (reply && !is_not_ready(reply->text))
            claim->jobs[i] = job::read_loaded(claim->ids[i], std::move(*reply));
          else
            claim->lost = true;
          if (--claim->missing == 0) self->loaded(claim);
        });
  }
}

void WorkerCore::loaded(const std::shared_ptr<Claim>& claim) {
  const auto& client = queue_->client();
  --claims_;
  const auto deadline_ms = kIdEpochMs + static_cast<std::int64_t>(claim->lease.deadline_s) * 1'000;
  // Too little of the lease is left to begin with: back, unworked.
  const bool late = deadline_ms - client->now_ms() < options_.lease.count() / 2;
  bool permit = claim->permit;
  Jobs back;
  for (std::size_t i = 0; i < claim->ids.size(); ++i) {
    auto& found = claim->jobs[i];
    const bool there = found.has_value();
    if (!there) {
      found.emplace();
      found->id = claim->ids[i];
    }
    auto job = std::make_shared<RunningJob>(
        *std::move(found), queue_->name(), claim->lease.token(), [weak = weak_from_this()] {
          auto self = weak.lock();
          if (self) self->queue_->client()->loop().post([self] { self->send_progress(); });
        });
    job->order = ++runs_;
    if (stopping_) {  // goes back with all others that have not begun, in their order
      running_.insert(job);
      continue;
    }
    const bool second_suspect = there && job->job.crashes > 0 && !permit;
    if (!there || claim->lost || late || second_suspect) {
      life_.slot_freed();
      back.push_back(job);
      continue;
    }
    if (job->job.crashes > 0) {
      permit_holder_ = job;
      permit = false;
    }
    run(job);
  }
  for (auto job = back.rbegin(); job != back.rend(); ++job)
    settler_->push(give_back(*job, /*started=*/false));
  if (permit) client->give_crash_permit(/*wake=*/false);
  step();
}

// --- handlers

void WorkerCore::run(const std::shared_ptr<RunningJob>& job) {
  running_.insert(job);
  runner_->run(job);
}

void WorkerCore::ended(const Runner::Ended& runs) {
  for (const auto& [job, outcome] : runs) end_attempt(job, outcome);
  step();
}

void WorkerCore::end_attempt(const std::shared_ptr<RunningJob>& job,
                             const std::optional<Outcome>& outcome) {
  running_.erase(job);
  life_.slot_freed();  // now, so that the next claim travels in the same write as this one's end
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  settler_->push(outcome ? settle(job, *outcome, options_, draw(random_))
                         : give_back(job, /*started=*/false));
  if (permit_holder_ == job) {
    permit_holder_.reset();
    queue_->client()->give_crash_permit(/*wake=*/true);
  }
}

void WorkerCore::settled(const Settlement& settlement, const std::string& status) {
  queue_->holds_no_more(settlement.job->job.id, settlement.job->token);
  report_.settled(settlement.kind, status);
  if (status != "ok" && status != "done")
    log(LogLevel::warning, "job " + settlement.job->job.id + " of \"" + queue_->name() +
                               "\": the end of its run was answered \"" + status + "\"");
  queue_->client()->loop().post([self = shared_from_this()] { self->step(); });
}

void WorkerCore::send_progress() { progress_->send(running_); }

// --- the marker

void WorkerCore::block() {
  std::string bytes;
  const auto seconds = std::to_string(static_cast<double>(options_.poll.count()) / 1'000.0);
  wire::append_command(bytes, {"BZPOPMIN", queue_->keys().marker, seconds});
  lane_->send(std::move(bytes), options_.poll + kBlockSlack,
              [weak = weak_from_this()](Result<wire::Reply> reply) {
                if (auto self = weak.lock()) self->unblocked(std::move(reply));
              });
}

void WorkerCore::unblocked(Result<wire::Reply> reply) {
  if (stopping_) return;
  if (reply && reply->is_error()) return block_refused(reply->text);
  // No answer, or nothing popped: a wake may have been lost on the way, so look.
  if (!reply || reply->items.size() != 3)
    life_.block_timed_out();
  else if (reply->items[1].text == "0")
    life_.woken();
  else
    life_.became_timekeeper(wire::number_of(reply->items[2]));
  step();
}

// Ends the worker only over what no waiting will mend; a server that loads, changes its role or
// loses its cluster comes back.
void WorkerCore::block_refused(const std::string& text) {
  life_.block_failed();
  const auto& marker = queue_->keys().marker;
  auto error = protocol::refusal(text, queue_->name(), marker);
  error.detail = "cannot wait on " + marker + ": " + error.detail;
  if (error.code == ErrorCode::wrong_type || error.code == ErrorCode::denied) return fail(error);
  log(LogLevel::warning, error.message());
  queue_->client()->loop().after(kPause, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->life_.look_again();
    self->step();
  });
}

void WorkerCore::promote() {
  promoter_->promote([self = shared_from_this()](Promoter::Promoted promoted) {
    if (promoted.again_ms != 0)
      self->life_.promotion_failed(promoted.again_ms);
    else
      self->life_.promoted(promoted.more_due);
    self->step();
  });
}

// --- leases

void WorkerCore::renew_tick() {
  const auto interval = options_.lease / 3;
  renew_timer_ = queue_->client()->loop().after(interval, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->renew_tick();
  });
  extender_->extend(running_);
  if (stopping_) return;
  sweeper_->tick();
  if (renewals_++ * interval >= kTrashEvery || renewals_ == 1) {
    renewals_ = 1;
    evictor_->sweep();
  }
}

void WorkerCore::lease_lost(const std::shared_ptr<RunningJob>& job) {
  if (!running_.contains(job)) return;
  job->lease_lost = true;
  job->stop.request_stop();
  log(LogLevel::warning, "job " + job->job.id + " of \"" + queue_->name() +
                             "\" lost its lease; its result will be refused");
}

// --- after a reconnect

void WorkerCore::reconnected() {
  extender_->extend(running_);
  life_.look_again();
  reconciler_->reconcile();
  step();
}

// --- the end

void WorkerCore::request_stop() {
  queue_->client()->loop().post([self = shared_from_this()] { self->stop_now(); });
}

void WorkerCore::stop_now() {
  if (!stopping_) {
    stopping_ = true;
    runner_->stop();
    life_.stop();
    for (const auto& job : running_) job->stop.request_stop();
    if (lane_) lane_->close();
  }
  if (began_)
    step();
  else
    check_stopped();
}

// What was claimed and not begun goes back to the front of the line. Each release goes in front of
// those before it, so the job that was claimed last goes first; and the claims that are still on
// their way, whose jobs stood behind all of these, go before.
void WorkerCore::give_back_unstarted() {
  if (claims_ > 0) return;
  Jobs unstarted;
  for (const auto& job : running_)
    if (!runner_->begun(*job)) unstarted.push_back(job);
  std::sort(unstarted.begin(), unstarted.end(),
            [](const auto& a, const auto& b) { return a->order > b->order; });
  // What the end of one sets off may come back here and have ended the rest already.
  for (const auto& job : unstarted)
    if (running_.contains(job)) end_attempt(job, std::nullopt);
}

void WorkerCore::check_stopped() {
  if (!stopping_ || !running_.empty() || claims_ > 0 || puts_ > 0) return;
  if (settler_ && !settler_->idle()) return;
  if (renew_timer_) renew_timer_->cancel();
  if (timer_) timer_->cancel();
  reconnect_hook_.reset();
  permit_hook_.reset();
  report_.stopped();
}

}  // namespace echomq::inline v2
