// SPDX-License-Identifier: MIT
// The limits of a queue, which hold for all its workers together: how many jobs run at the same
// time, how many start in a time, and a hold, which a handler asks for that is told to slow down.
//
// Usage: limits [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::Outcome;
using echomq::RateLimit;

int main(int argc, char** argv) try {
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> calls{mq, "calls"};
  calls.open().value();
  calls.set_concurrency(2).value();
  calls.set_rate_limit(RateLimit::smooth(100, 1s, 5)).value();
  for (int i = 0; i < 20; ++i) calls.add("call").value();

  // The other side answers "too many requests" once, and says for how long.
  std::atomic<bool> slowed_down{false};
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  const auto handle = [&](echomq::Job<>&) -> Outcome {
    if (!slowed_down.exchange(true)) return Outcome::rate_limited(100ms);
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(2ms);
    --running;
    return Outcome::done();
  };
  const auto begin = mq.server_time_ms();
  echomq::Worker one{calls, {.concurrency = 8, .stop_when_empty = true}, handle};
  echomq::Worker two{calls, {.concurrency = 8, .stop_when_empty = true}, handle};
  if (const int code = one.run_until(stop); code != 0) return code;
  if (const int code = two.run_until(stop); code != 0) return code;
  const auto took = mq.server_time_ms() - begin;

  const auto limits = calls.limits().value();
  std::printf("%u at a time, %u in %lld ms, gate %s\n", *limits.concurrency, limits.rate->max,
              static_cast<long long>(limits.rate->duration.count()),
              std::string(echomq::name(limits.gate)).c_str());
  calls.clear_concurrency().value();
  calls.clear_rate_limit().value();
  const bool kept = most <= 2 && took >= 200;  // held for 100 ms, and 16 jobs 10 ms apart
  std::printf("held once, never more than 2 at a time: %s\n", kept ? "yes" : "no");
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "limits: %s\n", problem.what());
  return 1;
}
