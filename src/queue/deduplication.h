// SPDX-License-Identifier: MIT
// Owners of deduplication ids: who owns one, and what happens when an owner is over. That he is
// over is seen by every add at once; what is done here gives the entry back, and adds what was kept
// for then.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "echomq/queue.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

inline constexpr std::size_t kOwnersPerCall = 128;

// An entry as a caller saw it.
struct OwnedId {
  std::string de;     // the deduplication id
  std::string owner;  // the job
  std::string kept;   // the add that is kept for its end; empty: none, or nobody looked
};

// How it ended.
struct OwnedEnd {
  int freed = 0;  // ids that have no owner any more, or the add that was kept
  int added = 0;  // of them: adds that were kept, and are jobs now
};

// (loop) Ends those whose owners are over; with `force` all of them. At most kOwnersPerCall. One
// that keeps an add that was not seen is said again; one that another job owns by now is left
// alone.
void end_owned(const std::shared_ptr<QueueCore>& queue, std::vector<OwnedId> ids, bool force,
               Function<void(Result<OwnedEnd>)> done);
// The same, waited for, any number. From any thread but the loop's.
Result<OwnedEnd> end_owned(QueueCore& queue, const std::vector<OwnedId>& ids, bool force = false);

// (loop) Reads who owns some ids, as far as their entries tell. Nobody: the id is not among them.
void read_owned(const std::shared_ptr<QueueCore>& queue, const std::vector<std::string>& ids,
                Function<void(Result<std::vector<OwnedId>>)> done);

// The call that lets the ids of jobs that are about to end hold for their time without them.
ScriptCall hold_call(const QueueCore& queue, const std::vector<OwnedId>& ids);

Result<std::optional<DeduplicationOwner>> read_owner(QueueCore& queue, std::string_view id);
// Whoever owns it, or only when that job does. Answers whether somebody did.
Result<bool> release_owned(QueueCore& queue, std::string_view id,
                           const std::optional<std::string>& owner = {});

}  // namespace echomq::inline v2
