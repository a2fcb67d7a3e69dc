// SPDX-License-Identifier: MIT
// EventReader: reads the stream of a queue's events on a connection of its own, because it waits in
// the server, and goes on by itself whatever the network does. What is read is told in batches; the
// next one is asked for when the reader is told to go on.
//
// The wait in the server is bounded, and a connection that says nothing past it is dropped as dead.
// After each wait that brought nothing, and after each loss of the connection, it looks at the
// queue's counter of entries: that shows what was trimmed unseen, and a numbering that began anew.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "echomq/events.h"
#include "events/event_cursor.h"
#include "queue/queue_keys.h"
#include "wire/connection.h"
#include "wire/loop.h"

namespace echomq::inline v2 {

class EventReader : public std::enable_shared_from_this<EventReader> {
 public:
  struct Hooks {
    // The counter was looked at: what happens from now on will be read.
    std::function<void()> placed;
    // In order, never none. Nothing more is read until go_on().
    std::function<void(std::vector<Event>)> read;
    // A wait ended with nothing.
    std::function<void()> idle;
    // It cannot go on.
    std::function<void(const Error&)> failed;
  };

  // No QueueCore, which may own the reader.
  EventReader(std::shared_ptr<ClientCore> client, const std::string& queue, EventCursor cursor,
              std::chrono::milliseconds poll, Hooks hooks)
      : client_(std::move(client)),
        queue_(queue),
        keys_(queue),
        cursor_(std::move(cursor)),
        poll_(poll),
        hooks_(std::move(hooks)) {}

  void open();
  // No hook is called any more.
  void close();
  void go_on() { read(/*wait=*/true); }
  // Whether it has its place and has not lost the connection since.
  [[nodiscard]] bool placed() const { return placed_; }
  [[nodiscard]] const EventCursor& cursor() const { return cursor_; }

 private:
  void look();
  void look_later();
  void looked(Result<wire::Reply> reply);
  void read(bool wait);
  void answered(bool waited, Result<wire::Reply> reply);
  void tell(std::vector<Event> events);
  void fail(const Error& why);

  std::shared_ptr<ClientCore> client_;
  std::string queue_;
  QueueKeys keys_;
  EventCursor cursor_;
  std::chrono::milliseconds poll_;
  Hooks hooks_;
  std::shared_ptr<wire::Connection> lane_;
  std::uint64_t last_ = 0;  // of the counter, when it was looked at
  bool placed_ = false;
  bool closed_ = false;
};

}  // namespace echomq::inline v2
