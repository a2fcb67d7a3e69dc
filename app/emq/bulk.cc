// SPDX-License-Identifier: MIT
#include "bulk.h"

#include <fmt/core.h>

#include <algorithm>

#include "argument.h"

namespace emq {
namespace {

constexpr std::int64_t kBarCells = 30;

std::string bar(const echomq::BulkProgress& progress) {
  const auto reached = progress.done + progress.skipped;
  const auto total = std::max(progress.total, reached);
  const auto cells = total == 0 ? kBarCells : reached * kBarCells / total;
  return fmt::format("[{:#<{}}{:-<{}}] {} of {}", "", cells, "", kBarCells - cells,
                     grouped(reached), grouped(total));
}

}  // namespace

Exit run_bulk(
    const std::string& done, bool dry_run, const Session& session,
    const std::function<echomq::Result<echomq::BulkReport>(const OnProgress&)>& operation) {
  Progress progress(/*out_is_busy=*/false);
  const auto report = operation([&progress](const echomq::BulkProgress& now) {
    progress.show(bar(now));
    return true;
  });
  progress.clear();
  if (!report) return session.fail(report.error());
  if (session.json) {
    Json line{{"done", report->done}, {"skipped", report->skipped}, {"dry_run", dry_run}};
    if (report->strays) line["strays"] = *report->strays;
    print_json(line);
  } else if (dry_run) {
    print("{} jobs would be {}\n", grouped(report->done), done);
  } else {
    print("{} jobs {}", grouped(report->done), done);
    if (report->skipped > 0) print(", {} had moved meanwhile", grouped(report->skipped));
    if (report->strays.value_or(0) > 0)
      print(", and {} keys that were none of theirs", grouped(*report->strays));
    print("\n");
  }
  return Exit::ok;
}

void BulkWords::declare(CLI::App& verb, Session& session) {
  verb.add_option("QUEUE", queue, "The queue")->required();
  verb.add_option("--limit", limit, "At most so many")->type_name("N");
  verb.add_flag("--dry-run", dry_run, "Change nothing, tell how many");
  session.declare_server(verb);
  session.declare_json(verb, std::string("Print ") + kBulkJson);
}

Exit run_bulk_on(const BulkWords& typed, const std::string& done, const Session& session,
                 const std::function<echomq::Result<echomq::BulkReport>(
                     echomq::Queue<>&, const echomq::BulkOptions&)>& operation) {
  const auto limit = bulk_limit(typed.limit);
  if (!limit) return session.fail(limit.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  return run_bulk(done, typed.dry_run, session, [&](const OnProgress& on_progress) {
    return operation(queue,
                     {.limit = *limit, .dry_run = typed.dry_run, .on_progress = on_progress});
  });
}

Exit print_results(const std::vector<std::string>& ids, const echomq::JobResults& results,
                   const Session& session) {
  Json done = Json::array();
  Json refused = Json::array();
  std::optional<Exit> problem;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (results[i]) {
      done.push_back(ids[i]);
      if (!session.json) print("{}\n", ids[i]);
      continue;
    }
    refused.push_back(ids[i]);
    const auto code = session.fail(results[i].error());
    if (!problem) problem = code;
  }
  if (session.json) print_json({{"done", done}, {"refused", refused}});
  return problem.value_or(Exit::ok);
}

echomq::Result<std::vector<std::string>> plain_ids(const std::vector<std::string>& typed) {
  std::vector<std::string> ids;
  for (const auto& text : typed) {
    auto id = plain_id(text);
    if (!id) return id.error();
    ids.push_back(*std::move(id));
  }
  return ids;
}

echomq::Result<std::int64_t> bulk_limit(const std::optional<std::string>& text) {
  if (!text) return std::int64_t{0};
  const auto most = whole_number("--limit", *text, 1, 1'000'000'000);
  if (!most) return most.error();
  return static_cast<std::int64_t>(*most);
}

}  // namespace emq
