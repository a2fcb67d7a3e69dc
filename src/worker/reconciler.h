// SPDX-License-Identifier: MIT
// Reconciler: finds what this process holds without knowing it. A claim whose answer was lost with
// its connection has put jobs into `active` under our node, and nobody would work them until their
// leases end; after a reconnect they are looked for, and given back (protocol.md 5.4).
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "protocol/lease.h"
#include "queue/queue_core.h"
#include "worker/settler.h"

namespace echomq::inline v2 {

class Reconciler : public std::enable_shared_from_this<Reconciler> {
 public:
  Reconciler(std::shared_ptr<QueueCore> queue, std::shared_ptr<Settler> settler)
      : queue_(std::move(queue)), settler_(std::move(settler)) {}

  void reconcile() { look(0); }

 private:
  void look(std::size_t from);
  void looked(std::size_t from, Result<wire::Reply> reply);
  [[nodiscard]] bool is_unknown(const std::string& id, const Lease& lease) const;

  std::shared_ptr<QueueCore> queue_;
  std::shared_ptr<Settler> settler_;
};

}  // namespace echomq::inline v2
