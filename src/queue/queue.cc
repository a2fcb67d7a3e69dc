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

void told(const QueueCore& queue, const Result<AddedJob>& id) {
  const auto& after_add = queue.client()->options().after_add;
  if (after_add) after_add(queue.name(), id);
}

}  // namespace

RawQueue::RawQueue(const Client& client, std::string_view name)
    : core_(QueueCore::of(client.core(), name)) {}

const std::string& RawQueue::name() const noexcept { return core_->name(); }

Result<void> RawQueue::open() { return core_->open(); }
Result<Counts> RawQueue::counts() { return core_->counts(); }
Result<JobInfo> RawQueue::job(std::string_view id) { return core_->job(id); }

void RawQueue::async_add(std::string data, const JobOptions& options, AddCallback done) {
  const auto& client = core_->client()->options();
  if (client.after_add)
    done = [core = core_, done = std::move(done)](Result<AddedJob> id) {
      told(*core, id);
      done(std::move(id));
    };
  if (core_->name_error()) return done(*core_->name_error());
  if (!client.before_add) return send(std::move(data), options, std::move(done));
  auto changed = options;
  client.before_add(name(), data, changed);
  send(std::move(data), changed, std::move(done));
}

void RawQueue::send(std::string data, const JobOptions& options, AddCallback done) {
  const auto& client = core_->client()->options();
  auto job = job::encode_job(std::move(data), options, client.data_limit);
  if (!job) return done(job.error());
  if (!core_->client()->take_buffer(job->bytes())) return done(buffer_full(client.buffer_limit));
  core_->add({*std::move(job), std::move(done), options.durability});
}

// Why the whole call is refused, if it is.
std::optional<Error> RawQueue::prepare_bulk(std::vector<NewJob<std::string>>& jobs) const {
  if (core_->name_error()) return *core_->name_error();
  if (core_->client()->loop().inside())
    return Error{ErrorCode::invalid_argument,
                 "a blocking add from inside a callback of the I/O thread would wait for itself; "
                 "use async_add",
                 {}};
  const auto& client = core_->client()->options();
  if (client.before_add)
    for (auto& job : jobs) client.before_add(name(), job.data, job.options);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto ok = job::check_job(jobs[i].data, jobs[i].options, client.data_limit);
    if (ok) continue;
    auto error = ok.error();
    if (jobs.size() > 1) error.fields.emplace_back("index", std::to_string(i));
    return error;
  }
  return std::nullopt;
}

Result<AddedJob> RawQueue::add(std::string data, const JobOptions& options) {
  auto results = add_bulk({{std::move(data), options}});
  if (!results) return results.error();
  return std::move(results->front());
}

Result<AddResults> RawQueue::add_bulk(std::vector<NewJob<std::string>> jobs) {
  if (jobs.empty() && !core_->name_error()) return AddResults{};
  if (auto refused = prepare_bulk(jobs)) {
    for (std::size_t i = 0; i < jobs.size(); ++i) told(*core_, *refused);
    return *std::move(refused);
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
  // Batch by batch, so that the server works on the first, a small one, while the next is encoded.
  std::vector<PendingAdd> adds;
  std::size_t batch = AddBatcher::kWorthASecondFlush;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (adds.empty()) adds.reserve(std::min(jobs.size() - i, batch));
    adds.push_back({job::encode_checked(std::move(jobs[i].data), jobs[i].options),
                    [wait, i, core = core_.get()](Result<AddedJob> result) {
                      told(*core, result);
                      const std::lock_guard lock(wait->mutex);
                      wait->results[i] = std::move(result);
                      if (--wait->missing == 0) wait->all_there.notify_one();
                    },
                    jobs[i].options.durability, /*direct=*/true});
    if (adds.size() < batch && i + 1 < jobs.size()) continue;
    core_->add_all(std::exchange(adds, {}));
    batch = kMaxBatchJobs;
  }
  std::unique_lock lock(wait->mutex);
  wait->all_there.wait(lock, [&wait] { return wait->missing == 0; });
  return std::move(wait->results);
}

}  // namespace echomq::inline v2
