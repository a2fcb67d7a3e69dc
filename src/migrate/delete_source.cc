// SPDX-License-Identifier: MIT
#include "migrate/delete_source.h"

#include <algorithm>
#include <string>
#include <vector>

#include "migrate/names.h"
#include "migrate/walk.h"

namespace echomq::inline v2::migrate {
namespace {

// What stands beside the jobs: their lists and sets are empty by then, and gone.
bool is_beside(std::string_view word) {
  return word != "meta" && word != "id" && word != "repeat" &&
         std::none_of(kStages.begin(), kStages.end(),
                      [word](const auto& stage) { return stage.v1 == word; });
}

Result<void> delete_deduplication(Link& source, const V1Keys& v1, const OnChunk& on_chunk) {
  std::string at = "0";
  do {
    const auto page = source.page(
        {"SCAN", at, "MATCH", v1.pattern("de:"), "COUNT", "1000", "TYPE", "string"}, at);
    if (!page) return page.error();
    std::vector<std::string> words{"UNLINK"};
    for (const auto& key : *page) words.push_back(key.text);
    if (words.size() == 1) continue;
    if (const auto done = source.ask(words); !done) return done.error();
    if (auto on = on_chunk("deleting deduplication ids", 0); !on) return on;
  } while (at != "0");
  return {};
}

}  // namespace

Result<void> delete_source(Link& source, const V1Keys& v1, const OnChunk& on_chunk) {
  const auto add_job = [&v1](std::vector<std::string>& all, const std::string& id) {
    if (is_v1_structure(id) || is_old_marker(id)) return;
    all.push_back(v1(id));
    for (const auto& [word, type] : kV1Subs) all.push_back(v1.sub(id, word));
    all.push_back(v1.sub(id, kV1Lock));
  };
  for (const auto& stage : kStages)
    if (auto gone = delete_listed(source, v1(stage.v1), stage.list, add_job, on_chunk); !gone)
      return gone;
  const auto add_scheduler = [&v1](std::vector<std::string>& all, const std::string& id) {
    all.push_back(v1("repeat:" + id));
  };
  // They are no jobs.
  const auto on_schedulers = [&on_chunk](std::string_view, std::int64_t) {
    return on_chunk("deleting schedulers", 0);
  };
  if (auto gone =
          delete_listed(source, v1(kKeptRepeat), /*list=*/false, add_scheduler, on_schedulers);
      !gone)
    return gone;
  if (auto done = delete_deduplication(source, v1, on_chunk); !done) return done;
  std::vector<std::string> words{"UNLINK", v1("delay"), v1("priority")};  // of versions before 5
  for (const auto& [word, type] : kV1Structures)
    if (is_beside(word)) words.push_back(v1(word));
  const auto done = source.ask(words);
  if (!done) return done.error();
  if (done->integer == 0) return {};  // another call has done it
  return on_chunk("deleted", 0);
}

}  // namespace echomq::inline v2::migrate
