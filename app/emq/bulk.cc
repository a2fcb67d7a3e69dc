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

echomq::Result<std::int64_t> bulk_limit(const std::optional<std::string>& text) {
  if (!text) return std::int64_t{0};
  const auto most = whole_number("--limit", *text, 1, 1'000'000'000);
  if (!most) return most.error();
  return static_cast<std::int64_t>(*most);
}

}  // namespace emq
