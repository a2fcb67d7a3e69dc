// SPDX-License-Identifier: MIT
// Embedded: a private server, for a first try, a test, or a program that is alone on its machine.
//
//   auto server = echomq::Embedded::start({.dir = "/var/lib/mail/emq"}).value();
//   auto mq = echomq::connect(server.url()).value();
//
// It is an ordinary valkey-server or redis-server (not linked in: the program must be installed), a
// child that listens on a unix socket in its own folder and nowhere else, writes an append-only
// file there and never evicts. What was acknowledged is there again when a server is started in the
// same folder; half a transaction that a crash has left in the file is cut off first
// (docs/limits.md).
//
// It lives as long as its owner. A second child, the guardian, watches over it: when the owner is
// gone, even by SIGKILL, the server gets SIGTERM within a quarter of a second and SIGKILL one
// second later. Both children are in process groups of their own, so that a Ctrl-C at the terminal
// reaches the owner alone. The guardian is a child like any other: a program that waits for "any
// child" may see it end.
//
// A folder has one owner at a time; other programs connect to url(), which running_url() finds.
// After a fork() only the parent owns the server; the copy in the child does nothing.
//
// The folder holds emq.sock, server.log, owner.lock and the server's data. It is made with mode
// 0700.
//
// Thread-safety: the static members from any thread; one object from one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

struct EmbeddedOptions {
  // The folder; a relative one is taken from the current folder. Empty: Embedded::default_dir().
  // At most 98 bytes, because a socket's path has 107 at most.
  std::string dir{};
  // The server program: a path, or a name to look up. Empty: valkey-server, else redis-server.
  // Names are looked up in PATH, then in /usr/local/bin and /usr/bin.
  std::string server{};
  // When the append-only file is forced to the disk. "always": before each answer, nothing
  // acknowledged is ever lost. "everysec": the last second or two can be lost if the machine (not a
  // program) dies. "no": whenever the system likes.
  std::string appendfsync = "everysec";
  // One node of a cluster that owns all slots: it refuses commands whose keys are in two slots. For
  // tests: it takes some two seconds longer to start, and its cluster bus listens on a free port of
  // 127.0.0.1.
  bool cluster_enabled = false;
  // How long start() waits until the server answers, the loading of its data included.
  std::chrono::milliseconds start_timeout{10'000};
  // Further arguments of the server, after ours: the later one counts. Those on which the guarding
  // depends cannot be given: --daemonize --dir --logfile --port --supervised --unixsocket.
  std::vector<std::string> extra_args{};
  // A new folder below $TMPDIR (or /tmp), removed by stop(). Not together with `dir`. It stays
  // behind when the owner is killed.
  bool temporary = false;
};

class ECHOMQ_API Embedded {
 public:
  // Starts a server and returns when it answers. Errors:
  //   invalid_argument  an option outside its range, or options that exclude each other
  //   embedded          the folder has another owner (fields "owner" and "url" name the process and
  //   where
  //                     it can be reached), a server without an owner answers on its socket,
  //                     emq.sock is no socket, the folder cannot be used or its name is too long,
  //                     there is no server program, or it ended while starting (the message quotes
  //                     its log) or took too long
  // A folder whose owner has just been killed is waited for: at most start_timeout.
  static Result<Embedded> start(const EmbeddedOptions& options = {});

  Embedded(Embedded&&) noexcept;
  Embedded& operator=(Embedded&&) noexcept;
  ~Embedded();  // stop()

  // Where to connect: "unix:///dir/emq.sock".
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string dir() const;
  // The server's process; 0 after stop(). It may have ended by itself: then connections tell.
  [[nodiscard]] int server_pid() const;

  // Ends the server in good order: it writes out what it has. At most 10 s, then it is killed. Once
  // done, calls do nothing.
  void stop();

  // $XDG_STATE_HOME/echomq, or ~/.local/state/echomq; empty where neither variable nor user has a
  // home.
  static std::string default_dir();
  // The url of the server in `dir` (empty: the default one) while its owner lives; it may still be
  // starting. nullopt: nobody holds the folder.
  static std::optional<std::string> running_url(std::string_view dir = {});

 private:
  struct State;
  explicit Embedded(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace echomq::inline v2
