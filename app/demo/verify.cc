// SPDX-License-Identifier: MIT
#include "demo/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "digest.h"
#include "echomq/json.h"

namespace demo {
namespace {

constexpr std::size_t kProblemsShown = 5;

// What the threads share. The lock is held for a few instructions a file.
struct Shared {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::atomic<unsigned> running{0};
  std::mutex lock;
  Verdict verdict;                     // under lock
  std::optional<echomq::Error> error;  // under lock; ends the work
  std::stop_source cancel;
};

// Adds one job to the verdict; answers what is wrong with it, if anything.
std::optional<std::string> judge(const echomq::JobInfo& job, const std::string& path,
                                 const echomq::Result<example::Digest>& truth, Verdict& verdict) {
  verdict.recovered += job.crashes;
  verdict.retried += job.attempts_made > 0 ? job.attempts_made - 1 : 0;
  if (job.state == echomq::JobState::failed) {
    ++verdict.failed;
    return fmt::format("failed after {} attempts: {}", job.attempts_made, job.failed_reason);
  }
  if (job.state != echomq::JobState::completed) {
    ++verdict.lost;
    return fmt::format("is {}, not completed", echomq::name(job.state));
  }
  // Each start has an end that was recorded, and only one of them is the completion.
  if (job.attempts_started != job.attempts_made + job.crashes)
    return fmt::format("was started {} times, with {} attempts and {} recoveries recorded",
                       job.attempts_started, job.attempts_made, job.crashes);
  if (job.data != path) return fmt::format("holds the path '{}'", job.data);
  const auto stored = echomq::Codec<example::Digest>::decode(job.result.value_or(""));
  if (!stored) return stored.error().message();
  if (!truth) return truth.error().message();
  if (!(*stored == *truth))
    return fmt::format("stored sha256 {}, the file now has {} (wrong, or the file changed)",
                       stored->sha256, truth->sha256);
  ++verdict.verified;
  return std::nullopt;
}

void work(echomq::Queue<>& queue, const std::vector<std::string>& ids,
          const std::vector<std::string>& paths, Shared& shared) {
  const auto cancelled = shared.cancel.get_token();
  for (auto i = shared.next++; i < ids.size() && !cancelled.stop_requested(); i = shared.next++) {
    const auto job = queue.job(ids[i]);
    const auto truth = example::digest_file(paths[i], cancelled);
    const std::lock_guard hold(shared.lock);
    std::optional<std::string> problem;
    if (job) {
      problem = judge(*job, paths[i], truth, shared.verdict);
    } else if (job.error().code == echomq::ErrorCode::not_found) {
      ++shared.verdict.lost;
      problem = "is gone";
    } else {
      shared.error = job.error();
      shared.cancel.request_stop();
      break;
    }
    if (problem && shared.verdict.problems.size() < kProblemsShown)
      shared.verdict.problems.push_back(fmt::format("job {} ({}) {}", ids[i], paths[i], *problem));
    ++shared.done;
  }
  --shared.running;
}

}  // namespace

echomq::Result<Verdict> verify(echomq::Queue<>& queue, const std::vector<std::string>& ids,
                               const std::vector<std::string>& paths, const echomq::Signals& stop,
                               const std::function<void(std::size_t)>& progress) {
  Shared shared;
  // Twice the cores, because a thread also waits for a round trip.
  const auto count = std::clamp(2 * std::thread::hardware_concurrency(), 2U, 32U);
  shared.running = count;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([&] { work(queue, ids, paths, shared); });
    while (shared.running > 0) {
      progress(shared.done);
      if (stop.wait(1, std::chrono::milliseconds(20))) {
        shared.cancel.request_stop();
        break;
      }
    }
  }
  progress(shared.done);
  if (shared.error) return *shared.error;
  if (stop.count() > 0) return echomq::Error{echomq::ErrorCode::closed, "interrupted", {}};
  return std::move(shared.verdict);
}

}  // namespace demo
