// SPDX-License-Identifier: MIT
// emq migrate: moves queues of the v1 wire here (echomq/migration.h, docs/runbook-migration.md).
// Findings go to stdout, one a line, the account last; a bar follows on a terminal.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argument.h"
#include "echomq/migration.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Migration;
using echomq::MigrationFinding;
using echomq::MigrationProgress;

struct MigrateOptions {
  std::vector<std::string> queues;
  std::vector<std::string> renames;
  std::string prefix = "bull";
  std::string source;
  std::string drain = "30s";
  std::optional<std::string> rate;
};

// "orders", or with a rename "old name=orders".
echomq::Result<echomq::MigrationOptions> options_of(const MigrateOptions& typed) {
  echomq::MigrationOptions options;
  options.prefix = typed.prefix;
  options.source_url = typed.source;
  for (const auto& queue : typed.queues) options.queues.push_back({queue, {}});
  for (const auto& rename : typed.renames) {
    const auto equals = rename.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == rename.size())
      return bad_value("--rename", rename, "OLD=NEW");
    options.queues.push_back({rename.substr(0, equals), rename.substr(equals + 1)});
  }
  if (options.queues.empty())
    return bad_value("QUEUE", "not given", "the queues to migrate, those of a flow together");
  const auto drain = duration("--drain-timeout", typed.drain);
  if (!drain) return drain.error();
  options.drain_timeout = *drain;
  if (typed.rate) {
    const auto rate = whole_number("--rate", *typed.rate, 1, 1'000'000'000);
    if (!rate) return rate.error();
    options.rate = static_cast<std::int64_t>(*rate);
  }
  return options;
}

constexpr std::int64_t kCells = 30;

std::string bar_of(const MigrationProgress& now) {
  const auto cells = now.total == 0 ? 0 : now.done * kCells / now.total;
  return fmt::format("[{:#<{}}{:-<{}}] {} of {}  {} {}", "", cells, "", kCells - cells,
                     grouped(now.done), grouped(now.total), now.queue, now.step);
}

// What each verb does with a migration that was set up.
using Act = Exit (*)(Migration&, const Session&);

Exit migrate(const MigrateOptions& typed, const Session& session, Act act) {
  auto options = options_of(typed);
  if (!options) return session.fail(options.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  options->source_tls = session.tls;
  auto progress = std::make_shared<Progress>(/*out_is_busy=*/false);
  auto shown = std::chrono::steady_clock::now();
  options->on_progress = [progress, shown](const MigrationProgress& now) mutable {
    const auto moment = std::chrono::steady_clock::now();
    if (moment - shown < std::chrono::milliseconds(50)) return true;
    shown = moment;
    progress->show(bar_of(now));
    return true;
  };
  Migration migration(*client, *std::move(options));
  const auto code = act(migration, session);
  progress->clear();
  return code;
}

Json json_of(const std::vector<MigrationFinding>& findings) {
  auto all = Json::array();
  for (const auto& finding : findings)
    all.push_back({{"blocks", finding.blocks},
                   {"queue", finding.queue.empty() ? Json() : Json(to_utf8(finding.queue))},
                   {"job", finding.job.empty() ? Json() : Json(to_utf8(finding.job))},
                   {"text", to_utf8(finding.text)}});
  return all;
}

void show(const std::vector<MigrationFinding>& findings) {
  for (const auto& finding : findings)
    print(
        "{}  {}{}{}{}\n",
        finding.blocks ? paint(Style::red, "blocks", stdout) : paint(Style::dim, "note  ", stdout),
        printable(finding.queue), finding.job.empty() ? "" : " " + printable(finding.job),
        finding.queue.empty() ? "" : ": ", printable(finding.text));
}

Exit show_plan(Migration& migration, const Session& session) {
  const auto plan = migration.plan();
  if (!plan) return session.fail(plan.error());
  const auto code = plan->blocked() ? Exit::failed : Exit::ok;
  if (session.json) {
    auto queues = Json::array();
    for (const auto& queue : plan->queues)
      queues.push_back({{"queue", to_utf8(queue.queue)},
                        {"version", to_utf8(queue.version)},
                        {"paused", queue.paused},
                        {"waiting", queue.waiting},
                        {"prioritized", queue.prioritized},
                        {"delayed", queue.delayed},
                        {"active", queue.active},
                        {"waiting_children", queue.waiting_children},
                        {"completed", queue.completed},
                        {"failed", queue.failed},
                        {"schedulers", queue.schedulers}});
    print_json({{"blocked", plan->blocked()},
                {"blocking", plan->blocking},
                {"queues", queues},
                {"findings", json_of(plan->findings)},
                {"bytes", plan->bytes},
                {"estimated_ms", plan->estimated_time.count()},
                {"estimated_memory", plan->estimated_memory}});
    return code;
  }
  Table table({{"queue"},
               {"version"},
               {"waiting", true},
               {"prioritized", true},
               {"delayed", true},
               {"parents", true},
               {"completed", true},
               {"failed", true},
               {"active", true},
               {"schedulers", true}});
  for (const auto& queue : plan->queues)
    table.add({printable(queue.queue), printable(queue.version), grouped(queue.waiting),
               grouped(queue.prioritized), grouped(queue.delayed), grouped(queue.waiting_children),
               grouped(queue.completed), grouped(queue.failed), grouped(queue.active),
               grouped(queue.schedulers)});
  table.print();
  show(plan->findings);
  print("about {} and {} bytes of memory on the target\n", length(plan->estimated_time),
        grouped(plan->estimated_memory));
  print("{}\n", plan->blocked()
                    ? paint(Style::red, "something blocks: nothing can be moved", stdout)
                    : paint(Style::green, "nothing blocks", stdout));
  return code;
}

Exit report_of(const echomq::Result<echomq::MigrationReport>& report, const char* word,
               const Session& session) {
  if (!report) return session.fail(report.error());
  if (session.json) {
    print_json({{"jobs", report->jobs},
                {"renamed", report->renamed},
                {"left", report->left},
                {"findings", json_of(report->findings)},
                {"took_ms", report->took.count()},
                {"longest_call_ms", report->longest_call.count()}});
  } else {
    show(report->findings);
    print("{} jobs {} in {}; the source's longest answer took {}\n", grouped(report->jobs), word,
          length(report->took), length(report->longest_call));
    if (report->left > 0)
      print("{} of them were not understood and stay behind\n", grouped(report->left));
  }
  return report->left > 0 ? Exit::failed : Exit::ok;
}

Exit run(Migration& migration, const Session& session) {
  return report_of(migration.run(), "moved", session);
}
Exit abort_it(Migration& migration, const Session& session) {
  return report_of(migration.abort(), "taken away", session);
}
Exit finish(Migration& migration, const Session& session) {
  return report_of(migration.finish(), "deleted from the source", session);
}

Exit show_status(Migration& migration, const Session& session) {
  const auto all = migration.status();
  if (!all) return session.fail(all.error());
  if (session.json) {
    auto queues = Json::array();
    for (const auto& queue : *all)
      queues.push_back({{"from", to_utf8(queue.queue.from)},
                        {"to", queue.queue.to},
                        {"phase", name(queue.phase)},
                        {"began_ms", queue.began_ms == 0 ? Json() : Json(queue.began_ms)},
                        {"source", to_utf8(queue.source)},
                        {"cursor", to_utf8(queue.cursor)}});
    print_json({{"queues", queues}});
    return Exit::ok;
  }
  Table table({{"from"}, {"to"}, {"phase"}, {"began"}, {"copied up to"}});
  for (const auto& queue : *all)
    table.add({printable(queue.queue.from), queue.queue.to, std::string(name(queue.phase)),
               queue.began_ms == 0 ? "" : utc(queue.began_ms), printable(queue.cursor)});
  table.print();
  return Exit::ok;
}

Exit verify(Migration& migration, const Session& session) {
  const auto all = migration.verify();
  if (!all) return session.fail(all.error());
  if (session.json) {
    auto differences = Json::array();
    for (const auto& difference : all->differences)
      differences.push_back(
          {{"queue", difference.queue},
           {"job", difference.job.empty() ? Json() : Json(to_utf8(difference.job))},
           {"text", to_utf8(difference.text)}});
    print_json({{"jobs", all->jobs}, {"found", all->found}, {"differences", differences}});
  } else {
    for (const auto& difference : all->differences)
      print("{}{}: {}\n", difference.queue,
            difference.job.empty() ? "" : " " + printable(difference.job),
            printable(difference.text));
    print("{} jobs compared, {} differences\n", grouped(all->jobs), grouped(all->found));
  }
  return all->found > 0 ? Exit::failed : Exit::ok;
}

void declare_step(CLI::App& migration, Session& session, const std::string& verb,
                  const std::string& what, const std::string& json, Act act) {
  auto* step = session.declare(migration, verb, what,
                               "  emq migrate " + verb +
                                   " orders mail\n"
                                   "  emq migrate " +
                                   verb + " --rename \"old orders=orders\" mail\n");
  auto options = std::make_shared<MigrateOptions>();
  step->add_option("QUEUE", options->queues, "The v1 queues, those of a flow together");
  step->add_option("--rename", options->renames,
                   "One that is called otherwise here, OLD=NEW; may be given several times")
      ->type_name("OLD=NEW");
  step->add_option("--prefix", options->prefix, "The prefix of the v1 keys")
      ->capture_default_str()
      ->type_name("PREFIX");
  step->add_option("--source", options->source, "The v1 server, where it is another one")
      ->type_name("URL");
  step->add_option("--drain-timeout", options->drain, "How long v1 has to end its active jobs")
      ->capture_default_str()
      ->type_name("TIME");
  step->add_option("--rate", options->rate, "At most so many jobs a second")->type_name("N");
  session.declare_server(*step);
  session.declare_json(*step, "Print " + json);
  step->callback([options, &session, act] {
    session.run = [options, &session, act] { return migrate(*options, session, act); };
  });
}

}  // namespace

void declare_migrate(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "migrate", "Move queues of the v1 wire (BullMQ 5.x) here",
      "  emq migrate plan orders mail      looks, and says what blocks\n"
      "  emq migrate run orders mail       shuts v1 out and copies; again goes on\n"
      "  emq migrate verify orders mail    compares each job\n"
      "  emq migrate finish orders mail    opens the queues here and deletes what v1 had\n"
      "Until finish, abort gives v1 back what it had. docs/runbook-migration.md leads through "
      "it.\n");
  verb->require_subcommand(1);
  declare_step(*verb, session, "plan", "Look at the v1 queues and say what blocks; changes nothing",
               R"({"blocked":BOOL,"queues":[..],"findings":[..],"estimated_ms":N,..})", show_plan);
  declare_step(*verb, session, "run", "Shut v1 out and copy, or go on with it",
               R"({"jobs":N,"renamed":N,"left":N,"findings":[..],"took_ms":N,..})", run);
  declare_step(*verb, session, "status", "Say how far it has come",
               R"({"queues":[{"from":..,"to":..,"phase":..,"cursor":..}]})", show_status);
  declare_step(*verb, session, "verify", "Compare each job of the source with the target",
               R"({"jobs":N,"found":N,"differences":[..]})", verify);
  declare_step(*verb, session, "abort", "Take the target away and give v1 back what it had",
               R"({"jobs":N,..})", abort_it);
  declare_step(*verb, session, "finish", "Open the queues here and delete what v1 had",
               R"({"jobs":N,..})", finish);
}

}  // namespace emq
