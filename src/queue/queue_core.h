// SPDX-License-Identifier: MIT
// QueueCore: one queue of one client, shared by its handles and workers: its keys, whether it was
// opened, the group commit of its adds, and what this process holds of it.
//
// Members marked (loop) are for the I/O loop only; the others for any thread.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/client_core.h"
#include "echomq/queue.h"
#include "queue/add_batcher.h"
#include "queue/queue_keys.h"
#include "queue/statuses.h"

namespace echomq::inline v2 {

class FinishWaits;
class Parents;

// ErrorCode::not_found.
Error no_such_queue(std::string_view queue);

class QueueCore : public std::enable_shared_from_this<QueueCore> {
 public:
  // The core of the queue of that name (or of that bad name: it answers the error).
  static std::shared_ptr<QueueCore> of(const std::shared_ptr<ClientCore>& client,
                                       std::string_view name);

  QueueCore(std::shared_ptr<ClientCore> client, std::string_view name);

  [[nodiscard]] const std::shared_ptr<ClientCore>& client() const { return client_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const QueueKeys& keys() const { return keys_; }
  // The error of a name outside the grammar.
  [[nodiscard]] const std::optional<Error>& name_error() const { return name_error_; }

  Result<void> open();
  Result<Counts> counts();
  Result<JobInfo> job(std::string_view id);
  void add(PendingAdd add);
  void add_all(std::vector<PendingAdd> adds);

  // (loop) Sends a script that concerns this queue: its errors name the queue, and its meta.
  void call(ScriptCall call, Function<void(Result<wire::Reply>)> done) const {
    client_->call(std::move(call), name_, keys_.meta, std::move(done));
  }
  // (loop) Opens the queue, once; later calls are answered at once.
  void with_open(Function<void(Result<void>)> done);
  // (loop) A script answered that the queue is gone (obliterated, flushed): open it anew next time.
  void forget_open() { opened_ = false; }

  // (loop) One job; gives up after `timeout`.
  void read_job(const std::string& id, std::chrono::milliseconds timeout,
                Function<void(Result<JobInfo>)> done);
  // (loop) Who waits here for jobs to finish; nobody so far while it is empty.
  std::shared_ptr<FinishWaits>& finish_waits() { return finish_waits_; }
  // (loop) What is to be told to parents here; nothing so far while it is empty.
  std::shared_ptr<Parents>& parents() { return parents_; }
  // Looking never makes a queue: of one without a meta the scripts' error is not_found.
  [[nodiscard]] Error look_error(const Error& error) const;

  // (loop) What this process holds in `active`, by id; tokens of claims that are on their way count
  // too.
  void holds(const std::string& id, std::uint64_t token) { held_[id] = token; }
  void holds_no_more(const std::string& id, std::uint64_t token) {
    if (is_held(id, token)) held_.erase(id);
  }
  [[nodiscard]] bool is_held(const std::string& id, std::uint64_t token) const {
    const auto held = held_.find(id);
    return held != held_.end() && held->second == token;
  }
  std::multiset<std::uint64_t>& claims_on_their_way() { return claims_; }

 private:
  void open_until(std::chrono::milliseconds deadline);
  void take_incoming();
  void take(PendingAdd add);
  void pump();
  void prepared(const Result<void>& result);
  void send(const std::shared_ptr<AddBatcher::Flush>& flush, std::chrono::milliseconds deadline,
            bool reopened);
  void mint_more(const std::shared_ptr<AddBatcher::Flush>& flush,
                 std::chrono::milliseconds deadline, bool reopened);
  void answered(const std::shared_ptr<AddBatcher::Flush>& flush, std::chrono::milliseconds deadline,
                bool reopened, Result<wire::Reply> reply);
  void refuse(std::vector<PendingAdd>& adds, const Error& why);
  void confirm(PendingAdd& add, AddedJob added);
  void answer(PendingAdd& add, Result<AddedJob> result) const;
  [[nodiscard]] ScriptCall add_call(const AddBatcher::Flush& flush, std::int64_t now) const;
  [[nodiscard]] ScriptCall add_deduplicated_call(const AddBatcher::Flush& flush,
                                                 std::int64_t now) const;
  std::vector<std::size_t> answer_all(AddBatcher::Flush& flush, const wire::Reply& reply);
  bool say_again(const std::shared_ptr<AddBatcher::Flush>& flush,
                 const std::vector<std::size_t>& moved, std::chrono::milliseconds deadline,
                 bool reopened);

  std::shared_ptr<ClientCore> client_;
  std::string name_;
  std::optional<Error> name_error_;
  QueueKeys keys_;

  bool opened_ = false;
  std::vector<Function<void(Result<void>)>> open_waiters_;
  AddBatcher batcher_;
  bool preparing_ = false;
  std::shared_ptr<FinishWaits> finish_waits_;
  std::shared_ptr<Parents> parents_;
  std::unordered_map<std::string, std::string> owners_;  // of deduplication ids, as last told
  std::unordered_map<std::string, std::uint64_t> held_;
  std::multiset<std::uint64_t> claims_;

  std::mutex incoming_mutex_;  // guards incoming_, incoming_posted_
  std::vector<PendingAdd> incoming_;
  bool incoming_posted_ = false;
};

}  // namespace echomq::inline v2
