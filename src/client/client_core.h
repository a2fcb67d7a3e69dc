// SPDX-License-Identifier: MIT
// ClientCore: what all queues and workers of a Client share: the loop, the main connection, the
// estimate of the server's clock, and the node id that signs leases and mints ids.
//
// Members marked (loop) are for the I/O loop only; the others for any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "client/durable_lane.h"
#include "client/node_holder.h"
#include "echomq/client.h"
#include "echomq/embedded.h"
#include "protocol/script.h"
#include "protocol/server_clock.h"
#include "wire/connection.h"
#include "wire/loop.h"

namespace echomq::inline v2 {

// The error replies of a server that did not run the command and will soon: it loads its data, or
// its cluster is down or moves the slot. They arrive as ErrorCode::loading; asking again is
// harmless.
bool is_not_ready(std::string_view error_reply) noexcept;
// Errors of the connection, which waiting mends.
bool is_weather(ErrorCode code) noexcept;
// How long to wait before asking again.
inline constexpr std::chrono::milliseconds kNotReadyPause{50};

class ClockGroup;

class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  static Result<std::shared_ptr<ClientCore>> connect(wire::Endpoint endpoint,
                                                     ClientOptions options);

  ClientCore(wire::Endpoint endpoint, ClientOptions options, std::shared_ptr<wire::TlsContext> tls);
  ~ClientCore();

  void close();
  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] const wire::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] std::string server_version() const;
  [[nodiscard]] ConnectionState state() const { return state_; }
  [[nodiscard]] unsigned node() const { return node_.id(); }
  // By the server's clock, as estimated from its TIME.
  [[nodiscard]] std::int64_t now_ms() const;
  void log(LogLevel level, const std::string& text) const;
  // (loop) A queue belongs to another wire, or (no error) does not: who watches is told of changes.
  void met_fence(const std::string& queue, const Error& fence);
  void met_no_fence(const std::string& queue) {
    if (!fenced_.empty()) fenced_.erase(queue);
  }
  // Runs a user's callback where ClientOptions::post wants it.
  void run_callback(Task task) const;
  // The one object of that name, while anyone holds it; `make` is called when nobody does. Handles
  // of one queue share their core by it.
  std::shared_ptr<void> shared_by_name(std::string_view name,
                                       const std::function<std::shared_ptr<void>()>& make);

  // Room for an add that nobody waits for, within ClientOptions::buffer_limit; given back with its
  // answer.
  [[nodiscard]] bool take_buffer(std::size_t bytes);
  void give_buffer(std::size_t bytes) { buffered_ -= bytes; }

  [[nodiscard]] wire::Loop& loop() { return *loop_; }
  // Starts `begin` on the loop and waits for what it answers. Not from the loop itself.
  template <class T>
  Result<T> wait_for(Function<void(Function<void(Result<T>)>)> begin);

  // (loop) Sends a script; error replies arrive as typed errors that name the queue and the probed
  // key.
  void call(ScriptCall call, std::string_view queue, std::string_view probe,
            Function<void(Result<wire::Reply>)> done);
  void call(ScriptCall call, std::string_view queue, std::string_view probe,
            std::chrono::milliseconds timeout, Function<void(Result<wire::Reply>)> done);
  // (loop) Sends a plain command; error replies arrive as replies.
  void command(std::string bytes, wire::Answer done);
  // (loop) Ends the present socket; the next one kills what the server still has of it.
  void drop_connection(const std::string& why) { main_->drop(why); }
  // (loop) Numbers the flushes of all queues: rising for as long as the client lives, whatever
  // queues come and go, because the script takes a number that it has seen for a repetition.
  std::uint64_t next_flush() { return ++flushes_; }
  // (loop) A further connection to the same server, for commands that block in it.
  std::shared_ptr<wire::Connection> make_lane(const std::string& purpose);
  // (loop) Where adds wait until they are safe.
  [[nodiscard]] DurableLane& durable_lane() { return *durable_; }
  // The server's run; "unknown" where INFO is denied.
  [[nodiscard]] std::string run_id() const;
  // (loop) This process's node id, and what it allows.
  [[nodiscard]] NodeHolder& node_holder() { return node_; }
  [[nodiscard]] NodeLease& node_lease() { return node_.lease(); }
  // (loop) Whether commands of a lost connection may still run, because nobody may end it.
  [[nodiscard]] bool kill_denied() const { return kill_denied_; }
  // (loop) Unchanged while the contact with one server run was unbroken.
  [[nodiscard]] std::uint64_t contact() const { return contact_; }
  [[nodiscard]] bool connected() const { return main_ && main_->ready(); }
  // (loop) Called after each reconnect, until the token is dropped.
  using Hook = std::function<void()>;
  std::shared_ptr<Hook> on_reconnect(Hook hook);

  // For tests of users (echomq/testing.h); in production nobody calls these.
  // The clock of a test that this client's follows: the first that it was given stays.
  std::shared_ptr<ClockGroup> follow(const std::shared_ptr<ClockGroup>& clock);
  // (loop) The time of the protocol is that much later from now on, by this client.
  void jump(std::chrono::milliseconds ahead);
  // (loop) Called after each jump, until the token is dropped.
  std::shared_ptr<Hook> on_jump(Hook hook);

  // (loop) One job that has been through a crash runs in a process at a time: take and give the
  // permit.
  bool take_crash_permit();
  void give_crash_permit();
  // Calls the hook once, when the permit may be there: now, or when it is given.
  void await_crash_permit(const std::shared_ptr<Hook>& hook);

  void keep_embedded(Embedded embedded) { embedded_.emplace(std::move(embedded)); }

 private:
  void start(Function<void(Result<void>)> connected);
  void ready(const wire::ServerInfo& info);
  void went_down(const Error& why);
  void sample_clock(int samples, Function<void()> then);
  void tick();
  void finish_start(Result<void> result);
  using Hooks = std::vector<std::weak_ptr<Hook>>;
  static std::shared_ptr<Hook> keep_hook(Hooks& hooks, Hook hook);
  static void call_hooks(const Hooks& hooks);

  wire::Endpoint endpoint_;
  ClientOptions options_;
  std::shared_ptr<wire::TlsContext> tls_;
  std::optional<Embedded> embedded_;
  std::shared_ptr<wire::Loop> loop_;
  std::shared_ptr<wire::Connection> main_;
  Function<void(Result<void>)> starting_;
  std::shared_ptr<wire::Loop::Timer> start_deadline_;
  std::shared_ptr<wire::Loop::Timer> tick_;
  std::optional<Error> start_problem_;
  bool closed_ = false;
  std::atomic<ConnectionState> state_{ConnectionState::connecting};
  bool kill_denied_ = false;
  std::atomic<std::size_t> buffered_{0};

  mutable std::mutex mutex_;  // guards version_, run_id_, by_name_, test_clock_
  std::string version_ = wire::kUnknown;
  std::string run_id_ = wire::kUnknown;
  std::map<std::string, std::weak_ptr<void>, std::less<>> by_name_;

  ServerClock clock_;
  std::atomic<std::int64_t> clock_offset_us_{0};  // of server and local clock, jumps included
  std::int64_t jumped_us_ = 0;
  std::shared_ptr<ClockGroup> test_clock_;
  NodeHolder node_;
  std::shared_ptr<DurableLane> durable_;
  std::uint64_t flushes_ = 0;
  std::uint64_t contact_ = 0;
  std::map<std::string, std::string> fenced_;  // queue -> what was found there
  Hooks reconnect_hooks_;
  Hooks jump_hooks_;
  Hooks permit_waiters_;
  bool crash_permit_taken_ = false;
};

template <class T>
Result<T> ClientCore::wait_for(Function<void(Function<void(Result<T>)>)> begin) {
  if (loop_->inside())
    return Error{
        ErrorCode::invalid_argument,
        "a blocking call from inside a callback of the I/O thread would wait for itself; use the "
        "async_ form, or ClientOptions::post",
        {}};
  struct Slot {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<Result<T>> result;
  };
  auto slot = std::make_shared<Slot>();
  loop_->post([begin = std::move(begin), slot]() mutable {
    begin([slot](Result<T> result) {
      const std::lock_guard lock(slot->mutex);
      slot->result.emplace(std::move(result));
      slot->arrived.notify_one();
    });
  });
  std::unique_lock lock(slot->mutex);
  slot->arrived.wait(lock, [&slot] { return slot->result.has_value(); });
  return std::move(*slot->result);
}

}  // namespace echomq::inline v2
