// SPDX-License-Identifier: MIT
#include "bench/server.h"

#include <cstdlib>
#include <sstream>
#include <thread>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

double number(const std::map<std::string, std::string>& fields, const std::string& field) {
  const auto at = fields.find(field);
  return at == fields.end() ? 0.0 : std::strtod(at->second.c_str(), nullptr);
}

// "calls=12,usec=34" and "p50=1.003,p99.9=2.007": the number behind `name=`.
double part(const std::string& text, const std::string& part_name) {
  const auto at = ("," + text).find("," + part_name + "=");
  if (at == std::string::npos) return 0;
  return std::strtod(text.c_str() + at + part_name.size() + 1, nullptr);
}

}  // namespace

std::string_view name(Persistence persistence) {
  switch (persistence) {
    case Persistence::off: return "off";
    case Persistence::everysec: return "everysec";
    case Persistence::as_found: return "as found";
  }
  return "unknown";
}

Result<Server> Server::reach(const std::string& url) {
  auto address = parse_address(url);
  if (!address) return address.error();
  auto redis = Redis::connect(*address);
  if (!redis) return redis.error();
  Server server(*std::move(redis), *address, url);
  auto fields = server.info("server");
  if (!fields) return fields.error();
  for (const auto* field : {"redis_version", "valkey_version", "server_version"})
    if (const auto at = fields->find(field); at != fields->end()) server.version_ = at->second;
  return server;
}

Result<Server> Server::start() {
  echomq::EmbeddedOptions options;
  options.temporary = true;
  // Rewriting the append-only file forks: when that happens is nobody's merit, so it is told to.
  options.extra_args = {"--appendonly", "no", "--auto-aof-rewrite-percentage", "0"};
  auto embedded = echomq::Embedded::start(options);
  if (!embedded) return embedded.error();
  auto server = reach(embedded->url());
  if (server) server->embedded_.emplace(*std::move(embedded));
  return server;
}

Result<Server> Server::use(const std::string& url, bool erase) {
  const auto refusal = [&url](const std::string& why) {
    return Error{ErrorCode::invalid_argument,
                 why + "; the bench deletes everything there: say --erase if that is meant",
                 {{"option", "--url"}, {"value", url}}};
  };
  // Looked at before anything is sent there.
  const auto address = parse_address(url);
  if (!address) return address.error();
  if (!erase && !is_loopback(*address)) return refusal("the server is not on this machine");
  auto server = reach(url);
  if (!server || erase) return server;
  auto keys = server->redis_.call({"DBSIZE"});
  if (!keys) return keys.error();
  if (keys->text != "0") return refusal("the server holds " + keys->text + " keys");
  return server;
}

Result<std::map<std::string, std::string>> Server::info(std::string_view section) {
  auto answer = redis_.call({"INFO", section});
  if (!answer) return answer.error();
  std::map<std::string, std::string> fields;
  std::istringstream lines(answer->text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (const auto colon = line.find(':'); colon != std::string::npos)
      fields[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return fields;
}

Result<void> Server::keep(Persistence persistence) {
  appends_ = persistence == Persistence::everysec;
  auto set = redis_.call({"CONFIG", "SET", "appendonly", appends_ ? "yes" : "no"});
  if (!set) return set.error();
  return erase();
}

Result<void> Server::erase() {
  auto flushed = redis_.call({"FLUSHALL", "SYNC"});
  if (!flushed) return flushed.error();
  if (!appends_) return {};
  // One that is under way already answers an error, and will do as well.
  redis_.put({"BGREWRITEAOF"});
  if (auto sent = redis_.send(); !sent) return sent.error();
  if (auto begun = redis_.take(); !begun) return begun.error();
  for (const auto until = Clock::now() + 60s; Clock::now() < until;) {
    auto fields = info("persistence");
    if (!fields) return fields.error();
    if (number(*fields, "aof_rewrite_in_progress") + number(*fields, "aof_rewrite_scheduled") == 0)
      return {};
    std::this_thread::sleep_for(5ms);
  }
  return Error{ErrorCode::timeout, "the server does not finish rewriting its append-only file", {}};
}

Result<double> Server::cpu_seconds() {
  auto fields = info("cpu");
  if (!fields) return fields.error();
  return number(*fields, "used_cpu_sys") + number(*fields, "used_cpu_user");
}

Result<double> Server::used_memory() {
  auto fields = info("memory");
  if (!fields) return fields.error();
  return number(*fields, "used_memory");
}

Result<void> Server::reset_times() {
  auto reset = redis_.call({"CONFIG", "RESETSTAT"});
  if (!reset) return reset.error();
  return {};
}

Result<Server::Times> Server::script_times() {
  auto latencies = info("latencystats");
  if (!latencies) return latencies.error();
  auto calls = info("commandstats");
  if (!calls) return calls.error();
  Times times;
  times.p999_ms = part((*latencies)["latency_percentiles_usec_evalsha"], "p99.9") / 1'000;
  times.calls = static_cast<std::uint64_t>(part((*calls)["cmdstat_evalsha"], "calls"));
  return times;
}

Result<std::uint64_t> Server::commands_within(double seconds,
                                              const std::function<bool()>& stopped) {
  auto monitor = Redis::connect(address_);
  if (!monitor) return monitor.error();
  if (auto on = monitor->call({"MONITOR"}); !on) return on.error();
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t count = 0;
  while (Clock::now() < until && !stopped()) {
    // 1339518083.107412 [0 127.0.0.1:60866] "keys" "*", and [0 lua] for what a script does.
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const auto line = monitor->take(std::min(left, 200ms));
    if (line) {
      if (line->text.find(" lua] ") == std::string::npos) ++count;
    } else if (line.error().code != ErrorCode::timeout) {
      return line.error();
    }
  }
  return count;
}

}  // namespace bench
