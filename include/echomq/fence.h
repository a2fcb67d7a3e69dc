// SPDX-License-Identifier: MIT
// The version fence, as the user meets it: a queue whose keys belong to another wire is refused.
//
// An operation on such a queue answers ErrorCode::fence, whatever the operation was, and changes
// nothing. fence_error() gives its parts; ClientOptions::on_fence is told once when it begins.
//
// inspect_fence() looks at everything that can stand under the names of a queue, on either side of
// the fence, and says in words what was found and what a worker of each side meets there.
// repair_fence() brings back a queue in which a v1 client has written: those clients never look at
// the version, and some of what they do is stopped by no type (docs/fence.md lists each).
//
// Thread-safety: pure functions, and calls that may be made from any thread but the I/O thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/client.h"
#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

struct FenceError {
  std::string queue;  // the queue that was opened
  std::string
      found;  // what stands there: "bullmq:5.65.1", "echomq:3.0.0", "revision 7", "nothing"...
  std::string expected;  // "echomq:2.0.0", or the revision that this library speaks
  std::string probe;     // the key that showed it, for example "bull:mail:meta"
};

// The parts of an ErrorCode::fence error; nullopt for any other error.
ECHOMQ_API std::optional<FenceError> fence_error(const Error& error);

// --- what stands there

enum class FenceState {
  fresh,           // nothing
  v1,              // a queue of BullMQ or EchoMQ 1
  v2,              // a queue of this wire
  migrated_away,   // tombstones where a v1 queue was, and no queue of this wire here
  being_migrated,  // a queue of this wire that a migration is still filling
  foreign,         // keys of somebody else in the place of ours
  newer,           // a queue of a later wire, or one that needs a later release
  damaged,         // a queue of this wire in which a v1 client has written: see repair_fence
};

enum class FenceSide { v1, v2 };  // a worker, or whoever adds: BullMQ's, or ours

enum class FenceOutcome {
  works,     // it is at home
  makes,     // there is no queue of its own yet; it makes one
  refused,   // it can neither add nor fetch
  unfenced,  // nothing of ours stands there to stop it
};

// "fresh", "migrated-away"...; "v1"; "refused"...
ECHOMQ_API std::string_view name(FenceState state) noexcept;
ECHOMQ_API std::string_view name(FenceSide side) noexcept;
ECHOMQ_API std::string_view name(FenceOutcome outcome) noexcept;

// A cell of the table in docs/fence.md: what a worker of that side meets there.
struct FenceCell {
  FenceSide worker;
  FenceState keyspace;
  FenceOutcome outcome;
  std::string_view words;
};
ECHOMQ_API const FenceCell& fence_cell(FenceSide worker, FenceState keyspace) noexcept;

// A key that says something about the queue.
struct FenceFinding {
  std::string key;
  std::string found;    // what it holds, as far as it matters
  std::string words;    // what that means
  bool damage = false;  // repair_fence is there for it
};

struct FenceReport {
  std::string queue;
  FenceState state = FenceState::fresh;
  std::string found;  // what decided: a version, or words; empty when there is nothing
  std::string probe;  // the key that showed it; empty when there is nothing
  std::vector<FenceFinding> findings;
  bool repairable = false;  // repair_fence would go to work
};

// Looks, and changes nothing; makes no queue. Names are looked for under
// ClientOptions::v1_prefixes, plain and in braces. Errors: invalid_name, denied (an ACL hides the
// queue's own keys), and those of the connection.
ECHOMQ_API Result<FenceReport> inspect_fence(Client& client, std::string_view queue);

// --- bringing it back

// What repair_fence put right. All zero: there was nothing to do.
struct FenceRepair {
  bool version = false;        // meta.version is ours again
  std::int64_t fields = 0;     // settings of v1 taken out of `meta`
  std::int64_t sentinels = 0;  // put back
  std::int64_t jobs = 0;       // that a v1 client had paused, back in `wait` in their order
  std::int64_t delayed = 0;    // jobs whose time a v1 client had multiplied by 4,096
  std::int64_t events = 0;     // of v1, taken out of the stream; listeners are told a gap
  bool limiter = false;        // the state of the limits was overwritten, and begins anew
  bool ghosts = false;         // the count of empty entries of `wait` was wrong
  std::int64_t leftovers = 0;  // keys that only v1 has, deleted
  bool paused = false;         // the queue is paused now; nobody knows by whom, so it stays so

  [[nodiscard]] bool any() const noexcept {
    return version || fields + sentinels + jobs + delayed + events + leftovers > 0 || limiter ||
           ghosts;
  }
};

// Brings a damaged queue back, as far as it is still there: what a v1 client has deleted is gone,
// and jobs whose ids stand nowhere are found by no key (examine() of echomq/doctor.h looks for
// them). Nothing else repairs: stop the v1 client
// first, or it happens again. Saying it of a queue that is well changes nothing. The queue gets an
// event, EventType::repaired. Errors: invalid_name; not_found (no such queue); fence (it is no
// queue of ours: v1, foreign, newer, or being migrated); wrong_type, denied, and those of the
// connection.
ECHOMQ_API Result<FenceRepair> repair_fence(Client& client, std::string_view queue);

}  // namespace echomq::inline v2
