// SPDX-License-Identifier: MIT
// What concerns the server as a whole. One function for each line of the report.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "echomq/keyspace.h"
#include "echomq/probe.h"
#include "ops/patient.h"
#include "protocol/version.h"

namespace echomq::inline v2::ops {
namespace {

void examine_version(Patient& patient, const Info& info) {
  const auto valkey = info["valkey_version"];
  const auto version = valkey.empty() ? "Redis " + info["redis_version"] : "Valkey " + valkey;
  const auto needs = server_needs();
  patient.tell("version", Health::good,
               version + "; the scripts need Redis " + needs.front().since + " or later");
}

void examine_persistence(Patient& patient, const Info& info) {
  const bool aof = info["aof_enabled"] == "1";
  for (const auto& [field, what] :
       {std::pair{"aof_last_write_status", "the last write of the append-only file failed"},
        std::pair{"aof_last_bgrewrite_status", "the last rewrite of the append-only file failed"},
        std::pair{"rdb_last_bgsave_status", "the last snapshot failed"}})
    if (info[field] == "err")
      return patient.tell("persistence", Health::bad, what,
                          "read the server's log; often the disk is full or not writable");
  if (aof) {
    const auto fsync = patient.ask({"CONFIG", "GET", "appendfsync"});
    const auto how = fsync && fsync->items.size() == 2 ? fsync->items[1].text : "unknown";
    if (how == "no")
      return patient.tell("persistence", Health::warning, "append-only file, appendfsync no",
                          "a crash of the machine may cost half a minute of acknowledged jobs; set "
                          "appendfsync everysec, or always");
    return patient.tell(
        "persistence", Health::good,
        "append-only file, appendfsync " + how +
            (how == "everysec" ? "; a crash of the machine may cost about a second" : ""));
  }
  const auto save = patient.ask({"CONFIG", "GET", "save"});
  if (!save) return patient.tell_unknown("persistence");
  if (save->items.size() == 2 && !save->items[1].text.empty())
    return patient.tell("persistence", Health::warning, "snapshots only, " + save->items[1].text,
                        "a crash costs what was acknowledged since the last one; set appendonly "
                        "yes");
  patient.tell("persistence", Health::bad, "nothing is written to the disk",
               "a restart costs every job; set appendonly yes");
}

void examine_eviction(Patient& patient, const Info& info) {
  const auto policy = info["maxmemory_policy"];
  if (policy == "noeviction") return patient.tell("eviction", Health::good, policy);
  patient.tell("eviction", Health::bad, "maxmemory-policy is " + policy,
               "the server may drop jobs without a word; set maxmemory-policy noeviction");
}

void examine_memory(Patient& patient, const Info& info) {
  const auto used = info.number("used_memory");
  const auto limit = info.number("maxmemory");
  const auto machine = info.number("total_system_memory");
  const auto most = limit > 0 ? limit : machine;
  auto found = spoken_bytes(used) + " used";
  if (most > 0)
    found += ", " + std::to_string(100 * used / most) + " % of " +
             (limit > 0 ? "maxmemory " : "the machine's ") + spoken_bytes(most);
  if (most > 0 && used > most / 10 * 9)
    return patient.tell("memory", Health::bad, found,
                        "a full server refuses adds; drain or clean queues, keep fewer finished "
                        "jobs, or give it more");
  if (most > 0 && used > most / 4 * 3)
    return patient.tell("memory", Health::warning, found, "look at `emq status` for what grows");
  if (limit == 0)
    return patient.tell("memory", Health::warning, found + "; there is no maxmemory",
                        "set maxmemory below the machine's memory: a server that refuses adds is "
                        "better than one that the system kills");
  patient.tell("memory", Health::good, found);
}

void examine_clients(Patient& patient, const Info& info) {
  const auto clients = info.number("connected_clients");
  const auto most = info.number("maxclients");
  const auto found = std::to_string(clients) + " of " + std::to_string(most) + " connections";
  if (most > 0 && clients > most / 5 * 4)
    return patient.tell("connections", Health::warning, found,
                        "who comes next may be refused; raise maxclients");
  patient.tell("connections", Health::good, found);
}

void examine_replication(Patient& patient, const Info& info) {
  if (info["role"] != "master") {
    return patient.tell("replication", Health::bad,
                        "this is a replica of " + info["master_host"] + ":" + info["master_port"],
                        "it takes no jobs; name the primary in the URL");
  }
  const auto replicas = info.number("connected_slaves");
  std::string lagging;
  for (std::int64_t i = 0; i < replicas; ++i) {
    const auto line = info["slave" + std::to_string(i)];
    const auto lag = line.find("lag=");
    if (line.find("state=online") == std::string::npos ||
        (lag != std::string::npos && to_number<int>(std::string_view(line).substr(lag + 4)) > 5))
      lagging += (lagging.empty() ? "" : "; ") + line;
  }
  if (!lagging.empty())
    return patient.tell("replication", Health::warning, "a replica is behind: " + lagging,
                        "a failover now would lose acknowledged jobs");
  patient.tell("replication", Health::good,
               replicas == 0 ? "a primary without replicas"
                             : "a primary with " + std::to_string(replicas) + " replicas");
}

void examine_cluster(Patient& patient, const Info& info) {
  if (info["cluster_enabled"] != "1") return;
  const auto nodes = patient.ask({"CLUSTER", "INFO"});
  if (!nodes) return patient.tell_unknown("cluster");
  const Info cluster(nodes->text);
  if (cluster["cluster_state"] != "ok")
    return patient.tell("cluster", Health::bad, "cluster_state is " + cluster["cluster_state"],
                        "look at CLUSTER NODES: slots are without a node");
  if (cluster.number("cluster_size") > 1)
    return patient.tell("cluster", Health::bad,
                        std::to_string(cluster.number("cluster_size")) + " nodes own slots",
                        "this version works with one node that owns all slots");
  patient.tell("cluster", Health::good, "one node owns all slots");
}

// Of this machine and the server. Scripts go by the server's, so a difference harms no job.
void examine_clock(Patient& patient) {
  using std::chrono::milliseconds;
  const auto local = [] {
    return std::chrono::duration_cast<milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const auto sent = local();
  const auto time = patient.ask({"TIME"});
  const auto received = local();
  if (!time || time->items.size() != 2) {
    patient.now_ms = received;
    return patient.tell_unknown("clock");
  }
  patient.now_ms = to_number<std::int64_t>(time->items[0].text) * 1'000 +
                   to_number<std::int64_t>(time->items[1].text) / 1'000;
  const auto apart = patient.now_ms - (sent + received) / 2;
  const auto found = std::to_string(apart) + " ms from this machine's";
  if (std::llabs(apart) > 1'000)
    return patient.tell("clock", Health::warning, found,
                        "no job is harmed, since all go by the server's clock; but delays and "
                        "cron times are as wrong as that is: let NTP set both");
  patient.tell("clock", Health::good, found);
}

void examine_latency(Patient& patient) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::int64_t> micros;
  for (int i = 0; i < 20; ++i) {
    const auto begun = Clock::now();
    if (!patient.ask({"PING"})) return patient.tell_unknown("latency");
    micros.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun).count());
  }
  std::sort(micros.begin(), micros.end());
  const auto median = micros[micros.size() / 2];
  const auto found = "a round trip takes " + std::to_string(median) + " us, at most " +
                     std::to_string(micros.back()) + " us of " + std::to_string(micros.size());
  if (median > 20'000)
    return patient.tell("latency", Health::warning, found,
                        "each end of a job and each claim waits for one: run workers nearer to "
                        "the server, with more concurrency");
  if (micros.back() > 200'000)
    return patient.tell("latency", Health::warning, found,
                        "something stops the server: SLOWLOG GET, LATENCY DOCTOR, forks on a busy "
                        "machine");
  patient.tell("latency", Health::good, found);
}

void examine_deployment(Patient& patient) {
  const auto version = patient.ask({"GET", reserve_key(Reserve::version)});
  if (!version) return patient.tell_unknown("wire");
  if (version->is_null()) return patient.tell("wire", Health::good, "no client was here yet");
  if (version->text != kWireVersion)
    return patient.tell("wire", Health::bad, "the deployment is of " + version->text,
                        "this release speaks " + std::string(kWireVersion) +
                            "; use the release that made it, or migrate");
  const auto nodes = patient.ask({"HGETALL", reserve_key(Reserve::nodes)});
  std::int64_t held = 0;
  if (nodes)
    for (std::size_t i = 0; i + 1 < nodes->items.size(); i += 2)
      if (!nodes->items[i + 1].text.ends_with(" -") &&
          to_number<std::int64_t>(nodes->items[i + 1].text) > patient.now_ms)
        ++held;
  const auto found = version->text + ", " + std::to_string(held) + " of 1024 node ids held";
  if (held > 900)
    return patient.tell("wire", Health::warning, found,
                        "each process with a client holds one; the next ones may find none");
  patient.tell("wire", Health::good, found);
}

}  // namespace

std::string spoken_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 10'240 && unit + 1 < kUnits.size()) {
    bytes /= 1'024;
    ++unit;
  }
  return std::to_string(bytes) + " " + kUnits[unit];
}

std::string spoken_time(std::int64_t ms) {
  const auto seconds = ms / 1'000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7'200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172'800) return std::to_string(seconds / 3'600) + " h";
  return std::to_string(seconds / 86'400) + " days";
}

void examine_server(Patient& patient) {
  const auto text = patient.ask({"INFO"});
  examine_clock(patient);
  examine_latency(patient);
  if (!text) {
    for (const auto* const what : {"version", "persistence", "eviction", "memory", "replication"})
      patient.tell(what, Health::unknown, patient.denied(), "allow the doctor's user INFO");
  } else {
    const Info info(text->text);
    examine_version(patient, info);
    examine_persistence(patient, info);
    examine_eviction(patient, info);
    examine_memory(patient, info);
    examine_clients(patient, info);
    examine_replication(patient, info);
    examine_cluster(patient, info);
  }
  examine_deployment(patient);
}

}  // namespace echomq::inline v2::ops
