// SPDX-License-Identifier: MIT
// A job as it is stored: the fields of its hash, read back. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/job.h"
#include "wire/resp.h"

namespace echomq::inline v2::job {

// Completed or failed.
constexpr bool has_ended(JobState state) noexcept {
  return state == JobState::completed || state == JobState::failed;
}

// What an add says of a job besides its data, in one field, `head`:
// `<added ms>:<bytes of name>:<name><opts>`.
struct Head {
  std::int64_t added_ms = 0;
  std::string_view name{};
  std::string_view opts{};  // JSON; empty: all default
};
// nullopt: it has another form.
std::optional<Head> read_head(std::string_view text);

// What the runs of a job have left behind, in one field, `run`:
// `<ats>:<atm>:<stc>:<started>:<ended>:<token>:<worker>`. Only scripts write it (lua/lib/run.lua).
struct Runs {
  unsigned claims_ended = 0;   // ats
  unsigned attempts_made = 0;  // atm
  unsigned crashes = 0;        // stc
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::string_view worker{};
};
// nullopt: it has another form.
std::optional<Runs> read_runs(std::string_view text);

// What a worker needs to run a job, in the order in which it asks for it (HMGET).
inline constexpr std::array<std::string_view, 3> kLoadFields{"head", "data", "run"};

struct LoadedJob {
  std::string id;
  std::string name;
  std::string data;
  JobOptions options;
  std::int64_t added_ms = 0;
  unsigned attempts_made = 0;
  unsigned attempts_started = 0;
  unsigned crashes = 0;
  std::string parent_queue;
  std::string parent;  // empty: none
};

// nullopt: there is no such hash (or something else stands there).
std::optional<LoadedJob> read_loaded(std::string id, wire::Reply reply);

// From job/read's answer: state, score, then fields and values. nullopt: no such job.
std::optional<JobInfo> read_info(std::string_view queue, std::string_view id,
                                 const wire::Reply& reply);

}  // namespace echomq::inline v2::job
