// SPDX-License-Identifier: MIT
// Reader: the jobs of a v1 queue as they stand there, stage by stage, in pieces that are no larger
// than a call may be: kMaxBatchJobs, and kMaxBatchBytes unless a single job is larger. What the
// jobs weigh is asked before they are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/job.h"
#include "echomq/keyspace.h"
#include "migrate/link.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

// A list or sorted set of v1 whose jobs are moved, and where to.
struct Stage {
  std::string_view v1{};
  bool list = false;
  Structure place = Structure::wait;
  JobState state = JobState::waiting;
};

// Paused jobs were there first.
inline constexpr std::array<Stage, 7> kStages{{
    {"paused", true, Structure::wait, JobState::waiting},
    {"wait", true, Structure::wait, JobState::waiting},
    {"prioritized", false, Structure::prioritized, JobState::prioritized},
    {"delayed", false, Structure::delayed, JobState::delayed},
    {"waiting-children", false, Structure::waiting_children, JobState::waiting_children},
    {"completed", false, Structure::completed, JobState::completed},
    {"failed", false, Structure::failed, JobState::failed},
}};

// What a look at the names of all keys has found.
struct KnownKinds {
  bool subs = true;    // keys beside the hash of a job
  bool owners = true;  // of deduplication ids
};

// By the names of all keys. What is of another type than its name says counts too.
Result<KnownKinds> kinds_of(Link& source, const V1Keys& v1,
                            const std::function<Result<void>()>& on_page);

struct Listed {
  std::string id{};
  std::int64_t score = 0;
};

struct Piece {
  std::size_t stage = kStages.size();  // so: all has been read
  std::int64_t at = 0;                 // the place of the first one
  std::vector<Listed> entries{};
  std::vector<bool> has_subs{};
  Replies hashes{};  // an error where there is something else than a hash
};

class Reader {
 public:
  Reader(Link& source, const V1Keys& v1, KnownKinds kinds, std::size_t stage, std::int64_t at)
      : source_(source), v1_(v1), kinds_(kinds), stage_(stage), at_(at) {}

  Result<Piece> next();

 private:
  Result<void> list();
  Result<void> look();
  Result<void> look_for_subs(const std::vector<std::string>& of_all);

  Link& source_;
  const V1Keys& v1_;
  KnownKinds kinds_;
  std::size_t stage_;
  std::int64_t at_;
  // What is listed and not read yet, from `used_` on.
  std::vector<Listed> entries_{};
  std::vector<std::size_t> bytes_{};
  std::vector<bool> has_subs_{};
  std::size_t used_ = 0;
  bool subs_met_ = false;  // by the last look
};

}  // namespace echomq::inline v2::migrate
