// SPDX-License-Identifier: MIT
// The journal of a queue's migration, `{emq}:migration:<queue>` on the target's server: how far it
// is, where it comes from, and what v1 had that a pause and the tombstones take away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "echomq/migration.h"
#include "migrate/link.h"

namespace echomq::inline v2::migrate {

struct Journal {
  MigrationPhase phase = MigrationPhase::none;
  std::string source{};  // "<url> <prefix>", as place_of makes it
  std::string from{};    // the v1 queue
  std::int64_t began_ms = 0;
  bool was_paused = false;
  // For people, and for a source that was restored from elsewhere: v1's meta as JSON, and its id.
  std::string meta{};
  std::string id{};
  // Jobs and schedulers that were not understood, with why: fields `left:<id>`.
  std::map<std::string, std::string> left{};
};

std::string place_of(const std::string& url, const std::string& prefix);

Result<Journal> read_journal(Link& target, const MigratedQueue& queue);
Result<void> write_journal(Link& target, const MigratedQueue& queue, const Journal& journal);
Result<void> note_phase(Link& target, const MigratedQueue& queue, MigrationPhase phase);
Result<void> note_left(Link& target, const MigratedQueue& queue, const std::string& job,
                       const std::string& why);
Result<void> delete_journal(Link& target, const MigratedQueue& queue);

}  // namespace echomq::inline v2::migrate
