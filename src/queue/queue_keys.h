// SPDX-License-Identifier: MIT
// The fixed keys of one queue, built once: every call of every script names them.
#pragma once

#include <string>
#include <string_view>

#include "echomq/keyspace.h"

namespace echomq::inline v2 {

struct QueueKeys {
  explicit QueueKeys(std::string_view queue)
      : meta(key(queue, Structure::meta)),
        id(key(queue, Structure::id)),
        repeat(key(queue, Structure::repeat)),
        wait(key(queue, Structure::wait)),
        ghosts(key(queue, Structure::ghosts)),
        prioritized(key(queue, Structure::prioritized)),
        crashed(key(queue, Structure::crashed)),
        active(key(queue, Structure::active)),
        delayed(key(queue, Structure::delayed)),
        completed(key(queue, Structure::completed)),
        failed(key(queue, Structure::failed)),
        waiting_children(key(queue, Structure::waiting_children)),
        marker(key(queue, Structure::marker)),
        events(key(queue, Structure::events)),
        limiter(key(queue, Structure::limiter)),
        producers(key(queue, Structure::producers)),
        outbox(key(queue, Structure::outbox)),
        trash(key(queue, Structure::trash)),
        subkeys(key(queue, Structure::subkeys)),
        schedules(key(queue, Structure::schedules)),
        de(key(queue, Structure::de)),
        de_due(key(queue, Structure::de_due)),
        de_next(key(queue, Structure::de_next)),
        metrics_completed(named_key(queue, "metrics", "completed")),
        metrics_failed(named_key(queue, "metrics", "failed")),
        sizes_completed(named_key(queue, "sizes", "completed")),
        sizes_failed(named_key(queue, "sizes", "failed")) {}

  std::string meta, id, repeat, wait, ghosts, prioritized, crashed, active, delayed, completed,
      failed, waiting_children, marker, events, limiter, producers, outbox, trash, subkeys,
      schedules, de, de_due, de_next, metrics_completed, metrics_failed, sizes_completed,
      sizes_failed;
};

// The hash of a scheduler, and the record of a flow that is being added.
inline std::string scheduler_key(std::string_view queue, std::string_view scheduler) {
  return named_key(queue, "schedule", scheduler);
}
inline std::string flow_key(std::string_view queue, std::string_view plan) {
  return named_key(queue, "flow", plan);
}

// The sub-keys of one job, for the scripts that may delete or must clear them.
struct SubKeys {
  SubKeys(std::string_view queue, std::string_view job)
      : logs(job_key(queue, job, Sub::logs)),
        dependencies(job_key(queue, job, Sub::dependencies)),
        processed(job_key(queue, job, Sub::processed)),
        failed(job_key(queue, job, Sub::failed)),
        unsuccessful(job_key(queue, job, Sub::unsuccessful)),
        checkpoint(job_key(queue, job, Sub::checkpoint)) {}

  // As the MORE KEYS of a script.
  template <class MoreKeys>
  [[nodiscard]] MoreKeys as() const {
    return {.logs = logs,
            .dependencies = dependencies,
            .processed = processed,
            .failed_children = failed,
            .unsuccessful = unsuccessful,
            .checkpoint = checkpoint};
  }

  std::string logs, dependencies, processed, failed, unsuccessful, checkpoint;
};

}  // namespace echomq::inline v2
