// SPDX-License-Identifier: MIT
// The way back of a migration: first nothing of a target can be used any more, then it is deleted,
// and only then v1 may work again.
#include "migrate/session.h"
#include "migrate/v1_fence.h"

namespace echomq::inline v2::migrate {
namespace {

Result<void> give_all_back(MigrationSession& session) {
  for (auto& queue : session.queues()) {
    if (queue.journal.phase != MigrationPhase::aborting) continue;
    if (auto back = give_back(session.source(), queue.v1, queue.journal); !back) return back;
    if (auto stepped = session.step(queue, "giving back", 0); !stepped) return stepped;
    if (auto gone = delete_journal(session.target(), queue.names); !gone) return gone;
    queue.journal = {};
    if (auto stepped = session.step(queue, "given back", 0); !stepped) return stepped;
  }
  return {};
}

}  // namespace

Result<void> put_back(MigrationSession& session, bool all,
                      const std::function<OnChunk(const MovingQueue&)>& counter) {
  for (auto& queue : session.queues()) {
    const auto phase = queue.journal.phase;
    if (phase == MigrationPhase::none) continue;
    if (!all && phase != MigrationPhase::paused) continue;
    if (auto entered = session.enter(queue, MigrationPhase::aborting); !entered) return entered;
    const auto version = target_version(session.target(), queue.keys);
    if (!version) return version.error();
    if (*version != kMigrating) continue;
    if (auto closed = close_target(session.target(), queue.names.to, "abort"); !closed)
      return closed;
    if (auto stepped = session.step(queue, "closed", 0); !stepped) return stepped;
  }
  for (auto& queue : session.queues()) {
    if (queue.journal.phase != MigrationPhase::aborting) continue;
    if (auto gone = take_target_away(session.target(), queue.names.to, counter(queue)); !gone)
      return gone;
  }
  return give_all_back(session);
}

}  // namespace echomq::inline v2::migrate
