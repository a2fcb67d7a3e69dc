// SPDX-License-Identifier: MIT
// Where the messages of a RESP stream begin and end, and no more: a proxy passes them on as they
// are. Both directions have this form; a command is an array of strings.
//
// Thread-safety: plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace echomq::test {

class RespFrames {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  // The bytes of the next whole message; nothing while it is incomplete. What is not RESP is handed
  // out as it came, and so is all that follows it.
  std::optional<std::string> next();

 private:
  bool begin(char type, std::string_view line);
  bool complete();
  std::string take();

  std::string buffer_;
  std::size_t at_ = 0;                // of buffer_, what was looked at
  std::size_t string_ = 0;            // bytes of a string that are missing, with its end of line
  std::vector<std::size_t> missing_;  // elements of the open aggregates
  bool foreign_ = false;
};

}  // namespace echomq::test
