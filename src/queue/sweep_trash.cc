// SPDX-License-Identifier: MIT
#include "queue/sweep_trash.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "queue/ask.h"
#include "queue/bulk.h"
#include "queue/evict_call.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

Result<std::int64_t> evict_from_trash(QueueCore& queue, const std::vector<std::string>& ids) {
  std::vector<Evicted> jobs;
  jobs.reserve(ids.size());
  for (const auto& id : ids) jobs.push_back({.id = id, .has_subkeys = true});
  constexpr std::chrono::milliseconds any_age{0};
  const auto reply = ask(queue, evict_call(queue, jobs, any_age, any_age));
  if (!reply) return reply.error();
  if (reply->items.empty()) return std::int64_t{0};
  const std::string none;
  std::int64_t evicted = 0;
  for (std::size_t i = 0; i < ids.size(); ++i)
    evicted += wire::status_of(reply->items.front(), i, none) == "ok" ? 1 : 0;
  return evicted;
}

Result<BulkReport> sweep_trash(QueueCore& queue, const BulkOptions& options) {
  if (auto ok = check_limit(options); !ok) return ok.error();
  if (const auto there = queue.counts(); !there) return there.error();
  const auto& trash = queue.keys().trash;
  const auto size = ask_plainly(queue, wire::command({"SCARD", trash}));
  if (!size) return size.error();
  const auto total = options.limit > 0 ? std::min(size->integer, options.limit) : size->integer;
  BulkReport report;
  if (options.dry_run) {
    report.done = total;
    return report;
  }
  // As many as there were: workers that end jobs meanwhile fill it, and look after that themselves.
  const auto left = [&] { return total - report.done - report.skipped; };
  std::string cursor = "0";
  do {
    auto page = ask_plainly(queue, wire::command({"SSCAN", trash, cursor, "COUNT", "128"}));
    if (!page) return page.error();
    if (page->items.size() < 2) break;
    cursor = page->items[0].text;
    const auto& members = page->items[1].items;
    for (std::size_t i = 0; i < members.size() && left() > 0 && !report.stopped;) {
      std::vector<std::string> ids;
      const auto most = std::min(kEvictedPerCall, static_cast<std::size_t>(left()));
      for (; i < members.size() && ids.size() < most; ++i) ids.push_back(members[i].text);
      const auto evicted = evict_from_trash(queue, ids);
      if (!evicted) return evicted.error();
      report.done += *evicted;
      report.skipped += static_cast<std::int64_t>(ids.size()) - *evicted;
      if (options.on_progress)
        report.stopped = !options.on_progress({report.done, report.skipped, total});
    }
  } while (cursor != "0" && left() > 0 && !report.stopped);
  return report;
}

}  // namespace echomq::inline v2
