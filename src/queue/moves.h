// SPDX-License-Identifier: MIT
// Moves: what is done to jobs by their ids, whatever worker or state they are at. Each is one
// script over a batch; a list of ids is cut into batches here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/bulk.h"
#include "echomq/job.h"
#include "echomq/result.h"
#include "queue/outbox.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

using Ids = std::vector<std::string>;
// What a script answered for each id.
using Statuses = std::vector<std::string>;
// Where each id was seen in its line, as an index; -1: not looked for.
using Places = std::vector<std::int64_t>;
// Looked for in both lines, and in neither: a job that no other state has either stands in none.
inline constexpr std::int64_t kInNoLine = -2;

// How long a removal that takes parents too may take from a child to its parent.
inline constexpr std::chrono::milliseconds kUntold{60'000};

// Which finished jobs are retried.
struct RetryFrom {
  bool completed = true;
  bool failed = true;
};

// Which of the named jobs are removed: those that are as they were seen. Any that does not run
// without a state, those that stand in none among them; with one those that are in it still,
// running ones if it is `active`.
struct RemoveFrom {
  std::optional<JobState> state{};
  // Ended by then, or when they have not ended, added by then. Milliseconds since 1970.
  std::optional<std::int64_t> before_ms{};
  // What is kept until one of them is over (deduplication) is added then; not where nothing shall
  // be left.
  bool add_kept = true;
  // `<queue>:<id>`: only children of this job. The ids may be of other jobs by now.
  std::string parent{};
  // Where it is set, what is to be told to parents goes there and is not told yet: they go too. It
  // stands in the outbox all the same, dated kUntold ahead, so that sweeps tell it if whoever asked
  // for this dies before it has delivered or forgotten it.
  std::vector<EndMessage>* untold = nullptr;
};

// One batch, at most kMaxBatchJobs ids.
Result<Statuses> reschedule_batch(QueueCore& queue, const Ids& ids,
                                  std::chrono::milliseconds delay);
Result<Statuses> retry_batch(QueueCore& queue, const Ids& ids, RetryFrom from,
                             const RetryOptions& how);
Result<Statuses> remove_batch(QueueCore& queue, const Ids& ids, const RemoveFrom& from = {},
                              const Places& places = {});

// Any number of ids, which are checked first.
Result<JobResults> reschedule_jobs(QueueCore& queue, const Ids& ids,
                                   std::chrono::milliseconds delay);
Result<JobResults> prioritize_jobs(QueueCore& queue, const Ids& ids, unsigned priority);
Result<JobResults> retry_jobs(QueueCore& queue, const Ids& ids, const RetryOptions& how);
Result<JobResults> remove_jobs(QueueCore& queue, const Ids& ids);
// With the token of a run only while its lease is its own.
Result<void> update_data(QueueCore& queue, std::string_view id, std::optional<std::uint64_t> token,
                         const std::string& data);

}  // namespace echomq::inline v2
