// SPDX-License-Identifier: MIT
// emq keys: where a queue's data stands on the server, in the v1 wire and in this one. For those
// who migrate, or look at a server with its own tools. Nothing is asked of a server.
//
// The slots show what the change was for: in v1 the keys of one queue are strewn over the cluster,
// now they are together.
#include <array>
#include <memory>
#include <optional>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Structure;
using echomq::Sub;

// One name in both wires; nothing where a wire has no such key.
struct Pair {
  std::string_view v1;
  std::string_view v1_type;
  std::optional<Structure> v2{};
  std::string_view note{};
};

constexpr std::array kPairs{
    Pair{"meta", "hash", Structure::meta, "version, pause, limits"},
    Pair{"id", "string", Structure::id, "was the id counter; now stops v1 clients"},
    Pair{"wait", "list", Structure::wait, "ready, of priority 0"},
    Pair{"paused", "list", {}, "now a flag in meta; the jobs stay in wait"},
    Pair{"prioritized", "zset", Structure::prioritized, "ready, with a priority"},
    Pair{"pc", "string", {}, "now in meta"},
    Pair{"active", "list", Structure::active, "now id -> lease"},
    Pair{"stalled", "set", {}, "now the leases in active"},
    Pair{"stalled-check", "string", {}, "now the leases in active"},
    Pair{"delayed", "zset", Structure::delayed, "id -> due"},
    Pair{"completed", "zset", Structure::completed, "id -> finished"},
    Pair{"failed", "zset", Structure::failed, "id -> finished"},
    Pair{"waiting-children", "zset", Structure::waiting_children, "id -> since"},
    Pair{"marker", "zset", Structure::marker, "what idle workers wait on"},
    Pair{"events", "stream", Structure::events, ""},
    Pair{"limiter", "string", Structure::limiter, "rate limit"},
    Pair{"repeat", "zset", Structure::repeat, "was the schedules; now stops v1 clients"},
    Pair{"", "", Structure::schedules, "scheduler -> next tick; each has schedule:<id> beside it"},
    Pair{"", "", Structure::crashed, "ready again after a crash, run one by one"},
    Pair{"", "", Structure::ghosts, "how many entries of wait are empty"},
    Pair{"", "", Structure::producers, "makes a repeated add harmless"},
    Pair{"", "", Structure::outbox, "messages to other slots"},
    Pair{"", "", Structure::trash, "jobs whose own keys are to be deleted"},
    Pair{"", "", Structure::subkeys, "jobs that have such keys"},
    Pair{"", "", Structure::de, "deduplication, was a key for each id"},
    Pair{"", "", Structure::de_due, "its expiry"},
    Pair{"", "", Structure::de_next, "the adds that wait for the end of an owner"},
};

// The keys of one job: what follows its id.
struct SubPair {
  std::string_view v1;
  std::string_view type;
  std::optional<Sub> v2{};
  std::string_view note{};
};

constexpr std::array kSubPairs{
    SubPair{"logs", "list", Sub::logs, "lines that handlers wrote"},
    SubPair{"dependencies", "set", Sub::dependencies, "children not finished"},
    SubPair{"processed", "hash", Sub::processed, "child -> result"},
    SubPair{"failed", "hash", Sub::failed, "child -> reason, tolerated"},
    SubPair{"unsuccessful", "zset", Sub::unsuccessful, "child -> when it failed"},
    SubPair{"lock", "string", {}, "now the lease in the queue's active"},
    SubPair{"", "hash", Sub::checkpoint, "what a handler saved"},
};

struct Side {
  std::string key{};  // empty: this wire has none
  std::string type{};
};

class Listing {
 public:
  void add(const Side& v1, const Side& v2, std::string_view note) {
    Json row;
    std::vector<std::string> cells;
    for (const auto& [wire, side] : {std::pair{"v1", &v1}, std::pair{"v2", &v2}}) {
      if (side->key.empty()) {
        row[wire] = nullptr;
        cells.insert(cells.end(), {"-", "", ""});
        continue;
      }
      const auto slot = echomq::slot(side->key);
      row[wire] = {{"key", side->key}, {"type", side->type}, {"slot", slot}};
      cells.insert(cells.end(), {side->key, side->type, std::to_string(slot)});
    }
    row["note"] = note;
    cells.emplace_back(note);
    rows_.push_back(std::move(row));
    table_.add(std::move(cells));
  }

  void print(const std::string& queue, bool json) const {
    if (json)
      print_json({{"queue", queue}, {"keys", rows_}});
    else
      table_.print();
  }

 private:
  Json rows_ = Json::array();
  Table table_{
      {{"v1 key"}, {"type"}, {"slot", true}, {"v2 key"}, {"type"}, {"slot", true}, {"note"}}};
};

struct KeysOptions {
  std::string queue;
  std::optional<std::string> id;
  std::string v1_prefix = "emq";
};

void list_structures(Listing& listing, const std::string& queue, const std::string& prefix) {
  for (const auto& pair : kPairs) {
    Side v1;
    Side v2;
    if (!pair.v1.empty()) v1 = {echomq::v1_key(prefix, queue, pair.v1), std::string(pair.v1_type)};
    if (pair.v2) v2 = {echomq::key(queue, *pair.v2), std::string(echomq::redis_type(*pair.v2))};
    listing.add(v1, v2, pair.note);
  }
}

void list_job(Listing& listing, const std::string& queue, const std::string& prefix,
              const std::string& id) {
  listing.add({echomq::v1_key(prefix, queue, id), "hash"}, {echomq::job_key(queue, id), "hash"},
              "the job");
  for (const auto& pair : kSubPairs) {
    const std::string type(pair.type);
    Side v1;
    Side v2;
    if (!pair.v1.empty())
      v1 = {echomq::v1_key(prefix, queue, id + ":" + std::string(pair.v1)), type};
    if (pair.v2) v2 = {echomq::job_key(queue, id, *pair.v2), type};
    listing.add(v1, v2, pair.note);
  }
}

Exit keys(const KeysOptions& options, const Session& session) {
  const auto queue = echomq::queue_name(options.queue);
  if (!queue) return session.fail(queue.error());
  Listing listing;
  if (!options.id) {
    list_structures(listing, *queue, options.v1_prefix);
  } else {
    const auto id = echomq::is_branded_id(*options.id) ? echomq::unbrand_id(*options.id)
                                                       : echomq::Result<std::string>(*options.id);
    if (!id) return session.fail(id.error());
    if (const auto fits = echomq::check_any_job_id(*id); !fits) return session.fail(fits.error());
    list_job(listing, *queue, options.v1_prefix, *id);
  }
  listing.print(*queue, session.json);
  return Exit::ok;
}

}  // namespace

void declare_keys(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "keys",
      "List the keys of a queue, or of one job, in the v1 wire and in this one, with their "
      "cluster slots; no server is asked",
      "  emq keys mail\n"
      "  emq keys mail 274557032793636864\n"
      "  emq keys mail --v1-prefix bull --json\n");
  auto options = std::make_shared<KeysOptions>();
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_option("ID", options->id, "A job: its keys instead of the queue's");
  verb->add_option("--v1-prefix", options->v1_prefix, "Prefix of the v1 keys")
      ->type_name("PREFIX")
      ->capture_default_str();
  session.declare_json(
      *verb,
      "Print {\"queue\",\"keys\":[{\"v1\":{\"key\",\"type\",\"slot\"},\"v2\":{..},\"note\"}]}; "
      "null where a wire has none");
  verb->callback([options, &session] {
    session.run = [options, &session] { return keys(*options, session); };
  });
}

}  // namespace emq
