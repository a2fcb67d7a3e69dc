// SPDX-License-Identifier: MIT
// The smallest whole program: a typed job is added, and a worker in the same process works it. It
// ends by itself, because the worker stops when the queue is empty; a service leaves that option
// out and runs until SIGTERM. Needs no server: with EMQ_URL unset, connect() starts a private one.
#include <chrono>
#include <cstdio>
#include <string>

#include "echomq/echomq.h"
#include "echomq/json.h"

// [readme]
struct Thumb {
  std::string path;
  int width;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Thumb, path, width)

int main() {
  using namespace std::chrono_literals;
  echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(echomq::url_from_env()).value();
  echomq::Queue<Thumb> thumbs{mq, "thumbs"};
  thumbs.add({"cat.png", 200}, {.attempts = 3}).value();
  auto shrink = [](echomq::Job<Thumb>& job) {
    std::printf("%s, %d pixels wide\n", job.data().path.c_str(), job.data().width);
  };
  echomq::Worker worker{thumbs, {.concurrency = 8, .stop_when_empty = true}, shrink};
  return worker.run_until(stop, 25s);
}
// [/readme]
