// SPDX-License-Identifier: MIT
// A program whose last handle of a client goes on the client's own thread, and whose main() returns
// at that moment. Exits 3 when a thread of the library still runs after the library's statics are
// gone.
//
// Usage: last_handle URL QUEUE
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>

#include "echomq/echomq.h"

namespace {

// Older than anything that the library makes, so its destructor runs after theirs.
struct LastOfAll {
  LastOfAll() = default;
  LastOfAll(const LastOfAll&) = delete;
  LastOfAll& operator=(const LastOfAll&) = delete;
  ~LastOfAll() {
    namespace fs = std::filesystem;
    const auto threads = std::distance(fs::directory_iterator("/proc/self/task"), {});
    if (threads == 1) return;
    std::fprintf(stderr, "%ld threads at the end\n", static_cast<long>(threads));
    ::_exit(3);
  }
} last_of_all;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto client = std::make_unique<echomq::Client>(echomq::connect(argv[1]).value());
  auto queue = std::make_unique<echomq::Queue<>>(*client, argv[2]);
  std::promise<void> answered;
  queue->async_add("x", {}, [&](const echomq::Result<std::string>&) {
    queue.reset();
    client.reset();
    answered.set_value();
  });
  answered.get_future().wait();
  return 0;
}
