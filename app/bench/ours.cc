// SPDX-License-Identifier: MIT
#include "bench/ours.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bench/payload.h"
#include "echomq/queue.h"
#include "echomq/worker.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using echomq::AddedJob;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;
using Count = std::uint64_t;

// Adds that are on their way, and the first thing that went wrong with one.
class InFlight {
 public:
  // Waits until fewer than `most` are on their way. False: not before the deadline.
  bool enter(Count most, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    most_ = most;
    const bool room = fewer_.wait_until(lock, deadline, [&] { return now_ < most; });
    ++now_;
    return room;
  }
  void leave(const Result<AddedJob>& added) {
    const std::lock_guard lock(mutex_);
    if (!added && !problem_) problem_ = added.error();
    if (--now_ == most_ - 1 || now_ == 0) fewer_.notify_one();
  }
  // Waits for all. Error: the first one, or that it took too long.
  Result<void> settle(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!fewer_.wait_until(lock, deadline, [&] { return now_ == 0; })) return too_slow();
    if (problem_) return *problem_;
    return {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable fewer_;
  Count now_ = 0;
  Count most_ = 1;
  std::optional<Error> problem_;
};

// How long each job was on its way, in microseconds.
class Latencies {
 public:
  void add(double us) {
    const std::lock_guard lock(mutex_);
    us_.push_back(us);
  }
  [[nodiscard]] Count count() const {
    const std::lock_guard lock(mutex_);
    return us_.size();
  }
  std::vector<double> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(us_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::vector<double> us_;
};

class Ours final : public Subject {
 public:
  explicit Ours(echomq::Client client) : client_(std::move(client)) {}

  Result<Json> run(const Json& command) override {
    const auto what = command.value("do", "");
    if (what == "bulk_add") return bulk_add(command);
    if (what == "add" && command.contains("threads")) return add_from_threads(command);
    if (what == "add") return add(command);
    if (what == "process") return process(command);
    if (what == "work") return work(command);
    if (what == "paced_add") return paced_add(command);
    if (what == "collect") return collect(command);
    return Error{ErrorCode::unsupported, "unknown: " + what, {}};
  }

 private:
  [[nodiscard]] echomq::Queue<> queue_of(const Json& command) const {
    return {client_, command.at("queue").get<std::string>()};
  }

  Result<Json> bulk_add(const Json& command) {
    auto queue = queue_of(command);
    const auto deadline = deadline_of(command);
    const auto at_once = command.at("at_once").get<Count>();
    auto left = command.at("jobs").get<Count>();
    const Stopwatch watch;
    while (left > 0) {
      if (Clock::now() > deadline) return too_slow();
      std::vector<echomq::NewJob<>> jobs;
      const auto count = std::min(left, at_once);
      jobs.reserve(count);
      for (Count i = 0; i < count; ++i) jobs.push_back({payload(0)});
      const auto added = queue.add_bulk(std::move(jobs));
      if (!added) return added.error();
      for (const auto& id : *added)
        if (!id) return id.error();
      left -= count;
    }
    return watch.answer();
  }

  Result<Json> add(const Json& command) {
    auto queue = queue_of(command);
    const auto deadline = deadline_of(command);
    const auto most = command.at("in_flight").get<Count>();
    const auto jobs = command.at("jobs").get<Count>();
    // Shared: a late answer may come after this has given up.
    const auto flying = std::make_shared<InFlight>();
    const Stopwatch watch;
    for (Count i = 0; i < jobs; ++i) {
      if (!flying->enter(most, deadline)) return too_slow();
      queue.async_add(payload(0), {}, [flying](const Result<AddedJob>& id) { flying->leave(id); });
    }
    if (auto all = flying->settle(deadline); !all) return all.error();
    return watch.answer();
  }

  Result<Json> add_from_threads(const Json& command) {
    auto queue = queue_of(command);
    const auto deadline = deadline_of(command);
    const auto jobs = command.at("jobs").get<Count>();
    std::atomic<Count> next = 0;
    std::mutex mutex;
    std::optional<Error> problem;
    const Stopwatch watch;
    {
      std::vector<std::jthread> threads;
      for (Count i = 0; i < command.at("threads").get<Count>(); ++i)
        threads.emplace_back([&] {
          while (next++ < jobs) {
            auto id =
                Clock::now() > deadline ? Result<AddedJob>(too_slow()) : queue.add(payload(0));
            if (id) continue;
            const std::lock_guard lock(mutex);
            problem = id.error();
            return;
          }
        });
    }
    if (problem) return *problem;
    return watch.answer();
  }

  Result<Json> process(const Json& command) {
    auto queue = queue_of(command);
    const auto deadline = deadline_of(command);
    const auto jobs = command.at("jobs").get<Count>();
    echomq::WorkerOptions options;
    options.concurrency = command.at("concurrency").get<unsigned>();
    if (command.at("keep") == "all") options.keep_completed = echomq::Keep::all();
    const Stopwatch watch;
    echomq::Worker worker{queue, options, [](echomq::Job<>&) {}};
    while (worker.stats().completed < jobs) {
      if (auto status = worker.status(); !status) return status.error();
      if (Clock::now() > deadline) return too_slow();
      std::this_thread::sleep_for(1ms);
    }
    auto answer = watch.answer();
    if (auto stopped = worker.stop(10s); !stopped) return stopped.error();
    return answer;
  }

  Result<Json> work(const Json& command) {
    auto queue = queue_of(command);
    echomq::WorkerOptions options;
    options.concurrency = command.at("concurrency").get<unsigned>();
    worker_.emplace(queue, options, [this](echomq::Job<>& job) {
      const auto stamp = stamp_of(job.data());
      if (stamp != 0) latencies_.add(static_cast<double>(monotonic_ns() - stamp) / 1e3);
    });
    return Json::object();
  }

  Result<Json> paced_add(const Json& command) {
    auto queue = queue_of(command);
    const auto deadline = deadline_of(command);
    const auto jobs = command.at("jobs").get<Count>();
    const std::chrono::duration<double> gap(1.0 / command.at("rate").get<double>());
    const auto flying = std::make_shared<InFlight>();
    const Stopwatch watch;
    const auto begin = Clock::now();
    for (Count i = 0; i < jobs; ++i) {
      // What is due within a millisecond goes at once: sleeping is no finer.
      const auto due =
          begin + std::chrono::duration_cast<Clock::duration>(gap * static_cast<double>(i));
      if (due > Clock::now() + 500us) std::this_thread::sleep_until(due);
      if (!flying->enter(jobs, deadline)) return too_slow();
      queue.async_add(payload(monotonic_ns()), {},
                      [flying](const Result<AddedJob>& id) { flying->leave(id); });
    }
    if (auto all = flying->settle(deadline); !all) return all.error();
    return watch.answer();
  }

  Result<Json> collect(const Json& command) {
    const auto deadline = deadline_of(command);
    while (latencies_.count() < command.at("jobs").get<Count>()) {
      if (Clock::now() > deadline) return too_slow();
      std::this_thread::sleep_for(2ms);
    }
    return Json{{"latencies_us", latencies_.take()}};
  }

  echomq::Client client_;
  Latencies latencies_;
  std::optional<echomq::Worker> worker_;  // goes first: its handlers use what stands above
};

}  // namespace

Result<std::unique_ptr<Subject>> our_subject(const std::string& url) {
  auto client = echomq::connect(url, {.name = "bench"});
  if (!client) return client.error();
  return std::unique_ptr<Subject>(std::make_unique<Ours>(*std::move(client)));
}

}  // namespace bench
