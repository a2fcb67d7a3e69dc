// SPDX-License-Identifier: MIT
// What a producer can ask for: attempts and the wait between them, a delay, a priority, an id of
// its own, a job that is on the disk. Usage: producer_options [URL]; the server of EMQ_URL, or a
// private one, when no URL is given.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/echomq.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> orders{mq, "orders"};

  // The lower number goes first, and a job without a priority before all that have one.
  orders.add("relaxed", {.priority = 10}).value();
  orders.add("urgent", {.priority = 1}).value();
  orders.add("plain").value();

  // Three attempts; after the first failure 20 ms, after the second 40 ms.
  orders.add("flaky", {.attempts = 3, .backoff = echomq::Backoff::exponential(20ms)}).value();

  // Not before 300 ms from now.
  const auto delayed_at = std::chrono::steady_clock::now();
  orders.add("delayed", {.delay = 300ms}).value();

  // An id of your own makes an add repeatable: while the job exists, a second one is refused. Here
  // it exists until it is worked; with a retention it would also guard the time after that.
  const echomq::JobOptions once{.id = "invoice-42", .keep_completed = echomq::Keep::none()};
  orders.add("invoice", once).value();
  const auto again = orders.add("invoice", once);
  if (again || again.error().code != echomq::ErrorCode::duplicate)
    throw std::runtime_error("the second invoice-42 was not refused as a duplicate");
  std::printf("%s\n", again.error().message().c_str());

  // Answered when the job is on the disk, or refused by a server that cannot tell (nothing is added
  // then). ErrorCode::not_durable: it is in the queue, and was not confirmed in time.
  const auto safe = orders.add("safe", {.durability = echomq::Durability::fsynced(2s)});
  std::printf("on the disk: %s\n", safe ? "yes" : safe.error().message().c_str());

  // One handler at a time, so that the order can be seen.
  std::vector<std::string> order;
  unsigned flaky_attempts = 0;
  auto waited = 0ms;
  echomq::Worker worker{
      orders, {.concurrency = 1, .stop_when_empty = true}, [&](echomq::Job<>& job) {
        std::printf("%s, attempt %u\n", job.data().c_str(), job.attempt());
        order.push_back(job.data());
        if (job.data() == "delayed")
          waited = std::chrono::duration_cast<std::chrono::milliseconds>(
              std::chrono::steady_clock::now() - delayed_at);
        if (job.data() == "flaky") {
          flaky_attempts = job.attempt();
          if (job.attempt() < 3) throw std::runtime_error("not yet");
        }
      }};
  const echomq::Signals stop{SIGTERM, SIGINT};
  const int code = worker.run_until(stop);

  const auto place = [&](const char* job) {
    return std::find(order.begin(), order.end(), job) - order.begin();
  };
  const bool in_order = place("plain") < place("urgent") && place("urgent") < place("relaxed");
  std::printf(
      "plain before urgent before relaxed: %s; flaky took %u attempts; delayed waited: %s; "
      "invoice-42 ran %d time(s)\n",
      in_order ? "yes" : "no", flaky_attempts, waited >= 290ms ? "yes" : "no",
      static_cast<int>(std::count(order.begin(), order.end(), "invoice")));
  return code;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "producer_options: %s\n", problem.what());
  return 1;
}
