// SPDX-License-Identifier: MIT
// emq metrics: how many jobs ended in each minute, and for how long that is counted.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::JobState;
using echomq::Metrics;

constexpr std::int64_t kMinuteMs = 60'000;

struct MetricsOptions {
  std::string queue;
  std::string last = "1h";
  std::optional<std::string> keep;
};

Exit set_keep(echomq::Queue<>& queue, std::chrono::milliseconds time, const Session& session) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(time);
  if (const auto set = queue.keep_metrics(minutes); !set) return session.fail(set.error());
  if (session.json) print_json({{"queue", queue.name()}, {"kept_minutes", minutes.count()}});
  return Exit::ok;
}

void show(const Metrics& completed, const Metrics& failed) {
  if (completed.kept.count() == 0) return print("not counted: turn it on with --keep TIME\n");
  Table table({{"minute"}, {"completed", true}, {"failed", true}});
  std::size_t rows = 0;
  for (std::size_t i = 0; i < completed.counts.size(); ++i) {
    if (completed.counts[i] == 0 && failed.counts[i] == 0) continue;
    table.add({utc(completed.first_ms + static_cast<std::int64_t>(i) * kMinuteMs),
               grouped(completed.counts[i]), grouped(failed.counts[i])});
    ++rows;
  }
  if (rows > 0)
    table.print();
  else
    print("no job ended in that time\n");
}

Exit metrics(const MetricsOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto last = duration("--last", typed.last, std::chrono::minutes(1));
  if (!last) return session.fail(last.error());
  constexpr std::chrono::milliseconds most = std::chrono::minutes(echomq::kMaxMetricsMinutes);
  if (*last > most) return session.fail(bad_value("--last", typed.last, "1m to 14d"));
  auto keep = std::optional<std::chrono::milliseconds>();
  if (typed.keep) {
    const auto time = duration("--keep", *typed.keep);
    if (!time) return session.fail(time.error());
    if (*time > echomq::kMaxMetricsKept || (time->count() > 0 && *time < std::chrono::minutes(1)))
      return session.fail(bad_value("--keep", *typed.keep, "0, or 1m to 365d"));
    keep = *time;
  }
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (keep) return set_keep(queue, *keep, session);
  const auto now = client->server_time_ms();
  const auto from = now - last->count() + kMinuteMs;
  const auto completed = queue.metrics(JobState::completed, from, now);
  if (!completed) return session.fail(completed.error());
  const auto failed = queue.metrics(JobState::failed, from, now);
  if (!failed) return session.fail(failed.error());
  if (session.json) {
    print_json({{"kept_minutes", completed->kept.count()},
                {"first_ms", completed->first_ms},
                {"completed", completed->counts},
                {"failed", failed->counts}});
    return Exit::ok;
  }
  show(*completed, *failed);
  return Exit::ok;
}

}  // namespace

void declare_metrics(CLI::App& app, Session& session) {
  auto* verb =
      session.declare(app, "metrics", "Show how many jobs ended in each minute",
                      "  emq metrics mail --keep 14d\n"
                      "  emq metrics mail --last 3h\n"
                      "Minutes in which no job ended are left out, and with --json are 0. Nothing "
                      "is counted before "
                      "--keep says for how long; --keep 0 ends it and forgets what was counted.\n");
  auto options = std::make_shared<MetricsOptions>();
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_option("--last", options->last, "The last minutes, 1m to 14d")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--keep", options->keep, "Count from now on, and keep it so long; 0: no more")
      ->type_name("TIME");
  session.declare_server(*verb);
  session.declare_json(
      *verb,
      "Print {\"kept_minutes\",\"first_ms\",\"completed\":[N..],\"failed\":[N..]}, "
      "with --keep {\"queue\",\"kept_minutes\"}");
  verb->callback([options, &session] {
    session.run = [options, &session] { return metrics(*options, session); };
  });
}

}  // namespace emq
