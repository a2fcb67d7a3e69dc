// SPDX-License-Identifier: MIT
// emq fence: what stands under the names of a queue, on either side of the fence, in words; the
// repair of a queue in which a v1 client has written; and the rules that shut each side out for
// good.
#include "echomq/fence.h"

#include <memory>
#include <string>

#include "argument.h"
#include "echomq/acl.h"
#include "echomq/keyspace.h"
#include "session.h"

namespace emq {
namespace {

using echomq::FenceReport;
using echomq::FenceSide;
using echomq::FenceState;

struct FenceOptions {
  std::string queue;
  bool repair = false;
  bool acl = false;
  std::string user = "echomq";
  std::string v1_user = "bullmq";
};

// Whether a v2 worker may work there, as the shell learns it.
Exit verdict_of(FenceState state) {
  switch (state) {
    case FenceState::v2: return Exit::ok;
    case FenceState::fresh:
    case FenceState::migrated_away: return Exit::not_found;
    default: return Exit::fenced;
  }
}

Json cell_json(FenceSide side, FenceState state) {
  const auto& cell = echomq::fence_cell(side, state);
  return {{"outcome", name(cell.outcome)}, {"words", cell.words}};
}

Json report_json(const FenceReport& report) {
  Json findings = Json::array();
  for (const auto& finding : report.findings)
    findings.push_back({{"key", finding.key},
                        {"found", to_utf8(finding.found)},
                        {"words", finding.words},
                        {"damage", finding.damage}});
  return {{"queue", report.queue},
          {"state", name(report.state)},
          {"found", to_utf8(report.found)},
          {"probe", report.probe},
          {"v1", cell_json(FenceSide::v1, report.state)},
          {"v2", cell_json(FenceSide::v2, report.state)},
          {"findings", std::move(findings)},
          {"repairable", report.repairable}};
}

void show(const FenceReport& report) {
  const bool well = verdict_of(report.state) != Exit::fenced;
  print("{}: {}\n", report.queue,
        paint(well ? Style::plain : Style::yellow, name(report.state), stdout));
  if (!report.probe.empty()) print("found      {} at {}\n", printable(report.found), report.probe);
  for (const auto side : {FenceSide::v1, FenceSide::v2}) {
    const auto& cell = echomq::fence_cell(side, report.state);
    print("{} worker  {}: {}\n", name(side), name(cell.outcome), cell.words);
  }
  if (report.findings.empty()) return;
  print("\n");
  Table table({{"key"}, {"holds"}, {"which means"}});
  for (const auto& finding : report.findings)
    table.add({finding.key, printable(finding.found), finding.words});
  table.print();
}

Json repair_json(const std::string& queue, const echomq::FenceRepair& repair) {
  return {{"queue", queue},
          {"repaired", repair.any()},
          {"version", repair.version},
          {"fields", repair.fields},
          {"sentinels", repair.sentinels},
          {"jobs", repair.jobs},
          {"delayed", repair.delayed},
          {"events", repair.events},
          {"limiter", repair.limiter},
          {"ghosts", repair.ghosts},
          {"leftovers", repair.leftovers},
          {"paused", repair.paused}};
}

void show(const std::string& queue, const echomq::FenceRepair& repair) {
  if (!repair.any()) return print("{}: there is nothing to repair\n", queue);
  print("{}: repaired\n", queue);
  if (repair.version) print("  the version is ours again\n");
  if (repair.jobs > 0) print("  {} paused jobs wait again, in their order\n", grouped(repair.jobs));
  if (repair.delayed > 0)
    print("  {} delayed jobs have their times again\n", grouped(repair.delayed));
  if (repair.sentinels > 0) print("  {} sentinels are back\n", repair.sentinels);
  if (repair.fields > 0) print("  {} settings of v1 are gone\n", repair.fields);
  if (repair.events > 0) print("  {} events of v1 are gone\n", grouped(repair.events));
  if (repair.limiter) print("  rate and hold begin anew\n");
  if (repair.ghosts) print("  the empty entries of wait are counted anew\n");
  if (repair.leftovers > 0) print("  {} keys of v1 are gone\n", repair.leftovers);
  print(
      "What a v1 client has deleted does not come back. Shut it out: stop it, or see emq fence "
      "--acl\n");
  if (repair.paused) print("The queue was paused by one of us: emq resume {}\n", queue);
}

Exit print_acl(const FenceOptions& typed, const Session& session) {
  const auto v2 = echomq::acl_line({.user = typed.user, .v1_prefixes = {}});
  if (!v2) return session.fail(v2.error());
  const auto v1 =
      echomq::v1_acl_line({.user = typed.v1_user, .prefixes = comma_list(session.v1_prefixes)});
  if (!v1) return session.fail(v1.error());
  if (session.json)
    print_json({{"v1", {{"user", typed.v1_user}, {"line", *v1}}},
                {"v2", {{"user", typed.user}, {"line", *v2}}}});
  else
    print("{}\n{}\n", *v1, *v2);
  return Exit::ok;
}

Exit fence(const FenceOptions& typed, const Session& session) {
  if (typed.acl) return print_acl(typed, session);
  const auto bare = echomq::queue_name(typed.queue);
  if (!bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  if (typed.repair) {
    const auto repair = repair_fence(*client, *bare);
    if (!repair) return session.fail(repair.error());
    if (session.json)
      print_json(repair_json(*bare, *repair));
    else
      show(*bare, *repair);
    return Exit::ok;
  }
  const auto report = inspect_fence(*client, *bare);
  if (!report) return session.fail(report.error());
  if (session.json)
    print_json(report_json(*report));
  else
    show(*report);
  return verdict_of(report->state);
}

}  // namespace

void declare_fence(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "fence",
      "Tell what stands under the names of a queue: ours, BullMQ's, or damage that one did",
      "  emq fence mail\n"
      "  emq fence mail --repair        # a v1 client has written here; it is stopped now\n"
      "  emq fence --acl                # rules for the server that shut each side out for good\n"
      "Without --repair it changes nothing, and ends with 0 where a worker finds its queue, 4 "
      "where "
      "it is refused, 5 where there is none yet.\n");
  auto typed = std::make_shared<FenceOptions>();
  auto* queue = verb->add_option("QUEUE", typed->queue, "The queue");
  auto* repair = verb->add_flag("--repair", typed->repair,
                                "Bring back what a v1 client has overwritten or moved away, as far "
                                "as it is there; says what it did");
  auto* acl = verb->add_flag(
      "--acl", typed->acl,
      "Print the server's user lines for both sides; no server is asked. --v1-prefixes says where "
      "v1 may work. Add passwords before you load them");
  acl->excludes(queue)->excludes(repair);
  verb->add_option("--user", typed->user, "With --acl: the name of our user")
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--v1-user", typed->v1_user, "With --acl: the name of the user of v1")
      ->type_name("NAME")
      ->capture_default_str();
  session.declare_server(*verb);
  session.declare_json(*verb,
                       R"(Print {"queue","state","found","probe","v1":{..},"v2":{..},"findings"})");
  verb->callback([typed, &session] {
    if (!typed->acl && typed->queue.empty()) throw CLI::RequiredError("QUEUE");
    session.run = [typed, &session] { return fence(*typed, session); };
  });
}

}  // namespace emq
