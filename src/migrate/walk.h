// SPDX-License-Identifier: MIT
// Walk: reads all of a v1 queue that does not change any more, in bounded pieces and always in the
// same order, as what the target is to hold. Whoever copies writes the pieces down, whoever
// compares looks whether they are there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/migration.h"
#include "migrate/link.h"
#include "migrate/names.h"
#include "migrate/reader.h"
#include "migrate/v1_job.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

// How far a walk has come: `<stage>:<place>:<due>:<id>`. In `delayed` several jobs may have had one
// time and an order among themselves; `due` and `id` are those of the last one, from which the time
// of the next follows.
struct Cursor {
  std::size_t stage = 0;
  std::int64_t at = 0;
  std::int64_t due = 0;
  std::string id{};

  [[nodiscard]] std::string text() const;
  // Empty: the beginning. nullopt: of another form.
  static std::optional<Cursor> read(std::string_view text);
};

struct MovedJob {
  std::string v1_id{};
  std::string id{};
  std::string score{};
  Fields fields{};
};

// Some jobs of a stage, at most kMaxBatchJobs and, but for a single one, kMaxBatchBytes.
struct Chunk {
  const Stage* stage = nullptr;
  Cursor to{};
  std::vector<MovedJob> jobs{};
};

// Part of a key of the target; the first one replaces what stands there.
struct Part {
  std::string key{};
  std::string_view type{};  // "hash", "list", "set" or "zset"
  bool first = true;
  std::string job{};  // as v1 calls it, where it is a job's
  std::vector<std::pair<std::string, std::string>> entries{};
};

// What is done with the pieces.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Result<void> take(const Chunk& chunk) = 0;
  virtual Result<void> take(const Part& part) = 0;
  // A job or scheduler that was not understood, or something to know.
  virtual void tell(const std::string& job, bool left_out, const std::string& text) = 0;
};

class Walk {
 public:
  Walk(Link& source, const Unit& unit, const MigratedQueue& queue, Sink& sink,
       KnownKinds kinds = {})
      : source_(source),
        unit_(unit),
        queue_(queue),
        v1_(unit.prefix(), queue.from),
        sink_(sink),
        kinds_(kinds) {}

  // The jobs from there on.
  Result<void> jobs(Cursor from);
  // Schedulers, deduplication ids, metrics: all of them each time. `at_ms` is when the migration
  // began.
  Result<void> parts(std::int64_t at_ms);

 private:
  Result<void> take(Piece piece, Cursor& cursor);
  Result<std::optional<MovedJob>> load(const Stage& stage, const Listed& entry, std::int64_t place,
                                       wire::Reply hash, bool has_subs, Cursor& last);
  Result<void> subs(const std::string& v1_id, const std::string& id, Fields& fields, JobState state,
                    std::string& refusal);
  Result<void> logs(const std::string& v1_id, const std::string& id);
  Result<void> children(const std::string& v1_id, const std::string& id, std::string_view word,
                        std::int64_t& count, std::string& last, std::string& refusal);
  std::optional<std::string> reference_of(const std::string& child, bool pending) const;
  Result<void> schedulers();
  Result<void> scheduler(const std::string& member, std::int64_t next);
  Result<std::string> own_id(const std::string& member, const std::string& tick);
  Result<void> deduplication(std::int64_t at_ms);
  // Shared by many, so no part is the first.
  Result<void> in_parts(const std::string& to, std::string_view type, const Fields& entries);
  Result<void> metrics();
  void tell_changes(Tally& tally);

  Link& source_;
  const Unit& unit_;
  const MigratedQueue& queue_;
  V1Keys v1_;
  Sink& sink_;
  KnownKinds kinds_;
  Tally changed_jobs_{"jobs"};
  Tally changed_schedulers_{"schedulers"};
};

}  // namespace echomq::inline v2::migrate
