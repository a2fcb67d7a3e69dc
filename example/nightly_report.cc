// SPDX-License-Identifier: MIT
// Schedulers: a report for each night, made by the queue itself at half past two in Berlin; and,
// because nobody wants to wait for that, one every 50 milliseconds. Programs say what their
// schedulers are at each start: what is so already stays as it is.
//
// Usage: nightly_report [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::Cron;
using echomq::Every;
using echomq::Schedule;

int main(int argc, char** argv) try {
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> reports{mq, "reports"};
  echomq::Schedulers schedulers{reports};

  // The nights around the change of clocks: on 29 March there is no half past two.
  const Schedule nightly{.when = Cron{"30 2 * * *", "Europe/Berlin"},
                         .missed = echomq::Missed::run_once(),
                         .overlap = echomq::Overlap::skip};
  constexpr std::int64_t kMarch28 = 1'774'656'000'000;  // 2026-03-28 00:00 UTC
  const auto nights = echomq::next_times(nightly, kMarch28, 3).value();
  for (const auto tick : nights) {
    const auto offset = echomq::utc_offset("Europe/Berlin", tick).value();
    const auto minutes = (tick / 1'000 + offset.count()) / 60 % 1'440;
    std::printf("at %02lld:%02lld in Berlin\n", static_cast<long long>(minutes / 60),
                static_cast<long long>(minutes % 60));
  }
  echomq::JobOptions often;
  often.attempts = 5;
  often.backoff = echomq::Backoff::exponential(1min);
  schedulers.upsert("nightly", nightly, {.data = "sales", .options = often}).value();
  schedulers
      .upsert("quick", {.when = Every{50ms}, .limit = 4, .immediately = true}, {.data = "sales"})
      .value();

  std::mutex mutex;
  std::set<std::int64_t> ticks;
  int made = 0;
  echomq::Worker worker{reports, {.concurrency = 2}, [&](echomq::Job<>& job) {
                          // What the report is about: the time that it was due, not that of this
                          // run.
                          const auto tick = echomq::scheduled_tick(job.id());
                          const std::lock_guard lock(mutex);
                          if (tick) ticks.insert(tick->tick_ms);
                          ++made;
                        }};
  while (schedulers.get("quick").value().next_ms != 0 || reports.counts().value().completed < 4)
    if (stop.wait(1, 10ms)) break;
  worker.stop(10s).value();

  const auto again = schedulers.upsert("nightly", nightly, {.data = "sales", .options = often});
  std::printf("nightly is %s\n", again.value().changed ? "another one" : "as it was");
  for (const char* const id : {"nightly", "quick"}) schedulers.remove(id).value();
  reports.obliterate().value();
  const bool each_once = made == 4 && ticks.size() == 4;
  std::printf("%d reports, one for each tick: %s\n", made, each_once ? "yes" : "no");
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "nightly_report: %s\n", problem.what());
  return 1;
}
