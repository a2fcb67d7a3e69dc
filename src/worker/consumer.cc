// SPDX-License-Identifier: MIT
#include "echomq/consumer.h"

#include <functional>
#include <string>
#include <utility>

#include "base/bad_option.h"
#include "echomq/limits.h"
#include "worker/consumer_core.h"
#include "worker/worker_options.h"

namespace echomq::inline v2 {

using std::chrono::milliseconds;

// --- what a consumer and its jobs share

ConsumerCore::ConsumerCore(std::shared_ptr<QueueCore> queue, const ConsumerOptions& options)
    : queue_(std::move(queue)),
      hand_over_(std::make_shared<HandOver>(queue_, options.max_held)),
      core_(std::make_shared<WorkerCore>(queue_, worker_options(options), check(options))) {
  core_->start(hand_over_, [hand_over = std::weak_ptr(hand_over_)](const Settlement& settlement,
                                                                   std::string_view status) {
    if (const auto alive = hand_over.lock()) alive->settled(settlement, status);
  });
}

// The I/O thread cannot wait for what it is to do itself.
ConsumerCore::~ConsumerCore() {
  core_->request_stop();
  if (client()->loop().inside())
    core_->keep_until_stopped();
  else
    core_->report().wait_stopped();
}

void ConsumerCore::fetch(unsigned most, milliseconds timeout, HandOver::Fetched done) {
  client()->loop().post([hand_over = hand_over_, most, timeout, done = std::move(done)]() mutable {
    hand_over->fetch(most, timeout, std::move(done));
  });
}

void ConsumerCore::finish(std::shared_ptr<RunningJob> job, std::optional<Outcome> outcome,
                          HandOver::Settled done) {
  client()->loop().post(
      [hand_over = hand_over_, job = std::move(job), outcome = std::move(outcome),
       done = std::move(done)]() mutable { hand_over->finish(job, outcome, std::move(done)); });
}

std::function<void(const Runner::Jobs&)> ConsumerCore::give_back() const {
  return [weak = std::weak_ptr(hand_over_)](const Runner::Jobs& jobs) {
    if (const auto hand_over = weak.lock()) hand_over->give_back_later(jobs);
  };
}

// --- fetched jobs

RawFetchedJob::RawFetchedJob(std::shared_ptr<ConsumerCore> consumer,
                             std::shared_ptr<RunningJob> running)
    : consumer_(std::move(consumer)), running_(running), job_(std::move(running)) {}

RawFetchedJob::RawFetchedJob(RawFetchedJob&& other) noexcept
    : consumer_(std::move(other.consumer_)),
      running_(std::exchange(other.running_, nullptr)),
      job_(std::move(other.job_)) {}

RawFetchedJob& RawFetchedJob::operator=(RawFetchedJob&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  consumer_ = std::move(other.consumer_);
  running_ = std::exchange(other.running_, nullptr);
  job_ = std::move(other.job_);
  return *this;
}

RawFetchedJob::~RawFetchedJob() { let_go(); }

void RawFetchedJob::let_go() noexcept {
  if (running_) consumer_->finish(std::exchange(running_, nullptr), std::nullopt, nullptr);
}

std::optional<Error> RawFetchedJob::refusal(const Outcome* outcome) const {
  if (!running_)
    return Error{ErrorCode::wrong_state, "the job is not held: it was finished or moved away", {}};
  return outcome ? check_result(*outcome) : std::nullopt;
}

Result<void> RawFetchedJob::settle(std::optional<Outcome> outcome) {
  if (auto refused = refusal(outcome ? &*outcome : nullptr)) return *refused;
  auto begun = false;
  auto result = consumer_->client()->wait_for<void>([&](HandOver::Settled done) {
    begun = true;
    consumer_->finish(running_, std::move(outcome), std::move(done));
  });
  if (begun) running_.reset();
  return result;
}

Result<void> RawFetchedJob::finish(const Outcome& outcome) { return settle(outcome); }
Result<void> RawFetchedJob::release() { return settle(std::nullopt); }

void RawFetchedJob::async_finish(const Outcome& outcome, SettledCallback done) {
  if (auto refused = refusal(&outcome)) {
    if (done) done(*refused);
    return;
  }
  HandOver::Settled settled;
  if (done)
    settled = [client = consumer_->client(), done = std::move(done)](Result<void> result) mutable {
      client->run_callback([done = std::move(done), result = std::move(result)]() mutable {
        done(std::move(result));
      });
    };
  consumer_->finish(std::exchange(running_, nullptr), outcome, std::move(settled));
}

// --- the consumer

namespace {

std::optional<Error> check_fetch(unsigned max, milliseconds timeout) {
  if (max < 1 || max > kMaxBatchJobs)
    return bad_option("max", std::to_string(max), "1 to " + std::to_string(kMaxBatchJobs));
  if (timeout < milliseconds(0) || timeout > kMaxDelay)
    return bad_option("timeout", std::to_string(timeout.count()), "0 milliseconds to ten years");
  return std::nullopt;
}

std::vector<RawFetchedJob> owned_by(const std::shared_ptr<ConsumerCore>& core, Runner::Jobs jobs) {
  std::vector<RawFetchedJob> fetched;
  fetched.reserve(jobs.size());
  for (auto& job : jobs) fetched.emplace_back(core, std::move(job));
  return fetched;
}

}  // namespace

RawConsumer::RawConsumer(RawQueue queue, const ConsumerOptions& options)
    : core_(std::make_shared<ConsumerCore>(queue.core(), options)) {}

RawConsumer::RawConsumer(RawConsumer&&) noexcept = default;

RawConsumer::~RawConsumer() {
  if (core_) core_->request_stop();
}

Result<std::vector<RawFetchedJob>> RawConsumer::fetch_many(unsigned max, milliseconds timeout) {
  if (auto bad = check_fetch(max, timeout)) return *bad;
  auto jobs = core_->client()->wait_for<Runner::Jobs>(
      [&](HandOver::Fetched done) { core_->fetch(max, timeout, std::move(done)); });
  if (!jobs) return jobs.error();
  return owned_by(core_, *std::move(jobs));
}

void RawConsumer::async_fetch_many(unsigned max, milliseconds timeout, RawFetchCallback done) {
  async_fetch_many(core_, max, timeout, std::move(done));
}

// What waits holds neither the consumer nor its client: they may go meanwhile.
void RawConsumer::async_fetch_many(const std::weak_ptr<ConsumerCore>& core, unsigned max,
                                   milliseconds timeout, RawFetchCallback done) {
  if (auto bad = check_fetch(max, timeout)) return done(*bad);
  const auto consumer = core.lock();
  if (!consumer) return done(Error{ErrorCode::closed, "the consumer is gone", {}});
  // Whoever calls this has the client.
  auto* const client = consumer->client().get();
  consumer->fetch(
      max, timeout,
      [core, client, give_back = consumer->give_back(),
       done = std::move(done)](Result<Runner::Jobs> jobs) mutable {
        const auto alive = core.lock();
        if (jobs && !alive) {
          give_back(*jobs);
          jobs = Error{ErrorCode::closed, "the consumer is gone", {}};
        }
        auto fetched = jobs ? Result(owned_by(alive, *std::move(jobs))) : jobs.error();
        client->run_callback([done = std::move(done), fetched = std::move(fetched)]() mutable {
          done(std::move(fetched));
        });
      });
}

Result<void> RawConsumer::status() const { return core_->report().status(); }
WorkerStats RawConsumer::stats() const { return core_->report().stats(); }

}  // namespace echomq::inline v2
