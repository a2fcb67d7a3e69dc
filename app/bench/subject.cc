// SPDX-License-Identifier: MIT
#include "bench/subject.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "bench/payload.h"

namespace bench {
namespace {

double processor_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

double seconds_now() { return static_cast<double>(monotonic_ns()) / 1e9; }

// Who asked is gone: there is nobody to measure for, whatever is at work here.
void end_with_stdin() {
  std::thread([] {
    pollfd input{STDIN_FILENO, 0, 0};
    while (::poll(&input, 1, -1) < 0 || (input.revents & (POLLHUP | POLLERR)) == 0) {
    }
    // Time for an end in good order first.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    std::_Exit(0);
  }).detach();
}

}  // namespace

int serve(Subject& subject) {
  end_with_stdin();
  for (std::string line; std::getline(std::cin, line);) {
    const auto command = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    Json answer = {{"error", "not a JSON object"}};
    if (command.is_object()) {
      auto result = subject.run(command);
      if (result)
        answer = *std::move(result);
      else
        answer["error"] = result.error().message();
    }
    const auto text = answer.dump() + "\n";
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      return 1;
  }
  return 0;
}

Stopwatch::Stopwatch() : begin_s_(seconds_now()), begin_cpu_us_(processor_us()) {}

Json Stopwatch::answer() const {
  return {{"seconds", seconds_now() - begin_s_}, {"cpu_us", processor_us() - begin_cpu_us_}};
}

std::chrono::steady_clock::time_point deadline_of(const Json& command) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(command.value("limit_s", 120));
}

echomq::Error too_slow() {
  return {echomq::ErrorCode::timeout, "not done within the limit of the command", {}};
}

}  // namespace bench
