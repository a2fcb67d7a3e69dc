// SPDX-License-Identifier: MIT
// emq sweep: deletes what retention has removed and no worker has deleted yet.
#include <memory>

#include "bulk.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

Exit sweep(const BulkWords& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  return run_bulk_on(typed, "swept", session,
                     [](auto& queue, const auto& options) { return queue.sweep_trash(options); });
}

}  // namespace

void declare_sweep(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "sweep", "Delete what is left of jobs that retention has removed",
      "  emq sweep mail --dry-run\n"
      "  emq sweep mail\n"
      "Such jobs are in no state any more, and only take memory. Workers delete them as they work, "
      "and look twice a minute for what one that was killed has left; this is for a queue that has "
      "no workers.\n");
  auto options = std::make_shared<BulkWords>();
  options->declare(*verb, session);
  verb->callback([options, &session] {
    session.run = [options, &session] { return sweep(*options, session); };
  });
}

}  // namespace emq
