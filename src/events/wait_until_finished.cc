// SPDX-License-Identifier: MIT
#include <utility>

#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "events/finish_waits.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {
namespace {

Result<void> check_wait(const QueueCore& queue, std::string_view id,
                        std::chrono::milliseconds timeout) {
  if (queue.name_error()) return *queue.name_error();
  if (auto ok = check_any_job_id(id); !ok) return ok;
  if (timeout >= std::chrono::milliseconds(0) && timeout <= kMaxDelay) return {};
  const auto value = std::to_string(timeout.count());
  return Error{ErrorCode::invalid_argument,
               "timeout is " + value + "; expected 0 milliseconds to ten years",
               {{"option", "timeout"}, {"value", value}, {"expected", "0 to ten years"}}};
}

}  // namespace

Result<FinishedJob> RawQueue::wait_until_finished(std::string_view id,
                                                  std::chrono::milliseconds timeout) {
  if (auto ok = check_wait(*core_, id, timeout); !ok) return ok.error();
  return core_->client()->wait_for<FinishedJob>(
      [core = core_, id = std::string(id), timeout](Function<void(Result<FinishedJob>)> done) {
        FinishWaits::wait(core, id, timeout, std::move(done));
      });
}

void RawQueue::async_wait_until_finished(std::string_view id, std::chrono::milliseconds timeout,
                                         FinishedCallback done) {
  if (auto ok = check_wait(*core_, id, timeout); !ok) return done(ok.error());
  // The queue holds what waits, and the client: a wait that held either would keep both for ever.
  // Whoever calls `done` has the client.
  auto* const client = core_->client().get();
  client->loop().post([core = core_, client, id = std::string(id), timeout,
                       done = std::move(done)]() mutable {
    FinishWaits::wait(
        core, id, timeout, [client, done = std::move(done)](Result<FinishedJob> result) mutable {
          client->run_callback([done = std::move(done), result = std::move(result)]() mutable {
            done(std::move(result));
          });
        });
  });
}

}  // namespace echomq::inline v2
