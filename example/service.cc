// SPDX-License-Identifier: MIT
// A service's main(): two queues, a worker each, work until SIGTERM, and a shutdown that ends in
// time whatever the handlers do. What a supervisor (systemd, Kubernetes) expects of a process:
//   SIGTERM         no new jobs, running ones may finish within the grace; exit code 0
//   a second one    at once; jobs that still run are given to others when their lease ends; code 2
//   a bad set-up    exit code 1, and the reason on stderr
//
// Usage: service [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "echomq/echomq.h"

namespace {

using namespace std::chrono_literals;

void say(echomq::LogLevel level, std::string_view line) {
  if (level < echomq::LogLevel::info) return;
  std::fprintf(stderr, "service: %.*s\n", static_cast<int>(line.size()), line.data());
}

// A handler that takes long looks at its stop_token: what it throws then is a failed attempt, and
// what it gives back costs none.
echomq::Outcome render(echomq::Job<>& job) {
  const auto stop = job.stop_token();
  for (int page = 0; page < 100; ++page) {
    if (stop.stop_requested()) return echomq::Outcome::retry_in(0ms, "the service stops");
    std::this_thread::sleep_for(10ms);  // the work
  }
  return echomq::Outcome::done("100 pages");
}

}  // namespace

int main(int argc, char** argv) {
  // First of all, so that no signal is missed while the rest is made.
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env(), {.log = say});
  if (!mq) {
    say(echomq::LogLevel::error, mq.error().message());
    return 1;
  }
  echomq::Queue<> mails{*mq, "service-mails"};
  echomq::Queue<> pages{*mq, "service-pages"};
  echomq::Worker mailer{mails, {.concurrency = 16}, [](echomq::Job<>&) { /* send it */ }};
  echomq::Worker renderer{pages, {.concurrency = 2}, render};
  std::puts("ready");
  std::fflush(stdout);

  // The first to wait also sees the second signal; both workers get what is left of the grace.
  const auto grace = 20s;
  const int first = renderer.run_until(stop, grace);
  const int second = mailer.run_until(stop, grace);
  if (const auto status = renderer.status(); !status)
    say(echomq::LogLevel::error, status.error().message());
  std::printf("rendered %llu, mailed %llu\n",
              static_cast<unsigned long long>(renderer.stats().completed),
              static_cast<unsigned long long>(mailer.stats().completed));
  return std::max(first, second);
}
