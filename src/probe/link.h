// SPDX-License-Identifier: MIT
// Link: a blocking way to a server, one command and its answer after the other, in the words of
// RESP2. What proves the wire speaks through it, so that the tests (over their own sockets) and the
// probes (over any URL) share it.
//
//   link({"HGET", key, "state"}).text
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp.h"

namespace echomq::inline v2::probe {

using wire::Reply;

class Link {
 public:
  static constexpr std::chrono::milliseconds kPatience{30'000};

  virtual ~Link() = default;

  // One command and its answer.
  Reply operator()(std::initializer_list<std::string_view> words);
  Reply operator()(const std::vector<std::string>& words);
  // Several at once, and their answers in their order.
  std::vector<Reply> all_of(const std::vector<std::vector<std::string>>& commands);

  // The parts of it, for pipelines and for connections that are only listened to.
  virtual void send(std::string_view bytes) = 0;
  virtual Reply receive(std::chrono::milliseconds deadline) = 0;
  Reply receive() { return receive(kPatience); }
};

// The texts of an array, in its order; an integer as its digits, null as "(nil)".
std::vector<std::string> texts(const Reply& reply);

// A reply in one line, for messages: texts bare, arrays in brackets.
std::string show(const Reply& reply);

}  // namespace echomq::inline v2::probe
