// SPDX-License-Identifier: MIT
#include "echomq/worker.h"

#include <utility>

#include "worker/pool_runner.h"
#include "worker/worker_core.h"
#include "worker/worker_options.h"

namespace echomq::inline v2 {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLook{
    50};  // how often run_until looks at both of the things that may end it

}  // namespace

RawWorker::RawWorker(RawQueue queue, WorkerOptions options, RawHandler handler) {
  handler = around(options.middleware, std::move(handler));
  runner_ = std::make_shared<PoolRunner>(queue.core(), std::move(handler), options.concurrency);
  auto bad = check(options);
  core_ = std::make_shared<WorkerCore>(queue.core(), std::move(options), std::move(bad));
  core_->start(runner_);
}

RawWorker::RawWorker(RawWorker&&) noexcept = default;

RawWorker::~RawWorker() {
  if (!core_) return;
  core_->request_stop();
  if (core_->given_up() && !core_->report().wait_stopped(milliseconds(0))) {
    core_->abandon();
    runner_->abandon();
    return;
  }
  core_->report().wait_stopped();
  runner_->join();
}

int RawWorker::run_until(const Signals& signals, milliseconds grace) {
  while (!signals.wait(1, kLook))
    if (core_->report().wait_stopped(milliseconds(0))) return core_->report().status() ? 0 : 1;
  core_->request_stop();
  const auto until = std::chrono::steady_clock::now() + grace;
  while (!core_->report().wait_stopped(kLook)) {
    if (std::chrono::steady_clock::now() < until && signals.count() < 2) continue;
    core_->log(LogLevel::error,
               "handlers are still running after the grace: " + runner_->running_ids());
    core_->give_up();
    return 2;
  }
  return core_->report().status() ? 0 : 1;
}

Result<void> RawWorker::stop(milliseconds grace) {
  core_->request_stop();
  if (core_->report().wait_stopped(grace)) return core_->report().status();
  auto ids = runner_->running_ids();
  return Error{
      ErrorCode::timeout, "handlers are still running after the grace: " + ids, {{"jobs", ids}}};
}

bool RawWorker::wait(milliseconds timeout) { return core_->report().wait_stopped(timeout); }
void RawWorker::pause() { core_->pause(true); }
void RawWorker::resume() { core_->pause(false); }
bool RawWorker::paused() const { return core_->paused(); }

Result<void> RawWorker::set_concurrency(unsigned concurrency) {
  if (auto bad = check_worker_concurrency(concurrency)) return *bad;
  runner_->set_concurrency(concurrency);
  core_->capacity_changed();
  return {};
}

unsigned RawWorker::concurrency() const { return runner_->concurrency(); }
bool RawWorker::cancel(std::string_view id, const std::string& reason) {
  return runner_->cancel(id, reason) > 0;
}
std::size_t RawWorker::cancel_all(const std::string& reason) {
  return runner_->cancel(std::nullopt, reason);
}
Result<void> RawWorker::status() const { return core_->report().status(); }
WorkerStats RawWorker::stats() const { return core_->report().stats(); }

}  // namespace echomq::inline v2
