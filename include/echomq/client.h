// SPDX-License-Identifier: MIT
// Client: one process's connection to a deployment. Queues and workers share it.
//
//   auto mq = echomq::connect("unix:///run/emq.sock").value();
//
// A Client is a handle: copies share the connection, the node id (which mints job ids and signs
// leases) and one I/O thread. When the last handle, queue and worker is gone, what was sent is
// answered or given up within the command deadline, the node id is returned, and the thread ends.
//
// Not fork-safe: create the Client after fork(). The library installs no signal handlers and never
// exits. Thread-safety: every member may be called from any thread at any time, except from inside
// a callback that runs on the I/O thread, where the blocking members would wait for themselves:
// they answer ErrorCode::invalid_argument there.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/connection.h"
#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

struct AddedJob;
struct JobOptions;

enum class LogLevel { debug, info, warning, error };

struct ClientOptions {
  // How long connect() tries, the time of a loading server included.
  std::chrono::milliseconds connect_timeout{2'000};
  // After this long without an answer a command gives up with ErrorCode::timeout.
  std::chrono::milliseconds command_timeout{5'000};
  // A job's data may be this long; at most kMaxDataBytes (64 MiB).
  std::size_t data_limit = std::size_t{1} << 20;
  // Accept a maxmemory-policy other than noeviction. The server may then drop jobs without a word.
  bool allow_eviction = false;
  // v1 queues, plain or in braces, are looked for under these prefixes at an opening, and refused
  // (ErrorCode::fence). Empty for those who run BullMQ beside EchoMQ on the same server.
  std::vector<std::string> v1_prefixes{"emq", "bull"};
  // For rediss:// and valkeys://; ignored otherwise.
  TlsOptions tls{};
  // Adds that wait for their answer may hold this many bytes in this client; beyond it they are
  // refused at once with ErrorCode::backpressure. A single larger job is let through on its own. At
  // least 1 MiB.
  std::size_t buffer_limit = std::size_t{64} << 20;
  // A fixed node id 0..1023 instead of the first free one; refused while another process holds it.
  std::optional<unsigned> node{};
  // How long the node id is held without a sign of life; renewed every third of it. At least 3 s.
  std::chrono::milliseconds node_lease{30'000};
  // Shown by CLIENT LIST; [A-Za-z0-9._:-]*.
  std::string name = "echomq";
  // Where log lines go; nowhere by default. Called on the I/O thread: be short, do not block.
  std::function<void(LogLevel, std::string_view)> log{};
  // Around each add of each queue, for traces, measurements and what all jobs shall have.
  // before_add is called on the caller's thread, once for each job, and may change data (bytes, as
  // its codec made them) and options; what it leaves is checked then. after_add is told how it
  // ended, the id or the error, on the I/O thread or, where it was refused before it was sent, on
  // the caller's. Neither may throw or block.
  std::function<void(std::string_view queue, std::string& data, JobOptions& options)> before_add{};
  std::function<void(std::string_view queue, const Result<AddedJob>& added)> after_add{};
  // Told of each change of the connection's state; `why` says what went wrong when it went down.
  // Called on the I/O thread, like `log`.
  std::function<void(ConnectionState, std::string_view why)> on_state{};
  // Told once when a queue is met that belongs to another wire, and again only after it was open to
  // us in between: an ErrorCode::fence error, of which fence_error() gives the parts. It is logged
  // as a warning too. Called on the I/O thread, like `log`.
  std::function<void(const Error& fence)> on_fence{};
  // Where callbacks of async_ operations run; on the I/O thread by default. Given for example
  // [&](auto task) { asio::post(context, std::move(task)); }
  // What it posts to must live until every operation that was begun is answered.
  std::function<void(std::function<void()>)> post{};
};

class ClientCore;

class ECHOMQ_API Client {
 public:
  explicit Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}

  // The server as it was addressed, without the password.
  [[nodiscard]] std::string url() const;
  // "7.0.15"; "unknown" where INFO is denied.
  [[nodiscard]] std::string server_version() const;
  // As it is at this moment. Nothing needs to wait for it: operations wait for the connection
  // themselves, within their deadline.
  [[nodiscard]] ConnectionState state() const;
  // The node id that this process holds, 0..1023.
  [[nodiscard]] unsigned node() const;
  // A new id, unique in the deployment: a decimal Snowflake. See echomq/id.h.
  Result<std::string> mint_id();
  // The names of all queues that were ever opened here, in alphabetical order.
  Result<std::vector<std::string>> queues();
  // Milliseconds since 1970 by the server's clock, as estimated.
  [[nodiscard]] std::int64_t server_time_ms() const;
  // Ends the connection now: operations not yet sent answer ErrorCode::closed, those in flight
  // ErrorCode::connection_lost. Later operations answer ErrorCode::closed.
  void close();

  [[nodiscard]] const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  std::shared_ptr<ClientCore> core_;
};

// Connects and proves that the server can be used: reachable, recent enough (7.0), not loading, not
// evicting, and with a free node id. `url` is one of
//   redis://[[user]:password@]host[:port][/db]    valkey://... the same
//   rediss://...                                  valkeys://... the same, through TLS
//   unix://[[user]:password@]/path/to/socket[?db=N]
//   embedded:[/folder]   the private server of that folder: the running one, or else a new one that
//                        lives as long as the Client. The default folder is
//                        Embedded::default_dir().
// Errors: invalid_url, invalid_argument (options), unavailable, timeout, loading, denied,
// server_too_old, config (evicting), tls, embedded, fence (the deployment is of another version),
// nodes_exhausted, unsupported.
ECHOMQ_API Result<Client> connect(std::string_view url, ClientOptions options = {});

// EMQ_URL, or "embedded:" when it is unset or empty.
ECHOMQ_API std::string url_from_env();

}  // namespace echomq::inline v2
