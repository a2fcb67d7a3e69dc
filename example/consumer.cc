// SPDX-License-Identifier: MIT
// Fetching jobs by hand, for a program that has a loop of its own: here one thread that works what
// it holds in turns, a step of each. A job that is done is completed, one that fails is tried again
// after its backoff, and one that the program has no use for now is let go of: it goes back to its
// place and spends no attempt.
//
// Usage: consumer [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "echomq/echomq.h"

using namespace std::chrono_literals;

namespace {

// A piece of work in several steps. Its lease is extended as long as it is held.
struct Download {
  echomq::FetchedJob<> job;
  unsigned parts = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> files{mq, "downloads"};
  for (const char* name : {"a.iso", "b.iso", "broken", "c.iso"})
    files.add(name, {.attempts = 2}).value();

  unsigned completed = 0;
  unsigned failures = 0;
  unsigned let_go = 0;
  {
    echomq::Consumer<> consumer{files, {.max_held = 2}};
    std::vector<Download> held;
    while (completed < 3 || failures < 2) {
      // While nothing is held there is time to wait; otherwise what is ready is taken, and no more.
      auto fetched = consumer.fetch_many(2, held.empty() ? 5s : 0s).value();
      for (auto& job : fetched) {
        std::printf("%s, attempt %u\n", job.data().c_str(), job.job().attempt());
        held.push_back({std::move(job)});
      }
      for (auto& [job, parts] : held) {
        if (job.data() == "broken") {
          job.fail("no such file").value();
          ++failures;
        } else if (++parts == 3) {
          job.complete("3 parts").value();
          ++completed;
        }
      }
      std::erase_if(held, [](const Download& download) { return !download.job.held(); });
    }
    const auto id = files.add("for somebody else").value();
    if (auto job = consumer.fetch(5s).value()) let_go += job->job().id() == id ? 1 : 0;
  }  // the last fetched job was not finished: it waits again

  const auto counts = files.counts().value();
  std::printf("%u completed, %u failures, %u let go; waiting %lld, active %lld\n", completed,
              failures, let_go, static_cast<long long>(counts.waiting),
              static_cast<long long>(counts.active));
  files.obliterate().value();
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "consumer: %s\n", problem.what());
  return 1;
}
