// SPDX-License-Identifier: MIT
// The demo: real files through a real queue, with a worker killed half way, and the proof that
// nothing was lost. Everything it starts is private (a server on a unix socket in a temporary
// folder, worker processes) and is gone when it ends, however it ends.
//
//   find files -> add a job for each -> start workers -> kill one half way, start another
//              -> wait until all have ended -> read every job back and check its digest -> report
//
// Exit codes: 0 nothing lost and every digest right, 1 not so or a step failed, 2 usage, 130
// interrupted.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "demo/files.h"
#include "demo/fleet.h"
#include "demo/progress.h"
#include "demo/report.h"
#include "demo/verify.h"
#include "echomq/echomq.h"

namespace demo {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLease = std::chrono::seconds(3);
constexpr auto kStall = std::chrono::seconds(60);  // without a finished job, something is wrong
constexpr std::size_t kAddAtOnce = 1'000;
constexpr const char* kQueue = "files";

constexpr int kGood = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kInterrupted = 130;

struct Settings {
  bool json = false;
  unsigned workers = 3;
  unsigned concurrency = 2;
  std::size_t limit = 20'000;
  std::vector<std::string> folders;
};

echomq::Error interrupted() { return {echomq::ErrorCode::closed, "interrupted", {}}; }

// A step's error says which step it was.
echomq::Error during(const char* step, const echomq::Error& error) {
  return {error.code, std::string(step) + ": " + error.detail, error.fields};
}

// A new folder below the temporary one. It is removed at the end, unless its logs are wanted.
class RunFolder {
 public:
  RunFolder() : path_((std::filesystem::temp_directory_path() / "echomq-demo-XXXXXX").string()) {
    made_ = ::mkdtemp(path_.data()) != nullptr;
  }
  ~RunFolder() {
    std::error_code ignored;
    if (made_ && !kept_) std::filesystem::remove_all(path_, ignored);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] bool made() const noexcept { return made_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void keep() noexcept { kept_ = true; }

 private:
  std::string path_;
  bool made_ = false;
  bool kept_ = false;
};

echomq::Result<std::vector<std::string>> add_jobs(echomq::Queue<>& queue,
                                                  const std::vector<std::string>& paths,
                                                  const echomq::Signals& stop, Progress& progress) {
  // Kept without limit (the workers are told so too), because the check at the end reads every one.
  const echomq::JobOptions options{.attempts = 3,
                                   .name = "digest",
                                   .keep_completed = echomq::Keep::all(),
                                   .keep_failed = echomq::Keep::all()};
  std::vector<std::string> ids;
  while (ids.size() < paths.size()) {
    if (stop.count() > 0) return interrupted();
    std::vector<echomq::NewJob<>> jobs;
    for (auto i = ids.size(); i < paths.size() && jobs.size() < kAddAtOnce; ++i)
      jobs.push_back({paths[i], options});
    auto added = queue.add_bulk(jobs);
    if (!added) return during("adding jobs", added.error());
    for (auto& id : *added) {
      if (!id) return during("adding jobs", id.error());
      ids.push_back(*std::move(id));
    }
    progress.show("adding", ids.size(), paths.size());
  }
  return ids;
}

// Follows the work to its end; kills a worker half way. Answers who was killed, empty for nobody.
echomq::Result<std::string> work(echomq::Queue<>& queue, Fleet& fleet, std::size_t jobs,
                                 const echomq::Signals& stop, Progress& progress) {
  std::string killed;
  std::size_t most = 0;
  auto last_change = Clock::now();
  for (;;) {
    const auto counts = queue.counts();
    if (!counts) return during("counting", counts.error());
    const auto finished = static_cast<std::size_t>(counts->completed + counts->failed);
    progress.show("working", finished, jobs);
    if (finished >= jobs) return killed;
    // While jobs are active, so that some of them are likely to be the victim's.
    if (killed.empty() && 2 * finished >= jobs && counts->active > 0) {
      killed = fmt::format("{} was killed with SIGKILL at {} %", fleet.kill_first(),
                           100 * finished / jobs);
      progress.say(killed + "; another one takes its place");
      if (const auto started = fleet.start("replacement"); !started) return started.error();
    }
    if (const auto running = fleet.check(); !running) return during("working", running.error());
    if (std::exchange(most, finished) != finished) last_change = Clock::now();
    if (Clock::now() - last_change > kStall)
      return echomq::Error{
          echomq::ErrorCode::timeout,
          fmt::format("working: no job has ended for {} s; {} waiting, {} active, {} delayed",
                      kStall.count(), counts->waiting, counts->active, counts->delayed),
          {}};
    if (stop.wait(1, killed.empty() ? 10ms : 50ms)) return interrupted();
  }
}

// `folder` is there for the server and the logs. What is started here is gone on return.
echomq::Result<Report> run(const Settings& settings, Files files, const std::string& folder,
                           const echomq::Signals& stop, Progress& progress) {
  Report report;
  report.files = std::move(files);
  const auto& paths = report.files.paths;
  auto server = echomq::Embedded::start({.dir = folder + "/server"});
  if (!server) return during("starting a server", server.error());
  auto mq = echomq::connect(server->url(), {.name = "demo"});
  if (!mq) return during("connecting", mq.error());
  echomq::Queue<> queue{*mq, kQueue};
  Fleet fleet{sibling_program("digest_worker"),
              {"--url", server->url(), "--queue", kQueue, "--lease", std::to_string(kLease.count()),
               "--concurrency", std::to_string(settings.concurrency), "--keep-all", "--owner",
               std::to_string(::getpid())},
              folder};

  const auto begin = Clock::now();
  const auto ids = add_jobs(queue, paths, stop, progress);
  if (!ids) return ids.error();
  progress.say(fmt::format("{} jobs added, {} worker processes; server and logs in {}", ids->size(),
                           settings.workers, folder));
  for (unsigned i = 1; i <= settings.workers; ++i)
    if (const auto started = fleet.start(fmt::format("worker-{}", i)); !started)
      return started.error();
  auto killed = work(queue, fleet, ids->size(), stop, progress);
  if (!killed) return killed.error();
  report.killed = *std::move(killed);
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (const auto stopped = fleet.stop(5s); !stopped)
    return during("stopping the workers", stopped.error());

  auto verdict = verify(queue, *ids, paths, stop,
                        [&](std::size_t done) { progress.show("checking", done, ids->size()); });
  if (!verdict) return during("checking", verdict.error());
  report.verdict = *std::move(verdict);
  return report;
}

int demo(const Settings& settings) {
  const echomq::Signals stop{SIGINT, SIGTERM, SIGHUP};
  Progress progress;
  auto files = find_files(settings.folders, settings.limit, stop);
  if (stop.count() > 0) return kInterrupted;
  if (!files) {
    progress.say("demo: " + files.error().message());
    return kUsage;
  }
  RunFolder folder;
  if (!folder.made()) {
    progress.say("demo: cannot make the folder " + folder.path() +
                 "; set TMPDIR to one that is writable");
    return kFailed;
  }

  const auto report = run(settings, *std::move(files), folder.path(), stop, progress);
  if (stop.count() > 0) {
    progress.say("demo: interrupted; everything it started is stopped");
    return kInterrupted;
  }
  if (!report)
    progress.say("demo: " + report.error().message());
  else
    for (const auto& problem : report->verdict.problems) progress.say("demo: " + problem);
  const bool good = report && report->good();
  if (!good) {
    folder.keep();
    progress.say("demo: the logs are in " + folder.path());
  }
  progress.clear();
  if (report) fmt::print("{}", settings.json ? as_json(*report) : as_table(*report));
  return good ? kGood : kFailed;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  demo::Settings settings;
  CLI::App app{
      "Queues one job for each file, works them with several processes (SHA-256 and zlib size),\n"
      "kills one of them half way, and checks every result against its file."};
  app.add_flag("--json", settings.json, "One JSON object on stdout and nothing else");
  app.add_option("--workers", settings.workers, "Worker processes")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  app.add_option("--concurrency", settings.concurrency, "Files at the same time, in each of them")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  app.add_option("--limit", settings.limit, "At most so many files")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option(
      "FOLDER", settings.folders,
      "Folders with files; /usr/share/doc (and /usr/include where that is nearly empty)\n"
      "when none is given");
  app.footer(
      "Exit codes: 0 all well, 1 something lost, wrong or broken, 2 usage, 130 interrupted.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const int code = app.exit(problem);
    return code == 0 ? demo::kGood : demo::kUsage;
  }
  // A reader of our output that goes away must not keep us from stopping what we started.
  std::signal(SIGPIPE, SIG_IGN);
  return demo::demo(settings);
}
