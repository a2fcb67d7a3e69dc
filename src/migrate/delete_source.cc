// SPDX-License-Identifier: MIT
#include "migrate/delete_source.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "migrate/v1_job.h"
#include "migrate/v1_scheduler.h"
#include "migrate/walk.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::int64_t kAtOnce = 128;

// What stands beside the jobs. The lists and sets are empty by then, and gone.
constexpr std::array<std::string_view, 16> kBesides{"active",
                                                    "pc",
                                                    "stalled",
                                                    "stalled-check",
                                                    "limiter",
                                                    "marker",
                                                    "events",
                                                    kKeptRepeat,
                                                    "delay",
                                                    "metrics:completed",
                                                    "metrics:failed",
                                                    "metrics:completed:data",
                                                    "metrics:failed:data",
                                                    kKeptMarker,
                                                    kKeptMeta,
                                                    kKeptId};

Result<std::int64_t> delete_some(Link& source, const V1Keys& v1, const Stage& stage) {
  const auto key = v1(stage.v1);
  const auto last = std::to_string(kAtOnce - 1);
  const auto ids = source.ask({stage.list ? "LRANGE" : "ZRANGE", key, "0", last});
  if (!ids) return ids.error();
  if (ids->items.empty()) return std::int64_t{0};
  std::vector<std::string> words{"UNLINK"};
  for (const auto& id : ids->items) {
    if (is_v1_structure(id.text) || is_old_marker(id.text)) continue;
    words.push_back(v1(id.text));
    for (const auto sub : kV1Subs) words.push_back(v1.sub(id.text, sub));
    words.push_back(v1.sub(id.text, kV1Lock));
  }
  Commands commands;
  if (words.size() > 1) commands.push_back(command_of(words));
  if (stage.list)
    wire::append_command(commands.emplace_back(), {"LTRIM", key, std::to_string(kAtOnce), "-1"});
  else
    wire::append_command(commands.emplace_back(), {"ZREMRANGEBYRANK", key, "0", last});
  if (const auto done = source.ask_all(std::move(commands)); !done) return done.error();
  return static_cast<std::int64_t>(ids->items.size());
}

Result<void> delete_schedulers(Link& source, const V1Keys& v1) {
  while (true) {
    const auto ids = source.ask({"ZRANGE", v1(kKeptRepeat), "0", std::to_string(kAtOnce - 1)});
    if (!ids) return ids.error();
    if (ids->items.empty()) return {};
    std::vector<std::string> words{"UNLINK"};
    for (const auto& id : ids->items) words.push_back(v1("repeat:" + id.text));
    Commands commands{command_of(words)};
    wire::append_command(commands.emplace_back(),
                         {"ZREMRANGEBYRANK", v1(kKeptRepeat), "0", std::to_string(kAtOnce - 1)});
    if (const auto done = source.ask_all(std::move(commands)); !done) return done.error();
  }
}

Result<void> delete_deduplication(Link& source, const V1Keys& v1) {
  std::string at = "0";
  do {
    const auto page =
        source.ask({"SCAN", at, "MATCH", v1.pattern("de:"), "COUNT", "1000", "TYPE", "string"});
    if (!page) return page.error();
    if (page->items.size() != 2) return Error{ErrorCode::protocol, "an odd answer to SCAN", {}};
    at = page->items[0].text;
    std::vector<std::string> words{"UNLINK"};
    for (const auto& key : page->items[1].items) words.push_back(key.text);
    if (words.size() == 1) continue;
    if (const auto done = source.ask(words); !done) return done.error();
  } while (at != "0");
  return {};
}

}  // namespace

Result<void> delete_source(Link& source, const V1Keys& v1, const OnChunk& on_chunk) {
  for (const auto& stage : kStages) {
    while (true) {
      const auto gone = delete_some(source, v1, stage);
      if (!gone) return gone.error();
      if (*gone == 0) break;
      if (auto on = on_chunk("deleting", *gone); !on) return on;
    }
  }
  if (auto done = delete_schedulers(source, v1); !done) return done;
  if (auto done = delete_deduplication(source, v1); !done) return done;
  std::vector<std::string> words{"UNLINK"};
  for (const auto word : kBesides) words.push_back(v1(word));
  if (const auto done = source.ask(words); !done) return done.error();
  return on_chunk("deleted", 0);
}

}  // namespace echomq::inline v2::migrate
