// SPDX-License-Identifier: MIT
// A migration in a process of its own, which kills itself behind a step that the test chooses.
//
//   migration_process URL PREFIX run|abort|finish STEP FROM=TO...
//
// STEP counts the steps that change something, from 1; 0: none. What it printed last is the step's
// word.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "echomq/migration.h"

int main(int count, char** words) {
  if (count < 6) return 2;
  echomq::ClientOptions client_options;
  client_options.connect_timeout = std::chrono::seconds(10);  // the test's machine may be busy
  auto mq = echomq::connect(words[1], client_options);
  if (!mq) {
    std::fprintf(stderr, "%s\n", mq.error().message().c_str());
    return 3;
  }
  echomq::MigrationOptions options;
  options.prefix = words[2];
  for (int i = 5; i < count; ++i) {
    const std::string word = words[i];
    const auto equals = word.find('=');
    options.queues.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  const auto last = std::strtol(words[4], nullptr, 10);
  options.on_progress = [last, at = 0L](const echomq::MigrationProgress& now) mutable {
    if (now.step == "looking" || ++at != last) return true;
    std::printf("%s\n", now.step.c_str());
    std::fflush(stdout);
    ::kill(::getpid(), SIGKILL);
    return true;
  };
  echomq::Migration migration(*mq, options);
  const std::string_view act = words[3];
  const auto report = act == "run"     ? migration.run()
                      : act == "abort" ? migration.abort()
                                       : migration.finish();
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message().c_str());
    return 1;
  }
  return 0;
}
