// SPDX-License-Identifier: MIT
// Reconciler: finds what this process holds without knowing it. A claim whose answer was lost with
// its connection has put jobs into `active` under our node, and nobody would work them until their
// leases end; after a reconnect they are looked for, and given back (protocol.md 5.4).
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/lease.h"
#include "queue/queue_core.h"
#include "wire/reply_form.h"
#include "worker/settler.h"

namespace echomq::inline v2 {

// `active` is read in pages of its order, by score and not by place, because entries leave it
// meanwhile. Where the page after this one begins; what this one shows of that score may not be all
// of it and is taken out, to come again. nullopt: it was the last. Pure.
std::optional<std::int64_t> next_page(std::vector<wire::Scored>& page, std::size_t size);

class Reconciler : public std::enable_shared_from_this<Reconciler> {
 public:
  Reconciler(std::shared_ptr<QueueCore> queue, std::shared_ptr<Settler> settler)
      : queue_(std::move(queue)), settler_(std::move(settler)) {}

  void reconcile() { look(0); }

 private:
  void look(std::int64_t from);
  void looked(std::int64_t from, Result<wire::Reply> reply);
  [[nodiscard]] bool is_unknown(const std::string& id, const Lease& lease) const;

  std::shared_ptr<QueueCore> queue_;
  std::shared_ptr<Settler> settler_;
};

}  // namespace echomq::inline v2
