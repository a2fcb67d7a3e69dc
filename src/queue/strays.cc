// SPDX-License-Identifier: MIT
#include "queue/strays.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "queue/ask.h"
#include "queue/outbox.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kStep = "1000";  // keys that the server looks at in one step
constexpr std::size_t kDeletedPerCall = 128;

// Whether a structure tells of one that there is one for each name of.
Result<bool> is_named_by_another(QueueCore& queue, const ParsedKey& parsed) {
  const auto& k = queue.keys();
  const auto asks = [&](std::initializer_list<std::string_view> words) -> Result<bool> {
    const auto reply = ask_plainly(queue, wire::command(words));
    if (!reply) return reply.error();
    return !reply->is_null();
  };
  if (parsed.named == "schedule") return asks({"ZSCORE", k.schedules, parsed.name});
  if (parsed.named == "flow") {
    const auto field = plan_field(parsed.name);
    return asks({"HGET", k.outbox, field});
  }
  const auto whole = build_key(parsed);
  return whole == k.metrics_completed || whole == k.metrics_failed || whole == k.sizes_completed ||
         whole == k.sizes_failed;
}

}  // namespace

Result<StrayPage> read_strays(QueueCore& queue, const std::string& cursor) {
  // The grammar of names has none of the characters that mean something in a pattern.
  const auto pattern = job_key(queue.name(), "*");
  const auto reply =
      ask_plainly(queue, wire::command({"SCAN", cursor, "MATCH", pattern, "COUNT", kStep}));
  if (!reply) return reply.error();
  StrayPage page{.next = "0"};
  if (reply->items.size() < 2) return page;
  page.next = reply->items[0].text;
  std::set<std::string> ids;
  for (const auto& found : reply->items[1].items) {
    const auto parsed = parse_key(found.text);
    if (parsed && parsed->kind == KeyKind::structure) continue;
    if (parsed && (parsed->kind == KeyKind::job || parsed->kind == KeyKind::sub)) {
      ids.insert(parsed->id);
      continue;
    }
    if (parsed) {
      const auto named = is_named_by_another(queue, *parsed);
      if (!named) return named.error();
      if (*named) continue;
    }
    page.others.push_back(found.text);
  }
  page.jobs.assign(ids.begin(), ids.end());
  return page;
}

Result<std::int64_t> delete_strays(QueueCore& queue, const std::vector<std::string>& keys) {
  std::int64_t deleted = 0;
  for (std::size_t from = 0; from < keys.size(); from += kDeletedPerCall) {
    const auto some = std::span(keys).subspan(from, std::min(kDeletedPerCall, keys.size() - from));
    std::vector<std::string> words{"UNLINK"};
    words.insert(words.end(), some.begin(), some.end());
    const auto reply = ask_plainly(queue, wire::command(words));
    if (!reply) return reply.error();
    deleted += wire::number_of(*reply);
  }
  return deleted;
}

}  // namespace echomq::inline v2
