// SPDX-License-Identifier: MIT
// A bad network between a client and a test server: a proxy in the test's process that delays,
// cuts, swallows, half-closes, drips, refuses, talks nonsense, and loses the answer of a chosen
// command.
//
//   ChaosProxy proxy(server);
//   auto far = connect(proxy.url()).value();
//   proxy.set({.blackhole = true});             // standing, until pass()
//   proxy.cut(ChaosProxy::named(":block"));     // once, now
//   proxy.lose(Loss::answer, "job/finish", {.times = 2});
//
// It can also tell the time of a server whose clock is wrong. A standing fault holds for the
// connections that are there and for those to come, and so does what is lost. Who is meant is told
// by the name that a client gave itself (HELLO SETNAME), so that a worker's blocking connection can
// be told from the one that it shares with its client.
//
// Whole messages are passed on, so that a command reaches the server or does not.
//
// Thread-safety: all members may be called from any thread. What they do to connections has been
// done when they return, but for bytes that are on their way already.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/folder.h"
#include "support/server.h"

namespace echomq::test {

// What becomes of the command that is waited for.
enum class Loss {
  answer,   // it reaches the server and is run; its connection is cut instead of the answer
  command,  // its connection is cut, and it never reaches the server
  silence,  // it reaches the server and is run; from its answer on the connection says nothing more
};

class ChaosProxy {
 public:
  enum class Door { unix_socket, tcp };
  enum class Way { to_server, to_client };

  // A standing fault, in both directions.
  struct Fault {
    std::chrono::milliseconds delay{0};
    // So many bytes in each tick; 0: as they come.
    std::size_t drip = 0;
    std::chrono::milliseconds tick{10};
    // Bytes go nowhere, and a new connection is accepted and answered by nobody. A connection that
    // has been in it never works again, as on a path that has forgotten it, and neither side is
    // told.
    bool blackhole = false;
  };

  // A connection as it was seen so far.
  struct Seen {
    std::size_t number = 0;  // from 1, in the order of their coming
    std::string name{};      // what its client called it
    bool open = true;        // neither side has gone
    std::size_t commands = 0;
    std::size_t answers = 0;
    std::size_t bytes_to_server = 0;
    std::size_t bytes_to_client = 0;
  };
  using Which = std::function<bool(const Seen&)>;
  static Which everyone();
  // The end of the name: ":block" is the blocking connection of every worker.
  static Which named(std::string end);
  static Which number(std::size_t number);

  struct When {
    std::size_t after = 0;  // let so many of these commands pass
    std::size_t times = 1;  // and then lose so many, one after the other
    bool shut = false;      // and let nobody in from then on, until refuse(false)
  };

  struct Counted {
    std::size_t accepted = 0;
    std::size_t cut = 0;          // by cut() and by lose()
    std::size_t half_closed = 0;  // by half_close()
    std::size_t swallowed = 0;    // bytes, in a blackhole
    std::size_t injected = 0;     // bytes
  };

  explicit ChaosProxy(const TestServer& server, Door door = Door::unix_socket);
  ~ChaosProxy();
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string socket_path() const { return folder_.file("proxy.sock"); }

  // The last one that fits a connection counts.
  void set(const Fault& fault, const Which& which = everyone());
  // What TIME answers is off by so much: for those who ask, the server's clock is set.
  void shift_time(std::chrono::seconds by);
  // Turns new connections away, or lets them in again.
  void refuse(bool refusing = true);
  // Ends all standing faults, lets connections in, and loses nothing any more.
  void pass();

  // Once, now. They answer how many connections it was done to.
  std::size_t cut(const Which& which = everyone());
  // One side is told that the other will say no more; the other way stays open. Who is not told
  // learns nothing of it from the proxy either, not even when the told side closes.
  std::size_t half_close(Way way, const Which& which = everyone());
  // Bytes that the server never said, before those that wait to be sent to the client.
  std::size_t inject(std::string_view bytes, const Which& which = everyone());

  // `what`: the name of a script ("job/finish"), whichever way it is sent, or bytes of the command.
  // An answer that is NOSCRIPT does not count: the command is sent again by its source.
  void lose(Loss loss, const std::string& what, const When& when);
  void lose(Loss loss, const std::string& what) { lose(loss, what, When{}); }
  // How many of these commands were lost so far, in whichever way.
  [[nodiscard]] std::size_t lost(const std::string& what) const;

  [[nodiscard]] Counted counted() const;
  // All connections so far, those that are gone included.
  [[nodiscard]] std::vector<Seen> seen() const;
  [[nodiscard]] std::size_t open_count(const Which& which = everyone()) const;

 private:
  struct Pipe;
  struct Peer;
  struct Snare;
  struct Rule {
    Which which;
    Fault fault;
  };

  void listen_again();
  void stop_listening();
  void wake() const;
  void serve();
  void accept_one();
  void read(Peer& peer, Way way);
  void take_command(Peer& peer, const std::string& bytes);
  void take_answer(Peer& peer, std::string bytes);
  void move_on(Peer& peer);
  void forget_gone();
  void swallow(Peer& peer, std::size_t bytes);
  [[nodiscard]] Fault fault_of(const Peer& peer) const;
  template <class Act>
  std::size_t each(const Which& which, Act act);

  const std::string server_path_;
  const Door door_;
  Folder folder_;
  unsigned short port_ = 0;
  int wake_ = -1;

  mutable std::mutex mutex_;  // guards what follows; the thread holds it but while it waits
  int listener_ = -1;         // -1: nobody is let in
  std::vector<int> closing_;  // descriptors that the thread may be waiting on: it closes them
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Seen> gone_;
  std::vector<Rule> rules_;
  std::vector<Snare> snares_;
  Counted counted_;
  std::chrono::seconds time_shift_{0};
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace echomq::test
