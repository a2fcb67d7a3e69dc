// SPDX-License-Identifier: MIT
// Looking at a queue from both sides of the fence: one pipeline of plain reads, and what they mean.
#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/number.h"
#include "client/client_core.h"
#include "echomq/fence.h"
#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "fence/versions.h"
#include "protocol/refusal.h"
#include "protocol/registry.h"
#include "protocol/v1_names.h"
#include "protocol/version.h"
#include "queue/ask.h"
#include "queue/queue_keys.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

using wire::Reply;

std::string text_of(const Reply& reply) { return reply.is_null() ? std::string() : reply.text; }

// What a look notes. What is told in words stays in the order in which it was asked for.
class Look {
 public:
  Look(std::shared_ptr<ClientCore> client, std::string queue)
      : client_(std::move(client)), keys_(queue) {
    report_.queue = std::move(queue);
  }

  Result<FenceReport> run() {
    at_v1_names();
    at_own_keys();
    if (auto problem = send()) return *problem;
    decide();
    return std::move(report_);
  }

 private:
  using Read = std::function<void(const Reply&)>;

  void ask(const std::vector<std::string>& words, std::string key, Read read) {
    commands_.push_back(wire::command(words));
    reads_.push_back({std::move(key), std::move(read)});
  }

  void note(const std::string& key, std::string found, std::string words, bool damage = false) {
    report_.findings.push_back({key, std::move(found), std::move(words), damage});
  }

  // Of a key in our place, which says so only where the queue is ours.
  void note_own(const std::string& key, std::string found, std::string words, bool damage) {
    own_findings_.push_back({key, std::move(found), std::move(words), damage});
  }

  // --- the names of v1

  void at_v1_names() {
    for (const auto& [prefix, queue] : v1_names(client_->options().v1_prefixes, report_.queue)) {
      const auto meta = v1_key(prefix, queue, "meta");
      ask({"GET", meta}, meta, [this, meta](const Reply& reply) {
        if (!reply.is_null()) at_tombstone(meta, reply.text);
      });
      ask({"HGET", meta, "version"}, meta, [this, meta](const Reply& reply) {
        if (reply.is_null()) return;
        note(meta, reply.text, "the version of a v1 queue");
        a_v1_queue(meta, reply.text);
      });
      // A migration that was cut short, or done by hand.
      const auto repeat = v1_key(prefix, queue, "repeat");
      ask({"TYPE", repeat}, repeat, [this, meta, repeat](const Reply& reply) {
        if (reply.text == "none" && tombstones_.contains(meta))
          note(repeat, "no tombstone", "a repeated add of v1 writes here before it is refused");
      });
      for (const auto suffix : kV1Suffixes) {
        const auto key = v1_key(prefix, queue, suffix);
        ask({"TYPE", key}, key, [this, key](const Reply& reply) {
          const auto found = v1_found(reply.text);
          if (found.empty()) return;
          note(key, reply.text, "a key of a v1 queue");
          a_v1_queue(key, found);
        });
      }
    }
    const auto journal = migration_key(report_.queue);
    ask({"HGET", journal, "phase"}, journal, [this, journal](const Reply& reply) {
      if (reply.is_null()) return;
      note(journal, reply.text, "how far the migration of the queue is; see emq migrate");
      migration_ = reply.text;
    });
  }

  void at_tombstone(const std::string& meta, const std::string& text) {
    if (text.starts_with("echomq:")) {
      note(meta, text, "a tombstone: a v1 queue was here and has moved");
      if (tombstone_.empty()) tombstone_ = meta;
      tombstones_.insert(meta);
    } else {
      note(meta, text, "a string where v1 has its settings; v1 cannot work with it");
    }
  }

  void a_v1_queue(const std::string& key, const std::string& found) {
    if (!v1_probe_.empty()) return;
    v1_probe_ = key;
    v1_found_ = found;
  }

  // --- our own keys

  void at_own_keys() {
    const auto& q = report_.queue;
    for (const auto structure : kStructures) {
      const auto own = key(q, structure);
      ask({"TYPE", own}, own, [this, structure, own](const Reply& reply) {
        if (structure == Structure::meta) meta_type_ = reply.text;
        if (reply.text == "none" || structure == Structure::meta) return;
        any_key_ = true;
        if (reply.text == redis_type(structure)) return;
        const bool mended = structure == Structure::id || structure == Structure::repeat ||
                            structure == Structure::limiter;
        note_own(own, reply.text,
                 "a value of a foreign type; expected " + std::string(redis_type(structure)),
                 mended);
      });
    }
    ask({"HMGET", keys_.meta, "version", "min_revision", "created", "event_seq", "paused",
         "concurrency", "opts.maxLenEvents", "max", "duration"},
        keys_.meta, [this](const Reply& reply) {
          if (reply.items.size() != 9) return;
          version_ = text_of(reply.items[0]);
          min_revision_ = text_of(reply.items[1]);
          created_ = text_of(reply.items[2]);
          event_seq_ = to_number<std::uint64_t>(text_of(reply.items[3]));
          v1_paused_ = !reply.items[4].is_null();
          look_at_word(reply.items[5]);
          if (std::any_of(reply.items.begin() + 6, reply.items.end(),
                          [](const Reply& field) { return !field.is_null(); }))
            note_own(keys_.meta, "settings of v1", "a v1 client was here; they do no harm", false);
        });
    at_sentinels();
    at_v1_words();
    ask({"XREVRANGE", keys_.events, "+", "-", "COUNT", "1"}, keys_.events,
        [this](const Reply& reply) {
          if (!reply.items.empty() && !reply.items[0].items.empty())
            last_event_ = reply.items[0].items[0].text;
        });
  }

  // A number serves as well as our word, and says that a v1 client was here.
  void look_at_word(const Reply& concurrency) {
    if (concurrency.is_null())
      missing_sentinels_.push_back(keys_.meta);
    else if (concurrency.text != kWireVersion)
      note_own(keys_.meta, concurrency.text, "a concurrency of v1 in the place of a sentinel",
               true);
  }

  void at_sentinels() {
    for (const auto& sentinel : {keys_.id, keys_.repeat})
      ask({"GET", sentinel}, sentinel, [this, sentinel](const Reply& reply) {
        if (reply.is_null())
          missing_sentinels_.push_back(sentinel);
        else if (reply.text != kWireVersion)
          note_own(sentinel, reply.text, "a sentinel that another wire has overwritten", true);
      });
    ask({"ZCOUNT", keys_.active, "+inf", "+inf"}, keys_.active, [this](const Reply& reply) {
      if (wire::number_of(reply) == 0) missing_sentinels_.push_back(keys_.active);
    });
    ask({"ZCOUNT", keys_.delayed, std::string(fence::kTimesOfV1), "(inf"}, keys_.delayed,
        [this](const Reply& reply) {
          if (const auto jobs = wire::number_of(reply); jobs > 0)
            note_own(keys_.delayed, std::to_string(jobs) + (jobs == 1 ? " time" : " times"),
                     "a v1 client has given jobs another delay, in its own unit", true);
        });
  }

  void at_v1_words() {
    for (const auto word : registry::kV1Words) {
      const auto own = v1_word_key(report_.queue, word);
      ask({"TYPE", own}, own, [this, word, own](const Reply& reply) {
        if (reply.text == "none") return;
        if (word == "paused" && reply.text == "list")
          note_own(own, reply.text, "the jobs that stood in wait when a v1 client paused the queue",
                   true);
        else
          note_own(own, reply.text, "a leftover of a v1 client that was refused; it does no harm",
                   false);
      });
    }
  }

  // --- asking

  std::optional<Error> send() {
    const auto replies = ask_all(*client_, std::move(commands_));
    if (!replies) return replies.error();
    for (std::size_t i = 0; i < replies->size(); ++i)
      if (auto problem = take((*replies)[i], reads_[i])) return problem;
    return std::nullopt;
  }

  // A key of another type is told by its TYPE. What an ACL hides of v1 is unknown, and no failure.
  std::optional<Error> take(const Reply& reply, const std::pair<std::string, Read>& read) {
    if (!reply.is_error()) {
      read.second(reply);
      return std::nullopt;
    }
    if (reply.text.starts_with("WRONGTYPE")) return std::nullopt;
    const bool own = read.first.starts_with("emq:{" + report_.queue + "}:");
    if (reply.text.starts_with("NOPERM") && !own) {
      const auto seen = std::any_of(report_.findings.begin(), report_.findings.end(),
                                    [&](const auto& f) { return f.key == read.first; });
      if (!seen) note(read.first, "unknown", "an ACL rule hides it from this user");
      return std::nullopt;
    }
    auto error = protocol::refusal(reply.text, report_.queue, read.first);
    if (is_not_ready(reply.text)) error.code = ErrorCode::loading;
    return error;
  }

  // --- what it means

  void is(FenceState state, std::string found = {}, std::string probe = {}) {
    report_.state = state;
    report_.found = std::move(found);
    report_.probe = std::move(probe);
  }

  void decide() {
    // No v1 client removes the fields that queue/open wrote, so they tell whose queue it was.
    const bool overwritten = (fence::is_v1(version_) || version_ == fence::kDamaged) &&
                             !created_.empty() && !min_revision_.empty();
    if (version_ == kWireVersion || overwritten) look_at_own(overwritten);
    // Its source has all of its keys until the migration is finished.
    if (version_ == fence::kMigrating || (overwritten && is_unfinished()))
      return is(FenceState::being_migrated, version_, keys_.meta);
    if (!v1_probe_.empty()) return is(FenceState::v1, v1_found_, v1_probe_);
    if (meta_type_ == "none") {
      if (any_key_) return is(FenceState::foreign, "keys of the queue without a meta", keys_.meta);
      if (!tombstone_.empty())
        return is(FenceState::migrated_away, std::string(kWireVersion), tombstone_);
      return is(FenceState::fresh);
    }
    if (meta_type_ != "hash")
      return is(FenceState::foreign, "a meta key of another type", keys_.meta);
    if (is_too_new()) return is(FenceState::newer, "revision " + min_revision_, keys_.meta);
    if (report_.repairable) return decide_damaged();
    if (version_ == kWireVersion) return is(FenceState::v2, version_, keys_.meta);
    if (fence::is_v1(version_)) return is(FenceState::v1, version_, keys_.meta);
    if (fence::is_later(version_)) return is(FenceState::newer, version_, keys_.meta);
    is(FenceState::foreign, version_.empty() ? "nothing" : version_, keys_.meta);
  }

  [[nodiscard]] bool is_unfinished() const {
    return !migration_.empty() && migration_ != fence::kMigrationFinished;
  }

  [[nodiscard]] bool is_too_new() const {
    return version_ == kWireVersion && to_number<int>(min_revision_) > scripts::kRevision;
  }

  void decide_damaged() {
    const auto& all = report_.findings;
    const auto first = std::find_if(all.begin(), all.end(), [](const auto& f) { return f.damage; });
    is(FenceState::damaged, first->found, first->key);
  }

  void look_at_own(bool overwritten) {
    if (overwritten)
      note(keys_.meta, version_,
           version_ == fence::kDamaged
               ? "a v1 client wrote events, behind which the server refused one of ours"
               : "the version, overwritten by a v1 client when it was constructed",
           true);
    if (v1_paused_)
      note(keys_.meta, "a queue that v1 has paused", "a v1 client has paused the queue", true);
    for (auto& finding : own_findings_) report_.findings.push_back(std::move(finding));
    for (const auto& sentinel : missing_sentinels_)
      note(sentinel, "no sentinel",
           "a v1 client can go further than it may; an opening puts it back", true);
    if (!last_event_.empty() && is_foreign_event())
      note(keys_.events, last_event_,
           "an event that a v1 client wrote; the server refuses ours behind it", true);
    const auto& all = report_.findings;
    report_.repairable =
        !is_too_new() && !is_unfinished() &&
        std::any_of(all.begin(), all.end(), [](const auto& f) { return f.damage; });
  }

  // Ours are <n>-0, n up to event_seq.
  [[nodiscard]] bool is_foreign_event() const {
    const auto dash = last_event_.find('-');
    return to_number<std::uint64_t>(last_event_.substr(0, dash)) > event_seq_ ||
           last_event_.substr(std::min(dash, last_event_.size())) != "-0";
  }

  std::shared_ptr<ClientCore> client_;
  QueueKeys keys_;
  FenceReport report_;
  std::vector<std::string> commands_;
  std::vector<std::pair<std::string, Read>> reads_;

  std::vector<FenceFinding> own_findings_;
  std::string v1_probe_, v1_found_, tombstone_, migration_;
  std::set<std::string> tombstones_;
  bool any_key_ = false;
  bool v1_paused_ = false;
  std::string meta_type_, version_, min_revision_, created_, last_event_;
  std::uint64_t event_seq_ = 0;
  std::vector<std::string> missing_sentinels_;
};

}  // namespace

Result<FenceReport> inspect_fence(Client& client, std::string_view queue) {
  auto bare = queue_name(queue);
  if (!bare) return bare.error();
  return Look(client.core(), *std::move(bare)).run();
}

}  // namespace echomq::inline v2
