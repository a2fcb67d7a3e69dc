// SPDX-License-Identifier: MIT
// Opening: the v2 side of the boot fence. Before the first transition of a process on a queue it
// looks for the queue's unbraced v1 keys, lets queue/open make or prove the queue, and enters it in
// {emq}:queues.
#pragma once

#include <memory>
#include <string>

#include "base/function.h"
#include "client/client_core.h"
#include "echomq/result.h"
#include "queue/queue_keys.h"

namespace echomq::inline v2 {

// (loop) Errors: fence, full, and those of the connection.
void open_queue(const std::shared_ptr<ClientCore>& client, const std::string& queue,
                const QueueKeys& keys, Function<void(Result<void>)> done);

}  // namespace echomq::inline v2
