// SPDX-License-Identifier: MIT
// Looking at a queue and moving its jobs, as an operator does: pages, promotion, another priority,
// a retry of all that failed, logs, and a clean-up: by state, by age, of what waits, and of all.
//
// Usage: manage [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <atomic>
#include <cstdio>
#include <string>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::JobState;
using echomq::Outcome;

namespace {

// How many jobs of a state there are, by looking at each of them.
std::size_t walk(echomq::Queue<>& queue, JobState state) {
  std::size_t count = 0;
  echomq::PageOptions how{.order = echomq::PageOrder::descending, .limit = 2};
  do {
    const auto page = queue.jobs(state, how).value();
    for (const auto& job : page.jobs) {
      std::printf("%-10s %s %s\n", std::string(echomq::name(state)).c_str(), job.id.c_str(),
                  job.failed_reason.c_str());
      ++count;
    }
    how.cursor = page.next;
  } while (!how.cursor.empty());
  return count;
}

}  // namespace

int main(int argc, char** argv) try {
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> queue{mq, "managed"};

  queue.open().value();
  queue.keep_metrics(24h).value();  // how many jobs end in each minute is counted from now on
  // Nothing is taken while the queue is paused, so there is time to arrange.
  queue.pause().value();
  for (const char* const data : {"one", "two", "three"}) queue.add(data).value();
  const auto last = queue.add("last", {.priority = 5}).value();
  const auto soon = queue.add("soon", {.delay = 1h}).value();
  const auto never = queue.add("never", {.delay = 2h}).value();
  queue.promote(soon).value();
  queue.change_priority(soon, 5).value();  // behind `last`, which has it already
  queue.remove(never).value();
  std::printf("%zu waiting\n", walk(queue, JobState::waiting));
  queue.resume().value();

  std::string order;
  std::atomic<bool> repaired{false};
  const auto handle = [&](echomq::Job<>& job) -> Outcome {
    job.log(repaired ? "went well" : "the disk is full").value();
    if (!repaired && job.data() != "last") return Outcome::fail("the disk is full");
    order += (order.empty() ? "" : " ") + job.data();
    return Outcome::done();
  };
  echomq::Worker first{queue, {.stop_when_empty = true}, handle};
  if (const int code = first.run_until(stop); code != 0) return code;

  // The cause is mended, so all that failed for it may run again.
  repaired = true;
  std::printf("%zu failed\n", walk(queue, JobState::failed));
  const auto report = queue.retry_all(JobState::failed).value();
  echomq::Worker second{queue, {.stop_when_empty = true}, handle};
  if (const int code = second.run_until(stop); code != 0) return code;
  const auto logs = queue.logs(soon).value();
  for (const auto& line : logs.lines) std::printf("log: %s\n", line.c_str());
  const auto removed = queue.remove_all(JobState::completed).value();

  if (queue.job(last)) return 1;  // gone with the rest

  // What nobody will work any more. A dry run tells how much it would be.
  for (const char* const data : {"four", "five"}) queue.add(data).value();
  queue.add("six", {.delay = 1h}).value();
  const auto old = queue.clean(JobState::delayed, 24h, {.dry_run = true}).value();
  const auto drained = queue.drain({.delayed = true}).value();
  long long ended = 0;
  const auto now = mq.server_time_ms();
  const auto hour = queue.metrics(JobState::completed, now - 3'600'000, now).value();
  for (const auto count : hour.counts) ended += count;
  // Nothing of the queue is left, not even its name. It would be refused while a job runs.
  queue.obliterate({.all = true}).value();
  std::printf("%s; retried %lld, removed %lld; %lld older than a day, drained %lld; ended %lld\n",
              order.c_str(), static_cast<long long>(report.done),
              static_cast<long long>(removed.done), static_cast<long long>(old.done),
              static_cast<long long>(drained.done), ended);
  return queue.counts() ? 1 : 0;  // there is no such queue
} catch (const std::exception& problem) {
  std::fprintf(stderr, "manage: %s\n", problem.what());
  return 1;
}
