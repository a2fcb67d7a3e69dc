// SPDX-License-Identifier: MIT
// A Link whose scripts run in Lua 5.4, in this process: EVAL and EVALSHA are taken from the stream,
// run by liblua5.4, and their redis.call is passed on to a real server, as is everything else. So
// the scripts meet the other Lua of 4.5 with the same store behind it. Nothing is atomic here: for
// one client alone.
//
// Limits of a script (what it may call, its globals) are the contract's; this has all of Lua's
// libraries that the contract allows, and `unpack`.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/raw_client.h"

struct lua_State;

namespace echomq::test {

class Lua54Link : public Link {
 public:
  explicit Lua54Link(Link& server);
  ~Lua54Link() override;
  Lua54Link(const Lua54Link&) = delete;
  Lua54Link& operator=(const Lua54Link&) = delete;

  void send(std::string_view bytes) override;
  using Link::receive;
  Reply receive(std::chrono::milliseconds deadline) override;

  [[nodiscard]] int scripts_run() const { return scripts_run_; }

 private:
  Reply eval(const std::string& source, const std::vector<std::string>& words);

  Link& server_;
  lua_State* lua_;
  std::map<std::string, std::string> sources_;  // by their SHA1
  wire::RespParser commands_;
  std::deque<Reply> replies_;  // that nobody has received yet
  int scripts_run_ = 0;
};

}  // namespace echomq::test
