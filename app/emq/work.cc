// SPDX-License-Identifier: MIT
// emq work: a worker whose handler is any command. What the command's exit status means to the job
// is in judge(); how it is run in child.h.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <optional>

#include "argument.h"
#include "child.h"
#include "echomq/keyspace.h"
#include "echomq/worker.h"
#include "journal.h"
#include "session.h"
#include "verdict.h"
#include "warden.h"

namespace emq {
namespace {

using std::chrono::milliseconds;

// How much longer than the commands' grace the worker waits for what it killed.
constexpr milliseconds kAfterKill{2'000};

// The command line as it was typed.
struct WorkOptions {
  std::string queue;
  std::string command;
  std::string concurrency = "1";
  std::string grace = "25s";
  std::string lease = "30s";
  std::string retry_delay = "1s";
  std::string max_crashes = "2";
  std::optional<std::string> max_starts;
  std::string name;
  std::optional<std::string> keep_completed;
  std::optional<std::string> keep_failed;
  bool drain = false;
  bool verbose = false;
};

struct Plan {
  echomq::WorkerOptions worker;
  milliseconds grace{0};
  milliseconds retry_delay{0};
};

// Who runs this, for the job's record: "host:1234".
std::string default_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return (std::string(host.data()) + ":" + std::to_string(::getpid())).substr(0, 255);
}

echomq::Result<Plan> plan_of(const WorkOptions& typed) {
  using std::chrono::seconds;
  Plan plan;
  const auto concurrency = whole_number("--concurrency", typed.concurrency, 1, 10'000);
  if (!concurrency) return concurrency.error();
  const auto max_crashes = whole_number("--max-crashes", typed.max_crashes, 0, 1'000);
  if (!max_crashes) return max_crashes.error();
  std::uint64_t max_starts = 0;
  if (typed.max_starts) {
    const auto read = whole_number("--max-starts", *typed.max_starts, 1, 1'000'000);
    if (!read) return read.error();
    max_starts = *read;
  }
  const auto lease = duration("--lease", typed.lease, seconds(2));
  if (!lease) return lease.error();
  const auto grace = duration("--grace", typed.grace);
  if (!grace) return grace.error();
  const auto retry_delay = duration("--retry-delay", typed.retry_delay);
  if (!retry_delay) return retry_delay.error();
  if (typed.command.find_first_not_of(" \t\n") == std::string::npos)
    return bad_value("--exec", typed.command, "a shell command");
  for (const auto& [option, text, rule] :
       {std::tuple{"--keep-completed", &typed.keep_completed, &plan.worker.keep_completed},
        std::tuple{"--keep-failed", &typed.keep_failed, &plan.worker.keep_failed}}) {
    if (!*text) continue;
    const auto parsed = keep(option, **text);
    if (!parsed) return parsed.error();
    *rule = *parsed;
  }
  plan.worker.concurrency = static_cast<unsigned>(*concurrency);
  plan.worker.max_crashes = static_cast<unsigned>(*max_crashes);
  plan.worker.max_starts = static_cast<unsigned>(max_starts);
  plan.worker.lease = *lease;
  plan.worker.stop_when_empty = typed.drain;
  plan.worker.name = typed.name.empty() ? default_name() : typed.name;
  plan.grace = *grace;
  plan.retry_delay = *retry_delay;
  return plan;
}

// Each command takes five descriptors here. The limit that a shell gives is made for less.
void allow_descriptors(unsigned concurrency) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = 128 + rlim_t{10} * concurrency;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Exit work(const WorkOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  auto plan = plan_of(typed);
  if (!plan) return session.fail(plan.error());
  ::signal(SIGPIPE, SIG_IGN);
  allow_descriptors(plan->worker.concurrency);
  // It forks, so it comes before the first thread.
  auto warden = Warden::start();
  if (!warden) return session.fail(warden.error());
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto client = session.connect("emq-work",
                                typed.verbose ? echomq::LogLevel::info : echomq::LogLevel::warning);
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  Journal journal(session.json, typed.verbose || is_terminal(stdout));

  std::atomic<bool> killed = false;

  const auto handler = [&](echomq::Job<>& job) {
    ChildOptions child;
    child.command = typed.command;
    child.input = job.data();
    child.environment = {{"EMQ_QUEUE", job.queue()},
                         {"EMQ_ID", job.id()},
                         {"EMQ_NAME", job.name()},
                         {"EMQ_ATTEMPT", std::to_string(job.attempt())}};
    child.stop = job.stop_token();
    child.grace = plan->grace;
    child.hurry = [&stop] { return stop.count() > 1; };
    child.output_limit = echomq::kMaxResultBytes;
    child.error_limit = echomq::kMaxReasonBytes - 256;
    child.warden = &*warden;
    const auto begin = std::chrono::steady_clock::now();
    const auto end = run_child(child);
    auto outcome = judge(end, plan->retry_delay);
    if (end.killed) killed = true;
    const auto took = std::chrono::steady_clock::now() - begin;
    journal.note(job, outcome, end, std::chrono::duration_cast<milliseconds>(took));
    return outcome;
  };
  echomq::Worker worker{queue, plan->worker, handler};
  const int ended = worker.run_until(stop, plan->grace + kAfterKill);
  // After a second signal the killed commands still have to be taken note of.
  if (ended == 2 && !worker.stop(kAfterKill)) killed = true;
  journal.summary(worker.stats());
  if (const auto status = worker.status(); !status) return session.fail(status.error());
  if (killed) return Exit::cut_short;
  return ended == 1 ? Exit::failed : Exit::ok;
}

}  // namespace

void declare_work(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "work", "Run a command for each job of a queue, until Ctrl-C or SIGTERM",
      "  emq work mail --exec ./send-mail --concurrency 8\n"
      "  emq work thumbs --exec 'convert - -resize 200x jpg:-' --drain\n"
      "The command is run by /bin/sh. It reads the job's data from stdin, and finds EMQ_QUEUE, "
      "EMQ_ID, "
      "EMQ_NAME and EMQ_ATTEMPT in its environment. It answers by its exit status:\n"
      "  0      done; stdout, at most 256 KiB, is the job's result\n"
      "  75     not now: again after --retry-delay, and no attempt is spent\n"
      "  65     failed for good, whatever attempts are left\n"
      "  other  a failed attempt; the last lines of stderr are the reason. So is death by a "
      "signal\n"
      "When the command ends, what it left running in its process group is killed. On Ctrl-C or "
      "SIGTERM "
      "no more jobs are taken, commands get SIGTERM, and SIGKILL after --grace or at a second "
      "signal; "
      "a job whose command was ended so is given back and no attempt is spent. The exit code tells "
      "how "
      "the work ended, not how the jobs did. A job runs at least "
      "once: make the command safe to run twice.\n");
  auto typed = std::make_shared<WorkOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue; made where there is none")->required();
  verb->add_option("--exec", typed->command, "The command")->type_name("COMMAND")->required();
  verb->add_option("--concurrency", typed->concurrency, "Commands at the same time, 1 to 10000")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--grace", typed->grace, "Between SIGTERM and SIGKILL")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_flag("--drain", typed->drain, "End once nothing is waiting, delayed or active");
  verb->add_option("--retry-delay", typed->retry_delay, "After exit status 75")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option(
          "--lease", typed->lease,
          "A worker silent for so long loses its jobs to others; the same for all workers of a "
          "queue; at least 2s")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--max-crashes", typed->max_crashes,
                   "A job that was lost with its worker more often than this has failed, 0 to 1000")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option(
          "--max-starts", typed->max_starts,
          "A job that is put off (exit status 75) when it was started so often has failed, 1 to "
          "1,000,000. Default: without end")
      ->type_name("N");
  verb->add_option("--name", typed->name, "Stored with the jobs. Default: HOST:PID")
      ->type_name("NAME");
  verb->add_option("--keep-completed", typed->keep_completed,
                   "How many completed jobs stay, how long, and how much: all, none, 1000, 24h, "
                   "64MiB, 1000,24h. "
                   "Default: 1000,24h")
      ->type_name("RULE");
  verb->add_option("--keep-failed", typed->keep_failed,
                   "The same for failed jobs. Default: 10000,7d")
      ->type_name("RULE");
  verb->add_flag("--verbose", typed->verbose,
                 "A line for each job also where stdout is no terminal");
  session.declare_server(*verb);
  session.declare_json(
      *verb,
      "A line {\"id\",\"name\",\"attempt\",\"outcome\",\"exit\",\"signal\",\"ms\",\"reason\"} for "
      "each job, then {\"summary\":{..}}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return work(*typed, session); }; });
}

}  // namespace emq
