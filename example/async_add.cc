// SPDX-License-Identifier: MIT
// Adding without waiting, by callback and by future. Adds made while a batch is on its way travel
// together in the next one, so that one thread adds many thousand jobs a second this way.
//
// Usage: async_add [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <atomic>
#include <cstdio>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/echomq.h"

int main(int argc, char** argv) try {
  constexpr int kByCallback = 1'000;
  constexpr int kByFuture = 10;
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> notes{mq, "notes"};

  // The callback runs once for each job, on the client's I/O thread: it must be short and never
  // block.
  std::atomic<int> added = 0;
  std::latch answered{kByCallback};
  for (int i = 0; i < kByCallback; ++i)
    notes.async_add("note " + std::to_string(i), {},
                    [&](const echomq::Result<echomq::AddedJob>& id) {
                      if (id)
                        ++added;
                      else
                        std::fprintf(stderr, "%s\n", id.error().message().c_str());
                      answered.count_down();
                    });
  answered.wait();

  // A future holds the same Result.
  std::vector<std::future<echomq::Result<echomq::AddedJob>>> futures;
  futures.reserve(kByFuture);
  for (int i = 0; i < kByFuture; ++i) futures.push_back(notes.async_add("future note"));
  int by_future = 0;
  for (auto& future : futures)
    if (future.get()) ++by_future;

  // What is refused before anything is sent comes back the same way.
  const auto refused = notes.async_add("bad", {.attempts = 0}).get();
  if (refused) throw std::runtime_error("a job with no attempts was not refused");
  std::printf("%s\n", refused.error().message().c_str());

  std::atomic<int> worked = 0;
  echomq::Worker worker{
      notes, {.concurrency = 4, .stop_when_empty = true}, [&](echomq::Job<>&) { ++worked; }};
  const echomq::Signals stop{SIGTERM, SIGINT};
  const int code = worker.run_until(stop);
  std::printf("%d added by callback, %d by future, %d worked\n", added.load(), by_future,
              worked.load());
  return code;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "async_add: %s\n", problem.what());
  return 1;
}
