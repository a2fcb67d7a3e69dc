// SPDX-License-Identifier: MIT
#include <optional>
#include <string>

#include "echomq/fence.h"
#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "fence/repair_call.h"
#include "fence/versions.h"
#include "protocol/refusal.h"
#include "protocol/version.h"
#include "queue/ask.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kAnswers = 11;

// A target whose version was overwritten looks like a queue of ours; its migration has to end
// first.
std::optional<Error> refuse_unfinished(QueueCore& queue) {
  const auto journal = migration_key(queue.name());
  const auto phase = ask_plainly(queue, wire::command({"HGET", journal, "phase"}));
  if (!phase) return phase.error();
  if (phase->is_null() || phase->text == fence::kMigrationFinished) return std::nullopt;
  return protocol::fence_refusal(queue.name(), "a migration that is not finished", kWireVersion,
                                 journal);
}

}  // namespace

Result<FenceRepair> repair_fence(Client& client, std::string_view queue) {
  const auto core = QueueCore::of(client.core(), queue);
  if (core->name_error()) return *core->name_error();
  if (auto unfinished = refuse_unfinished(*core)) return *unfinished;
  FenceRepair repair;
  for (bool more = true; more;) {
    const auto reply = ask(*core, fence::repair_call(core->keys(), core->name(), scripts::kRevision,
                                                     core->client()->now_ms()));
    if (!reply) return reply.error();
    if (reply->items.size() != kAnswers)
      return Error{ErrorCode::protocol, "queue/repair answered something else", {}};
    const auto at = [&reply](std::size_t i) { return wire::number_of(reply->items[i]); };
    repair.version |= at(0) > 0;
    repair.fields += at(1);
    repair.sentinels += at(2);
    repair.jobs += at(3);
    repair.delayed += at(4);
    repair.events += at(5);
    repair.limiter |= at(6) > 0;
    repair.ghosts |= at(7) > 0;
    repair.leftovers += at(8);
    repair.paused = at(9) > 0;
    more = at(10) > 0;
  }
  return repair;
}

}  // namespace echomq::inline v2
