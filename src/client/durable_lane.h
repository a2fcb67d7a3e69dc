// SPDX-License-Identifier: MIT
// DurableLane: asks the server to confirm what it was told before: that replicas have it (WAIT), or
// that it is in the append-only file on the disk (WAITAOF). Both block their connection in the
// server, so this is one of its own, opened when first needed.
//
// Jobs are added on the main connection. Once that is answered, the lane writes an entry of its own
// (the time at which the queue was last seen, in {emq}:queues) and waits for this: replicas and the
// file take writes in the order in which they were made, so whoever has the entry has the jobs. An
// entry that is refused (the server was demoted), and a server run that is not the one that took
// the jobs, confirm nothing. Many adds share one wait; while it lasts, the next ones collect.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "echomq/options.h"
#include "echomq/result.h"
#include "wire/connection.h"

namespace echomq::inline v2 {

class ClientCore;

class DurableLane : public std::enable_shared_from_this<DurableLane> {
 public:
  using Done = Function<void(Result<void>)>;

  // The client owns the lane.
  explicit DurableLane(ClientCore& client) : client_(&client) {}

  // Whether the server can confirm it, before anything is added. Asked anew after each loss of the
  // contact. Errors: config (it writes no append-only file), unsupported (it has no WAITAOF and
  // does not sync each write), denied, and those of the connection.
  void prepare(const Durability& wanted, Done done);
  // Waits until what was answered on the main connection is as safe as `wanted`; `run_id` is the
  // server run that answered. Error: not_durable.
  void confirm(const Durability& wanted, const std::string& run_id, const std::string& queue,
               Done done);
  // What waits is answered with not_durable, and so is what comes.
  void close();

 private:
  // How this server confirms what is in its file.
  enum class Sync { waitaof, each_write };
  struct Waiting {
    Durability wanted;
    std::string run_id;
    std::string queue;
    std::chrono::milliseconds deadline{};  // of the monotonic clock
    Done done;
  };
  using Group = std::vector<Waiting>;

  // Whether the server can do one kind of it: the contact in which it said so, and who waits to
  // know.
  struct Ability {
    std::optional<std::uint64_t> since{};
    std::vector<Done> asking{};
  };

  void ask_replicas();
  void replicas_answered(Result<wire::Reply> reply);
  void ask_file();
  void file_answered(Result<wire::Reply> reply);
  void waitaof_answered(Result<wire::Reply> reply);
  void setting_answered(Result<wire::Reply> reply);
  void tell(Ability& ability, const Result<void>& able);
  void open();
  void pump();
  void mark(const std::shared_ptr<Group>& group);
  void marked(const std::shared_ptr<Group>& group, const Result<wire::Reply>& reply);
  void wait(const std::shared_ptr<Group>& group);
  void waited(const std::shared_ptr<Group>& group, const Result<wire::Reply>& reply);
  void lost(const std::shared_ptr<Group>& group, const std::string& why);
  void end(const std::shared_ptr<Group>& group, const Result<void>& result);

  ClientCore* client_;  // owns this, and so outlives it
  Ability replicates_;
  Ability syncs_;
  Sync sync_ = Sync::waitaof;

  std::shared_ptr<wire::Connection> lane_;
  std::string run_id_;
  std::deque<Waiting> waiting_;
  bool busy_ = false;
  bool closed_ = false;
};

}  // namespace echomq::inline v2
