// SPDX-License-Identifier: MIT
#include "echomq/queue.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "queue/queue_core.h"

namespace echomq::inline v2 {
namespace {

Error buffer_full(std::size_t limit) {
  return {ErrorCode::backpressure,
          "adds that wait for their answer hold " + std::to_string(limit) +
              " bytes (ClientOptions::buffer_limit); wait for some of them, then try again",
          {{"expected", "less than " + std::to_string(limit) + " bytes in flight"}}};
}

}  // namespace

RawQueue::RawQueue(const Client& client, std::string_view name)
    : core_(QueueCore::of(client.core(), name)) {}

const std::string& RawQueue::name() const noexcept { return core_->name(); }

Result<void> RawQueue::open() { return core_->open(); }
Result<Counts> RawQueue::counts() { return core_->counts(); }
Result<JobInfo> RawQueue::job(std::string_view id) { return core_->job(id); }

void RawQueue::async_add(std::string data, const JobOptions& options, AddCallback done) {
  if (core_->name_error()) return done(*core_->name_error());
  auto job = job::encode_job(std::move(data), options, core_->client()->options().data_limit);
  if (!job) return done(job.error());
  if (!core_->client()->take_buffer(job->bytes()))
    return done(buffer_full(core_->client()->options().buffer_limit));
  core_->add(*std::move(job), std::move(done));
}

Result<AddedJob> RawQueue::add(std::string data, const JobOptions& options) {
  auto results = add_bulk({{std::move(data), options}});
  if (!results) return results.error();
  return std::move(results->front());
}

Result<AddResults> RawQueue::add_bulk(std::vector<NewJob<std::string>> jobs) {
  if (core_->name_error()) return *core_->name_error();
  if (jobs.empty()) return AddResults{};
  if (core_->client()->loop().inside())
    return Error{ErrorCode::invalid_argument,
                 "a blocking add from inside a callback of the I/O thread would wait for itself; "
                 "use async_add",
                 {}};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto ok =
        job::check_job(jobs[i].data, jobs[i].options, core_->client()->options().data_limit);
    if (ok) continue;
    auto error = ok.error();
    if (jobs.size() > 1) error.fields.emplace_back("index", std::to_string(i));
    return error;
  }
  struct Wait {
    std::mutex mutex;
    std::condition_variable all_there;
    AddResults results;
    std::size_t missing = 0;
  };
  auto wait = std::make_shared<Wait>();
  wait->missing = jobs.size();
  wait->results.assign(jobs.size(), AddedJob{});
  // Batch by batch, so that the server works on the first while the next one is encoded.
  std::vector<PendingAdd> adds;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (adds.empty()) adds.reserve(std::min(jobs.size() - i, kMaxBatchJobs));
    adds.push_back({job::encode_checked(std::move(jobs[i].data), jobs[i].options),
                    [wait, i](Result<AddedJob> result) {
                      const std::lock_guard lock(wait->mutex);
                      wait->results[i] = std::move(result);
                      if (--wait->missing == 0) wait->all_there.notify_one();
                    },
                    /*direct=*/true});
    if (adds.size() == kMaxBatchJobs || i + 1 == jobs.size())
      core_->add_all(std::exchange(adds, {}));
  }
  std::unique_lock lock(wait->mutex);
  wait->all_there.wait(lock, [&wait] { return wait->missing == 0; });
  return std::move(wait->results);
}

}  // namespace echomq::inline v2
