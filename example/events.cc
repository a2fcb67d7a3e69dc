// SPDX-License-Identifier: MIT
// Listening to a queue: callbacks by kind, an event of one's own, going on where one stopped, and
// waiting for a job's end.
//
// Usage: events [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>
#include <stdexcept>
#include <string>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::Event;
using echomq::EventType;
using echomq::Outcome;

int main(int argc, char** argv) try {
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> orders{mq, "orders"};
  std::string place;  // where to go on, as a program would keep it in a file

  {
    // The callbacks run on the client's I/O thread: they must be short and never block.
    std::latch ended{3};
    std::atomic<int> completed = 0;
    std::atomic<int> failed = 0;
    echomq::EventHandlers handlers;
    handlers.on(EventType::completed, [&](const Event&) { ++completed, ended.count_down(); })
        .on(EventType::failed, [&](const Event&) { ++failed, ended.count_down(); })
        .on(EventType::gap,
            [](const Event& event) {
              std::printf("missed %llu entries\n", static_cast<unsigned long long>(event.missed));
            })
        .otherwise([](const Event& event) {
          std::printf("%s %s\n", event.name.c_str(), event.job.c_str());
        });
    echomq::QueueEvents events{orders, {}, handlers};
    events.ready(5s).value();  // from here on nothing is missed

    orders.add("tea").value();
    orders.add("coffee").value();
    orders.add("nothing").value();
    echomq::Worker worker{orders, {.stop_when_empty = true}, [](echomq::Job<>& job) -> Outcome {
                            if (job.data() == "nothing") return Outcome::unrecoverable("empty");
                            return Outcome::done("one " + job.data());
                          }};
    if (!worker.wait(30s)) throw std::runtime_error("the worker does not end");
    ended.wait();
    place = events.last_id();
    std::printf("%d completed, %d failed\n", completed.load(), failed.load());
  }

  // While nobody listened, the stream went on. Whoever says where it stopped gets the rest.
  orders.emit_event("kitchen-closed", "until tomorrow").value();
  std::latch told{1};
  std::string notice;
  echomq::EventHandlers later;
  later.on_custom("kitchen-closed", [&](const Event& event) {
    notice = event.payload;
    told.count_down();
  });
  const echomq::QueueEvents rest{orders, {.from = echomq::EventPlace::after(place)}, later};
  told.wait();

  // Waiting for one job needs no listener of one's own.
  const auto id = orders.add("cake", {.keep_completed = echomq::Keep::none()}).value();
  const auto early = orders.wait_until_finished(id, 50ms);
  echomq::Worker worker{orders, {}, [](echomq::Job<>& job) { return "one " + job.data(); }};
  const auto end = orders.wait_until_finished(id, 30s).value();
  std::printf("%s, then the cake %s\n", early ? "at once" : early.error().message().c_str(),
              std::string(echomq::name(end.state)).c_str());
  std::printf("kitchen closed %s; cake: %s, %s\n", notice.c_str(),
              std::string(echomq::name(end.state)).c_str(), end.kept ? "kept" : "not kept");
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "events: %s\n", problem.what());
  return 1;
}
