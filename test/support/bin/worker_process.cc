// SPDX-License-Identifier: MIT
// A worker in a process of its own, for tests that kill, stop and signal it.
//
//   worker_process url=unix:///run/emq.sock queue=mail concurrency=8 lease=2000 journal=/tmp/runs
//
// Each handler begins by appending "<id> <pid>" to the journal, in one write, so that a test can
// tell which process began which job and how often. What it does then is told by the job's data:
//
//   abort         ends the process by SIGABRT
//   nap MS        sleeps, whatever it is asked
//   hold FILE     waits until the file exists, whatever it is asked
//   stop          waits until it is asked to stop
//   anything else ends at once
//
// and its result is the worker's name. With "fetch" it is no worker but fetches the jobs one by
// one, and says how each end was answered. The process's own clock (ms since 1970), its log and, at
// the end, the counters go to standard error; the exit code is that of Worker::run_until.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "echomq/echomq.h"

namespace {

using std::chrono::milliseconds;

std::map<std::string, std::string> read_arguments(int count, char** words) {
  std::map<std::string, std::string> arguments{
      {"concurrency", "1"}, {"lease", "30000"},      {"grace", "25000"}, {"max_crashes", "2"},
      {"poll", "5000"},     {"node_lease", "30000"}, {"name", "worker"}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto at = word.find('=');
    arguments[word.substr(0, at)] = at == std::string::npos ? "1" : word.substr(at + 1);
  }
  return arguments;
}

// O_APPEND and one write: lines of several processes never mix, and a kill loses none.
class Journal {
 public:
  explicit Journal(const std::string& path)
      : fd_(path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)) {}
  void note(const std::string& id) const {
    if (fd_ < 0) return;
    const auto line = id + " " + std::to_string(::getpid()) + "\n";
    if (::write(fd_, line.data(), line.size()) < 0) std::perror("journal");
  }

 private:
  int fd_;
};

void obey(echomq::Job<>& job) {
  const std::string_view data = job.data();
  if (data == "abort") std::abort();
  if (data.starts_with("nap "))
    std::this_thread::sleep_for(milliseconds(std::stol(job.data().substr(4))));
  const auto pause = [] { std::this_thread::sleep_for(milliseconds(2)); };
  if (data.starts_with("hold "))
    while (::access(job.data().c_str() + 5, F_OK) != 0) pause();
  if (data == "stop")
    while (!job.stop_token().stop_requested()) pause();
}

const char* answer(const echomq::Result<void>& told) {
  return told ? "ok" : echomq::name(told.error().code).data();
}

}  // namespace

int main(int count, char** words) {
  auto arguments = read_arguments(count, words);
  const auto number = [&arguments](const char* name) { return std::stol(arguments[name]); };
  echomq::Signals signals{SIGTERM, SIGINT};
  std::fprintf(stderr, "clock=%lld\n",
               static_cast<long long>(std::chrono::duration_cast<milliseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count()));
  echomq::ClientOptions options;
  options.log = [](echomq::LogLevel, std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  };
  options.node_lease = milliseconds(number("node_lease"));
  options.connect_timeout = std::chrono::seconds(10);  // the test's machine may be busy
  if (arguments.contains("node")) options.node = static_cast<unsigned>(number("node"));
  auto mq = echomq::connect(arguments["url"], options);
  if (!mq) {
    std::fprintf(stderr, "%s\n", mq.error().message().c_str());
    return 1;
  }
  echomq::Queue<> queue{*mq, arguments["queue"]};
  const Journal journal(arguments["journal"]);
  if (arguments.contains("fetch")) {
    echomq::ConsumerOptions by_hand;
    by_hand.lease = milliseconds(number("lease"));
    by_hand.name = arguments["name"];
    echomq::Consumer<> consumer{queue, by_hand};
    while (signals.count() == 0) {
      auto job = consumer.fetch(milliseconds(100)).value();
      if (!job) continue;
      journal.note(job->job().id());
      obey(job->job());
      std::fprintf(stderr, "told=%s\n", answer(job->complete(arguments["name"])));
    }
    return 0;
  }
  echomq::WorkerOptions how;
  how.concurrency = static_cast<unsigned>(number("concurrency"));
  how.lease = milliseconds(number("lease"));
  how.max_crashes = static_cast<unsigned>(number("max_crashes"));
  how.poll = milliseconds(number("poll"));
  how.keep_completed = how.keep_failed = echomq::Keep::all();
  how.stop_when_empty = arguments.contains("drain");
  how.name = arguments["name"];
  echomq::Worker worker{queue, how, [&](echomq::Job<>& job) {
                          journal.note(job.id());
                          obey(job);
                          return arguments.at("name");
                        }};
  const int code = worker.run_until(signals, milliseconds(number("grace")));
  const auto stats = worker.stats();
  std::fprintf(stderr, "completed=%llu refused=%llu recovered=%llu released=%llu unknown=%llu\n",
               static_cast<unsigned long long>(stats.completed),
               static_cast<unsigned long long>(stats.refused),
               static_cast<unsigned long long>(stats.recovered),
               static_cast<unsigned long long>(stats.released),
               static_cast<unsigned long long>(stats.unknown));
  return code;
}
