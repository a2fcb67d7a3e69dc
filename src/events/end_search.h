// SPDX-License-Identifier: MIT
// EndSearch: how did a job end that is not there any more? It reads the stream of events backwards,
// a bounded way, to the last thing that was told of the job's run. It ends sooner at entries that
// are older than the job.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/function.h"
#include "echomq/job.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class EndSearch : public std::enable_shared_from_this<EndSearch> {
 public:
  // completed or failed; nullopt when the events that are left do not tell.
  using Done = Function<void(Result<std::optional<JobState>>)>;

  EndSearch(std::shared_ptr<QueueCore> queue, std::string id, Done done)
      : queue_(std::move(queue)), id_(std::move(id)), done_(std::move(done)) {}

  void start() { read("+"); }

 private:
  void read(const std::string& newest);
  void answered(Result<wire::Reply> reply);

  std::shared_ptr<QueueCore> queue_;
  std::string id_;
  Done done_;
  std::size_t pages_ = 0;
};

}  // namespace echomq::inline v2
