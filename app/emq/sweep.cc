// SPDX-License-Identifier: MIT
// emq sweep: deletes what retention has removed and no worker has deleted yet.
#include <memory>
#include <optional>
#include <string>

#include "bulk.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

struct SweptQueue {
  std::string queue;
  std::optional<std::string> limit;
  bool dry_run = false;
};

Exit sweep(const SweptQueue& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto limit = bulk_limit(typed.limit);
  if (!limit) return session.fail(limit.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  return run_bulk("swept", typed.dry_run, session, [&](const OnProgress& on_progress) {
    return queue.sweep_trash(
        {.limit = *limit, .dry_run = typed.dry_run, .on_progress = on_progress});
  });
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
  auto options = std::make_shared<SweptQueue>();
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_option("--limit", options->limit, "At most so many jobs")->type_name("N");
  verb->add_flag("--dry-run", options->dry_run, "Change nothing, tell how many");
  session.declare_server(*verb);
  session.declare_json(*verb, std::string("Print ") + kBulkJson);
  verb->callback([options, &session] {
    session.run = [options, &session] { return sweep(*options, session); };
  });
}

}  // namespace emq
