// SPDX-License-Identifier: MIT
// A program whose last handle of a client goes on the client's own thread, and whose main() returns
// at that moment. Exits 3 when a thread of the library still runs after the library's statics are
// gone.
//
// Usage: last_handle URL QUEUE
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "echomq/echomq.h"

namespace {

// A sanitizer has a thread of its own, from the program's first thread on.
int threads_before = 0;

// Older than anything that the library makes, so its destructor runs after theirs.
struct LastOfAll {
  LastOfAll() = default;
  LastOfAll(const LastOfAll&) = delete;
  LastOfAll& operator=(const LastOfAll&) = delete;
  ~LastOfAll() {
    const int after = threads();
    if (after <= threads_before) return;
    std::fprintf(stderr, "%d threads at the end, %d before\n", after, threads_before);
    ::_exit(3);
  }

  static int threads() {
    int running = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      running += is_running(task.path()) ? 1 : 0;
    return running;
  }

  // A thread that was waited for may be listed still, while the kernel puts it away: proc(5),
  // PF_EXITING in the flags, the seventh field after the name.
  static bool is_running(const std::filesystem::path& task) {
    constexpr unsigned kExiting = 0x4;
    std::ifstream in(task / "stat");
    std::string line;
    if (!std::getline(in, line)) return false;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 6; ++i) fields >> skipped;
    unsigned flags = 0;
    fields >> flags;
    return (flags & kExiting) == 0;
  }
} last_of_all;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::thread([] {}).join();
  threads_before = LastOfAll::threads();
  auto client = std::make_unique<echomq::Client>(echomq::connect(argv[1]).value());
  auto queue = std::make_unique<echomq::Queue<>>(*client, argv[2]);
  std::promise<void> answered;
  queue->async_add("x", {}, [&](const echomq::Result<echomq::AddedJob>&) {
    queue.reset();
    client.reset();
    answered.set_value();
  });
  answered.get_future().wait();
  return 0;
}
