// SPDX-License-Identifier: MIT
// A worker program: takes the paths of files from a queue and stores each file's digest as the
// job's result. The data of a job is the path itself, as bytes, because a file name need not be
// UTF-8. Start as many as you like, on one machine or several that see the same files; kill any of
// them at any time.
//
//   digest_worker --url redis://localhost --queue files --concurrency 4
//
// Shows: bytes in and JSON out, a lease of one's own, what to answer when asked to stop, logging,
// and a clean end by SIGTERM or SIGINT.
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "digest.h"
#include "echomq/echomq.h"
#include "echomq/json.h"

namespace {

struct Settings {
  std::string url = echomq::url_from_env();
  std::string queue = "files";
  std::string name = "digest";
  unsigned concurrency = 2;
  unsigned lease_s = 30;
  int owner = 0;
  bool keep_all = false;
};

echomq::Outcome digest(echomq::Job<>& job) {
  auto digest = example::digest_file(job.data(), job.stop_token());
  if (digest) return echomq::Outcome::done(echomq::Codec<example::Digest>::encode(*digest));
  // Asked to stop in the middle of a large file: the job did nothing wrong, so it loses no attempt.
  if (digest.error().code == echomq::ErrorCode::closed)
    return echomq::Outcome::retry_in(std::chrono::milliseconds(0), digest.error().detail);
  return echomq::Outcome::fail(digest.error().message());
}

void log(echomq::LogLevel level, std::string_view line) {
  if (level >= echomq::LogLevel::info)
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

// Asks the kernel to end this process when its parent does, and makes sure that it has not yet.
bool end_with(int owner) { return ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && ::getppid() == owner; }

int work(const Settings& settings) {
  const echomq::Signals stop{SIGTERM, SIGINT};
  if (settings.owner != 0 && !end_with(settings.owner)) {
    std::fprintf(stderr, "digest_worker: process %d, its owner, is gone\n", settings.owner);
    return 1;
  }
  auto mq = echomq::connect(settings.url, {.name = settings.name, .log = log});
  if (!mq) {
    std::fprintf(stderr, "digest_worker: %s\n", mq.error().message().c_str());
    return 1;
  }
  // The defaults keep the latest, so that a queue cannot grow without end.
  const echomq::WorkerOptions defaults;
  const auto all = echomq::Keep::all();
  echomq::Queue<> files{*mq, settings.queue};
  echomq::Worker worker{files,
                        {.concurrency = settings.concurrency,
                         .lease = std::chrono::seconds(settings.lease_s),
                         .keep_completed = settings.keep_all ? all : defaults.keep_completed,
                         .keep_failed = settings.keep_all ? all : defaults.keep_failed,
                         .name = settings.name},
                        digest};
  const int code = worker.run_until(stop);
  if (const auto status = worker.status(); !status)
    std::fprintf(stderr, "digest_worker: %s\n", status.error().message().c_str());
  const auto did = worker.stats();
  std::printf("completed %llu, failed %llu, recovered %llu\n",
              static_cast<unsigned long long>(did.completed),
              static_cast<unsigned long long>(did.failed),
              static_cast<unsigned long long>(did.recovered));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Works a queue of file paths: SHA-256 and zlib-compressed size of each."};
  app.add_option("--url", settings.url, "Server; EMQ_URL, or a private server when unset")
      ->capture_default_str();
  app.add_option("--queue", settings.queue, "Queue to work")->capture_default_str();
  app.add_option("--concurrency", settings.concurrency, "Files at the same time")
      ->capture_default_str();
  app.add_option("--lease", settings.lease_s,
                 "Seconds of silence after which another worker takes this one's jobs")
      ->capture_default_str();
  app.add_option("--name", settings.name, "Name stored with the jobs it worked")
      ->capture_default_str();
  app.add_flag("--keep-all", settings.keep_all,
               "Remove no finished job; by default the latest 1,000 of the last day stay");
  app.add_option("--owner", settings.owner, "End when this process, the parent, ends");
  CLI11_PARSE(app, argc, argv);
  return work(settings);
}
