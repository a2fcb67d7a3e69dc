// SPDX-License-Identifier: MIT
// A server of the test's own: valkey-server or redis-server on a unix socket in a new folder below
// the temporary one, without a TCP port. It ends with the object, and with the process that started
// it, however that ends.
//
// ECHOMQ_TEST_CLUSTER=1 in the environment makes every server that does not say otherwise one node
// that owns all slots of a cluster: it refuses whatever touches two slots. Such a node needs a TCP
// port (a free one of the loopback address) and two seconds before it serves.
//
// ECHOMQ_TEST_ACL=1 gives whoever logs in as nobody in particular (so the library under test) only
// the rules that acl_line() prints; RawClient logs in as the administrator then.
//
// Failures throw std::runtime_error with the end of the server's log. Not thread-safe; make it in a
// thread that outlives it, because the server ends with the thread that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/raw_client.h"

namespace echomq::test {

struct ServerOptions {
  bool appendonly = false;
  std::string appendfsync = "everysec";
  std::uint64_t maxmemory = 0;       // bytes, 0: no limit; the policy is noeviction
  std::optional<bool> cluster{};     // not given: as the environment says
  std::vector<std::string> extra{};  // further words of its command line
};

// The rules of a line of acl_line() or v1_acl_line(): what stands behind "user <name>".
std::vector<std::string> acl_rules(const std::string& line);

class TestServer {
 public:
  explicit TestServer(ServerOptions options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // "unix:///..."
  [[nodiscard]] std::string url() const { return "unix://" + socket_path(); }
  // The same for whoever may do all, whatever the environment says.
  [[nodiscard]] std::string administrators_url() const;
  [[nodiscard]] std::string socket_path() const { return folder_ + "/server.sock"; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] ::pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool cluster() const noexcept { return cluster_; }
  // The TCP port of a cluster node, or the one that was opened; otherwise 0.
  [[nodiscard]] unsigned short port() const noexcept { return port_; }
  // Listens on a free port of the loopback address too, which replicas need; answers it.
  unsigned short open_port();
  [[nodiscard]] RawClient connect() const { return RawClient(socket_path()); }

  // SIGKILL; returns when the process is gone. start() brings it back on the same folder.
  void kill9();
  void start();
  // SIGTERM, which lets the server write what it has, and start().
  void restart();
  // SIGSTOP: connections stay open and nobody answers. SIGCONT ends that.
  void stop_signal() const;
  void continue_signal() const;

 private:
  void launch();
  void await_ready();
  void end(int signal_number);
  void remove_folder() const;
  [[nodiscard]] std::string log_end() const;

  ServerOptions options_;
  std::string folder_;
  bool cluster_ = false;
  unsigned short port_ = 0;
  ::pid_t pid_ = -1;
};

// The one server of ordinary tests, started when first asked for. Each test uses a queue of its
// own.
TestServer& shared_server();

// A queue name that no other test of this run has: `hint`, and a number.
std::string unique_queue(const std::string& hint = "q");

}  // namespace echomq::test
