// SPDX-License-Identifier: MIT
// A service's main(): two queues, a worker each, work until SIGTERM, and a shutdown that ends in
// time whatever the handlers do. What a supervisor (systemd, Kubernetes) expects of a process:
//   SIGTERM         no new jobs, running ones may finish within the grace; exit code 0
//   a second one    at once; jobs that still run are given to others when their lease ends; code 2
//   a bad set-up    exit code 1, and the reason on stderr; so does a worker that an error ends
//
// Usage: service [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
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

  // At the same time, so that both stop at once and have the same grace. One that ends by an error
  // ends the service: half of it would not be missed for long.
  const auto run = [&stop](echomq::Worker& worker) {
    const int code = worker.run_until(stop, 20s);
    if (const auto status = worker.status(); !status) {
      say(echomq::LogLevel::error, status.error().message());
      ::kill(::getpid(), SIGTERM);
    }
    return code;
  };
  auto rendering = std::async(std::launch::async, [&] { return run(renderer); });
  const int second = run(mailer);
  const int first = rendering.get();
  std::printf("rendered %llu, mailed %llu\n",
              static_cast<unsigned long long>(renderer.stats().completed),
              static_cast<unsigned long long>(mailer.stats().completed));
  return std::max(first, second);
}
