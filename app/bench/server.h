// SPDX-License-Identifier: MIT
// The server that is measured: one of the bench's own, in a temporary folder, or one that somebody
// named. What is in it is deleted before each measurement, so a named one is only used when it is
// on this machine and empty, or when the caller has said that it may be erased.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bench/redis.h"
#include "echomq/embedded.h"
#include "echomq/result.h"

namespace bench {

// How the server keeps what it acknowledged. as_found: a named server's settings are left alone.
enum class Persistence { off, everysec, as_found };
std::string_view name(Persistence persistence);

class Server {
 public:
  // Ours. Errors: those of echomq::Embedded.
  static echomq::Result<Server> start();
  // Errors: invalid_url, unavailable; invalid_argument (elsewhere or not empty, and not `erase`).
  static echomq::Result<Server> use(const std::string& url, bool erase);

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] bool own() const { return embedded_.has_value(); }

  // Ours only; the server must be empty.
  echomq::Result<void> keep(Persistence persistence);
  // Deletes everything, and the append-only file's past with it.
  echomq::Result<void> erase();

  // Seconds of processor time since the server started, all its threads.
  echomq::Result<double> cpu_seconds();
  echomq::Result<double> used_memory();

  // Times of script calls, from here on.
  echomq::Result<void> reset_times();
  struct Times {
    double p999_ms = 0;       // of the server's histogram of EVALSHA
    std::uint64_t calls = 0;  // how many there were
  };
  echomq::Result<Times> script_times();

  // Commands that clients sent within `seconds`: MONITOR tells them from those inside scripts.
  // `stopped` ends the wait.
  echomq::Result<std::uint64_t> commands_within(double seconds,
                                                const std::function<bool()>& stopped);

 private:
  Server(Redis redis, Address address, std::string url)
      : redis_(std::move(redis)), address_(std::move(address)), url_(std::move(url)) {}
  static echomq::Result<Server> reach(const std::string& url);
  echomq::Result<std::map<std::string, std::string>> info(std::string_view section);

  std::optional<echomq::Embedded> embedded_;
  Redis redis_;
  Address address_;
  std::string url_;
  std::string version_;
  bool appends_ = false;
};

}  // namespace bench
