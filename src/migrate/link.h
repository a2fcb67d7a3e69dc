// SPDX-License-Identifier: MIT
// Link: the way to one server of a migration: commands go out, answers come back, and whoever asks
// waits. It is a connection of its own, and on the source it is all that a migration has of it:
// nothing is registered there, no node id is taken, and looking writes nothing. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "echomq/migration.h"
#include "protocol/script.h"
#include "wire/connection.h"

namespace echomq::inline v2::migrate {

using Commands = std::vector<std::string>;  // each encoded
using Replies = std::vector<wire::Reply>;

std::string command_of(const std::vector<std::string>& words);

class Link {
 public:
  // Another connection to the server of `core`, or where `url` says one, to that.
  static Result<std::shared_ptr<Link>> open(const std::shared_ptr<ClientCore>& core,
                                            const std::string& url, const TlsOptions& tls);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // An error reply to one of the commands is the error of all.
  Result<Replies> ask_all(Commands commands);
  // It is the answer to that command.
  Result<Replies> ask_each(Commands commands);
  Result<wire::Reply> ask(const std::vector<std::string>& words);
  // SCAN and its like: the words hold the cursor, and `at` is the next one afterwards ("0": all was
  // seen). Answers what was found.
  Result<Replies> page(const std::vector<std::string>& words, std::string& at);
  // The server's time, ms since 1970.
  Result<std::int64_t> now_ms();
  // A script of lua/ on a queue; a refusal names it and `meta`, where its version stands.
  Result<wire::Reply> call(ScriptCall call, const std::string& queue, const std::string& meta);

  // The server, without a password.
  [[nodiscard]] const std::string& url() const { return url_; }
  // The longest time that one ask took so far, from the sending to the last answer.
  [[nodiscard]] std::chrono::milliseconds longest() const {
    return std::chrono::milliseconds(longest_ms_);
  }

 private:
  Link(std::shared_ptr<ClientCore> core, std::shared_ptr<wire::Connection> connection,
       std::string url)
      : core_(std::move(core)), connection_(std::move(connection)), url_(std::move(url)) {}

  std::shared_ptr<ClientCore> core_;
  std::shared_ptr<wire::Connection> connection_;
  std::string url_;
  std::atomic<std::int64_t> longest_ms_{0};
};

}  // namespace echomq::inline v2::migrate
