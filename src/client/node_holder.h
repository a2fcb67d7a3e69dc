// SPDX-License-Identifier: MIT
// NodeHolder: gets this process a node id, keeps it alive, and gives it back ({emq}:nodes, script
// node/lease). What the id allows is decided by NodeLease.
//
// Thread-safety: id() from any thread; everything else on the loop only.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/function.h"
#include "client/node_lease.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

class ClientCore;

class NodeHolder {
 public:
  explicit NodeHolder(ClientCore& client);

  // Calls back once the id is held for now: at once, or after it was acquired or renewed.
  // Errors: nodes_exhausted, fence, and those of the connection.
  void with(Function<void(Result<void>)> done);
  // The grant allows no further id: calls back after a renewal, never from inside.
  void with_more(Function<void(Result<void>)> done);
  // The error of one that allows no further id after that either.
  static Error allows_no_more();
  // A sign of life.
  void renew();
  // Gives the id back, with the last millisecond minted for as the next holder's floor.
  void give_back(Function<void()> then);

  [[nodiscard]] NodeLease& lease() { return lease_; }
  [[nodiscard]] unsigned id() const { return id_.load(); }

 private:
  void acquire();
  void offer(const std::vector<unsigned>& candidates, Function<void(Result<bool>)> done);
  void offer_free();
  void settled(const Result<void>& result);

  ClientCore& client_;  // whose member this is
  NodeLease lease_;
  std::atomic<unsigned> id_{0};
  std::string owner_;  // how this process signs its entry
  std::vector<Function<void(Result<void>)>> waiters_;
};

}  // namespace echomq::inline v2
