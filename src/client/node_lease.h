// SPDX-License-Identifier: MIT
// NodeLease: this process's hold on a node id, and the ids and nonces that it allows. Pure.
//
// A node id belongs to one live process at a time ({emq}:nodes, script node/lease). A process mints
// ids and signs leases only while its hold lasts by the server's clock; the mint starts above the
// floor that the grant names, the end of the holder before.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/lease.h"
#include "protocol/snowflake.h"

namespace echomq::inline v2 {

class NodeLease {
 public:
  // A grant or a renewal.
  void hold(unsigned node, std::uint64_t grant, std::int64_t floor_ms, std::int64_t until_ms) {
    const bool renewed = held_ && node == node_ && grant == grant_;
    node_ = node;
    grant_ = grant;
    until_ms_ = until_ms;
    held_ = true;
    mint_.set_grant(node, renewed ? mint_.last_ms() : floor_ms, until_ms);
  }
  void lose() { held_ = false; }

  [[nodiscard]] bool held_at(std::int64_t now_ms) const { return held_ && now_ms < until_ms_; }
  [[nodiscard]] bool held() const { return held_; }
  [[nodiscard]] unsigned node() const { return node_; }
  [[nodiscard]] std::uint64_t grant() const { return grant_; }
  [[nodiscard]] std::int64_t last_minted_ms() const { return mint_.last_ms(); }
  [[nodiscard]] std::optional<std::uint64_t> mint(std::int64_t now_ms) {
    return mint_.next(now_ms);
  }

  // The lease of the next claim call: a fresh nonce each time, so that two runs of a job differ.
  [[nodiscard]] Lease next_lease(std::int64_t now_ms, std::int64_t lease_ms) {
    nonce_ = (nonce_ + 1) % 2048;
    return {Lease::deadline_for(now_ms, lease_ms), node_, nonce_};
  }

 private:
  bool held_ = false;
  unsigned node_ = 0;
  std::uint64_t grant_ = 0;
  std::int64_t until_ms_ = 0;
  unsigned nonce_ = 0;
  Mint mint_;
};

}  // namespace echomq::inline v2
