// SPDX-License-Identifier: MIT
// The ways in which a handler's attempt can end, and what becomes of the job: a value, an error in
// a Result, a throw, and the four kinds of Outcome. Each job's data names the way that it takes.
// Middleware stands around every run: here it counts them, and gives failed ones a backoff of its
// own.
//
// Usage: outcomes [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::Outcome;

namespace {

// A handler returns one type. Where a plain value or nothing would do, return that; where the ways
// differ, as here, return an Outcome.
Outcome handle(echomq::Job<>& job) {
  static std::atomic<bool> asked_again = false;
  const auto& way = job.data();
  if (way == "done") return Outcome::done("the result");
  if (way == "fail") return Outcome::fail("tried and failed");  // again while attempts are left
  if (way == "unrecoverable") return Outcome::unrecoverable("no use to try again");
  if (way == "throw") throw std::runtime_error("whatever is thrown is a failed attempt");
  // "later": this attempt does not count.
  if (!asked_again.exchange(true)) return Outcome::retry_in(50ms, "the other side is busy");
  return Outcome::done("the second time");
}

Outcome counted(std::atomic<int>& runs, echomq::RawJob& job, const echomq::RawHandler& next) {
  ++runs;
  auto outcome = next(job);  // also when the handler threw
  if (outcome.kind() != Outcome::Kind::fail) return outcome;
  return Outcome::fail(outcome.text(), job.attempt() * 20ms);
}

// A handler that returns a Result: an error is a failed attempt, a value the result.
echomq::Result<std::string> checked(echomq::Job<>& job) {
  if (job.data().empty())
    return echomq::Error{echomq::ErrorCode::invalid_argument, "the job has no data", {}};
  return job.data() + ", checked";
}

}  // namespace

int main(int argc, char** argv) try {
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  std::string summary;
  const auto look = [&](echomq::Queue<>& queue, const std::string& what, const std::string& id) {
    const auto job = queue.job(id).value();
    std::printf("%-14s %-10s started %u, attempts %u: %s\n", what.c_str(),
                std::string(echomq::name(job.state)).c_str(), job.attempts_started,
                job.attempts_made, job.result ? job.result->c_str() : job.failed_reason.c_str());
    if (!summary.empty()) summary += ' ';
    summary +=
        what + "=" + std::string(echomq::name(job.state)) + "/" + std::to_string(job.attempts_made);
  };

  echomq::Queue<> outcomes{mq, "outcomes"};
  const std::vector<std::string> ways{"done", "fail", "throw", "unrecoverable", "later"};
  std::vector<std::string> ids;
  ids.reserve(ways.size());
  for (const auto& way : ways) ids.push_back(outcomes.add(way, {.attempts = 2}).value());
  std::atomic<int> runs = 0;
  echomq::WorkerOptions how{.concurrency = 2, .stop_when_empty = true};
  how.middleware.emplace_back(
      [&runs](auto& job, const auto& next) { return counted(runs, job, next); });
  echomq::Worker worker{outcomes, how, handle};
  if (const int code = worker.run_until(stop); code != 0) return code;
  for (std::size_t i = 0; i < ways.size(); ++i) look(outcomes, ways[i], ids[i]);

  echomq::Queue<> results{mq, "results"};
  const auto good = results.add("data").value();
  const auto bad = results.add("").value();
  echomq::Worker checker{results, {.stop_when_empty = true}, checked};
  if (const int code = checker.run_until(stop); code != 0) return code;
  look(results, "value", good);
  look(results, "error", bad);

  std::printf("runs=%d %s\n", runs.load(), summary.c_str());
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "outcomes: %s\n", problem.what());
  return 1;
}
