// SPDX-License-Identifier: MIT
// Deduplication: one job at a time for one purpose. A report is asked for again and again while it
// is made: it is made once more, with what was asked for last. A burst of edits is one build, some
// time after the last of them. A customer gets one reminder in an hour, however often it is due.
//
// Usage: deduplication [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::Deduplication;
using echomq::JobOptions;

int main(int argc, char** argv) try {
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> office{mq, "office"};

  JobOptions report;
  report.deduplication = Deduplication::keep_last_if_active("report");
  JobOptions build;
  build.delay = 200ms;
  build.deduplication = Deduplication::debounce("build", 200ms);
  JobOptions reminder;
  reminder.deduplication = Deduplication::throttle("customer-7", 1h);

  office.add("report of 9:00", report).value();
  for (const char* const edit : {"build 1", "build 2", "build 3"}) office.add(edit, build).value();
  office.add("reminder", reminder).value();
  const auto second = office.add("reminder again", reminder).value();
  std::printf("the second reminder: %s\n", second.deduplicated ? "is the first one" : "was added");

  std::mutex mutex;
  std::vector<std::string> done;
  const auto handle = [&](echomq::Job<>& job) {
    if (job.data() == "report of 9:00")  // while it is made
      for (const char* const time : {"9:01", "9:02", "9:03"})
        office.add(std::string("report of ") + time, report).value();
    const std::lock_guard lock(mutex);
    done.push_back(job.data());
  };
  echomq::Worker worker{office, {.stop_when_empty = true}, handle};
  if (const int code = worker.run_until(stop); code != 0) return code;

  std::string all;
  for (const auto& what : done) all += (all.empty() ? "" : ", ") + what;
  const auto owner = office.deduplication_owner("customer-7").value();
  std::printf("customer-7 is %s for an hour\n", owner ? "taken" : "free");
  office.release_deduplication("customer-7").value();
  std::printf("done: %s\n", all.c_str());
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "deduplication: %s\n", problem.what());
  return 1;
}
