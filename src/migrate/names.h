// SPDX-License-Identifier: MIT
// Names across the break: which queue becomes which, and what the ids of jobs and schedulers become
// that 2.0 does not allow. A name is a function of the old one alone, so that whoever meets it, in
// a list, in a parent's children or in another queue, comes to the same one without a table. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/migration.h"
#include "job/reference.h"

namespace echomq::inline v2::migrate {

// An id of v1 as 2.0 has it: the same where it can be. The job of a scheduler's tick,
// `repeat:<scheduler>:<ms>`, is called as 2.0 calls it, `<scheduler>.<ms>`; any other one
// `v1.<what of it is allowed>.<16 hex digits of its hash>`.
std::string map_id(std::string_view id);
std::string map_scheduler(std::string_view id);
// No job can be called so: its hash would be a structure of the v1 queue.
bool is_v1_structure(std::string_view id);
// A marker that versions before 5 left in their lists; no job.
bool is_old_marker(std::string_view id);

// A v1 job by what its key says, `<prefix>:<queue>:<id>`.
struct V1JobName {
  std::string_view queue{};
  std::string_view id{};
};

// The queues that move together, because flows refer from one to the other.
class Unit {
 public:
  Unit(std::string prefix, std::vector<MigratedQueue> queues)
      : prefix_(std::move(prefix)), queues_(std::move(queues)) {}

  [[nodiscard]] const std::vector<MigratedQueue>& queues() const { return queues_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  // Of a key of any v1 job. nullopt: it has another prefix or form.
  [[nodiscard]] std::optional<V1JobName> read(std::string_view key) const;
  // How 2.0 refers to it. nullopt: it is of no queue that moves.
  [[nodiscard]] std::optional<job::Reference> reference(std::string_view key) const;

 private:
  std::string prefix_;
  std::vector<MigratedQueue> queues_;
};

}  // namespace echomq::inline v2::migrate
