// SPDX-License-Identifier: MIT
// The plan of a flow: what is to be added, as a list of entries, parents before their children, so
// that whoever has it can add what others have not (docs/protocol.md 7). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/children.h"
#include "job/encode.h"

namespace echomq::inline v2::flow {

// How many children one entry names.
inline constexpr std::size_t kEdgesPerEntry = 256;

struct PlanEntry {
  enum class Kind { job, edges };

  Kind kind = Kind::job;
  // Entries of a level are added when all of the levels before are: 0 for the root.
  unsigned level = 0;
  // job: the first entry that names the children of its parent; edges: the job that waits. -1: none
  // of this plan.
  std::int64_t above = -1;
  std::string queue{};
  std::string id{};  // of the job, or of the one that waits

  // job
  std::int64_t delay_ms = 0;
  unsigned priority = 0;
  bool lifo = false;
  bool waits = false;  // for children
  std::string edge{};  // to its parent, as it stands in its hash; empty: it has none
  std::string name{};
  std::string opts{};
  std::string data{};

  // edges
  std::string epoch{};
  std::string owner{};  // the plan whose job waits; `-`: a job that was there before
  unsigned count = 0;
  std::string refs{};  // joined by blanks

  // The id is one of the caller's own.
  [[nodiscard]] bool custom() const;
  // It declares the sub-keys of its job.
  [[nodiscard]] bool has_subkeys() const { return kind == Kind::edges || waits || custom(); }
  // The third argument of an item of flow/add.
  [[nodiscard]] std::string shape() const;
  // And the fourth.
  [[nodiscard]] const std::string& text() const { return kind == Kind::job ? data : refs; }
  // What it weighs against the limit of a batch.
  [[nodiscard]] std::size_t bytes() const {
    return 160 + edge.size() + name.size() + opts.size() + data.size() + refs.size();
  }

  // As it is recorded.
  [[nodiscard]] std::string encode() const;
  // nullopt: it has another form.
  static std::optional<PlanEntry> decode(std::string_view text);
};

using Plan = std::vector<PlanEntry>;

// A job of a tree, checked, with its id.
struct PlannedJob {
  std::string queue{};
  std::string id{};
  job::EncodedJob job{};
  ChildFailure on_failure = ChildFailure::fail_parent;
  std::int64_t parent = -1;  // its index among the jobs of the tree; -1: a root
  std::string path{};        // "children[3].children[0]"; a root: empty
};

// The jobs level by level, the roots first, those of one parent together, in their order. `plan`:
// how the plan is known, `<queue>:<id>`. `now_ms` makes the epochs of its edges.
Plan make_plan(std::string_view plan, const std::vector<PlannedJob>& jobs, std::int64_t now_ms);
// Children of a job that is there already.
Plan make_plan(std::string_view plan, std::string_view queue, std::string_view id,
               const std::vector<PlannedJob>& children, std::int64_t now_ms);

}  // namespace echomq::inline v2::flow
