// SPDX-License-Identifier: MIT
#include "migrate/session.h"

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <utility>

#include "base/bad_option.h"
#include "base/text.h"
#include "migrate/v1_fence.h"
#include "migrate/walk.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

Result<std::vector<MigratedQueue>> checked_queues(const std::vector<MigratedQueue>& given) {
  std::vector<MigratedQueue> queues;
  std::set<std::string> targets;
  std::set<std::string> sources;
  for (const auto& queue : given) {
    if (queue.from.empty() || queue.from.find(':') != std::string::npos)
      return bad_option("queues", v2::quoted(queue.from), "the name of a v1 queue, without \":\"");
    auto to = queue_name(queue.to.empty() ? queue.from : queue.to);
    if (!to) return to.error();
    if (!targets.insert(*to).second || !sources.insert(queue.from).second)
      return bad_option("queues", v2::quoted(queue.from), "each queue once, to a queue of its own");
    queues.push_back({queue.from, *std::move(to)});
  }
  if (queues.empty()) return bad_option("queues", "empty", "the queues to migrate");
  return queues;
}

}  // namespace

Error wrong_phase(const MovingQueue& queue, const std::string& what) {
  return {ErrorCode::wrong_state,
          "queue \"" + queue.names.from + "\" " + what,
          {{"queue", queue.names.from}, {"phase", std::string(name(queue.journal.phase))}}};
}

Result<std::unique_ptr<MigrationSession>> MigrationSession::open(const Client& target,
                                                                 const MigrationOptions& options) {
  auto checked = options;
  auto queues = checked_queues(options.queues);
  if (!queues) return queues.error();
  checked.queues = *std::move(queues);
  if (options.prefix.empty()) return bad_option("prefix", "empty", "the prefix of the v1 keys");
  if (options.rate < 0)
    return bad_option("rate", std::to_string(options.rate), "0 (no limit) or more");
  if (options.drain_timeout < std::chrono::milliseconds(0))
    return bad_option("drain_timeout", std::to_string(options.drain_timeout.count()),
                      "0 milliseconds or more");
  if (options.watch < std::chrono::milliseconds(0))
    return bad_option("watch", std::to_string(options.watch.count()), "0 milliseconds or more");
  std::unique_ptr<MigrationSession> session(
      new MigrationSession(target.core(), std::move(checked)));
  auto to = Link::open(target.core(), {}, {});
  if (!to) return to.error();
  session->target_ = *std::move(to);
  auto from = Link::open(target.core(), options.source_url, options.source_tls);
  if (!from) return from.error();
  session->source_ = *std::move(from);
  for (const auto& queue : session->options_.queues) {
    MovingQueue moving{queue, V1Keys(options.prefix, queue.from), QueueKeys(queue.to)};
    auto journal = read_journal(*session->target_, queue);
    if (!journal) return journal.error();
    moving.journal = *std::move(journal);
    if (moving.journal.phase != MigrationPhase::none &&
        (moving.journal.source != session->place() || moving.journal.from != queue.from))
      return wrong_phase(moving, "is to go to \"" + queue.to + "\", where \"" +
                                     moving.journal.from + "\" of " + moving.journal.source +
                                     " goes already");
    if (moving.journal.phase == MigrationPhase::finished) {
      const auto anew = stands_open(*session->source_, moving.v1);
      if (!anew) return anew.error();
      if (*anew) moving.journal = {};
    }
    session->queues_.push_back(std::move(moving));
  }
  return session;
}

Result<MigrationCounts> MigrationSession::counts(MovingQueue& queue) {
  MigrationCounts counts{.queue = queue.names.from};
  const auto& v1 = queue.v1;
  const auto type = source_->ask({"TYPE", v1("meta")});
  if (!type) return type.error();
  // Once the tombstones stand, what they stand for is beside them.
  const bool fenced = type->text == "string";
  const auto meta = source_->ask({"HMGET", v1(fenced ? kKeptMeta : "meta"), "version", "paused"});
  if (!meta) return meta.error();
  counts.version = meta->items[0].text;
  counts.paused = !meta->items[1].is_null();
  Commands commands;
  wire::append_command(commands.emplace_back(), {"LLEN", v1("wait")});
  wire::append_command(commands.emplace_back(), {"LLEN", v1("paused")});
  wire::append_command(commands.emplace_back(), {"LLEN", v1("active")});
  for (const auto set : {std::string_view("prioritized"), std::string_view("delayed"),
                         std::string_view("waiting-children"), std::string_view("completed"),
                         std::string_view("failed"), fenced ? kKeptRepeat : "repeat"})
    wire::append_command(commands.emplace_back(), {"ZCARD", v1(set)});
  const auto replies = source_->ask_all(std::move(commands));
  if (!replies) return replies.error();
  const auto number = [&replies](std::size_t i) { return (*replies)[i].integer; };
  counts.waiting = number(0) + number(1);
  counts.active = number(2);
  counts.prioritized = number(3);
  counts.delayed = number(4);
  counts.waiting_children = number(5);
  counts.completed = number(6);
  counts.failed = number(7);
  counts.schedulers = number(8);
  return counts;
}

Result<std::int64_t> MigrationSession::count_source() {
  std::int64_t total = 0;
  for (auto& queue : queues_) {
    const auto of = counts(queue);
    if (!of) return of.error();
    total += of->jobs();
  }
  return total;
}

Result<Fields> MigrationSession::settings(MovingQueue& queue) {
  const auto& v1 = queue.v1;
  Commands commands;
  wire::append_command(commands.emplace_back(), {"HGETALL", v1(kKeptMeta)});
  wire::append_command(commands.emplace_back(), {"ZCARD", v1("prioritized")});
  wire::append_command(commands.emplace_back(), {"LLEN", v1("metrics:completed:data")});
  wire::append_command(commands.emplace_back(), {"LLEN", v1("metrics:failed:data")});
  const auto replies = source_->ask_all(std::move(commands));
  if (!replies) return replies.error();
  return map_settings({.meta = read_hash((*replies)[0]),
                       .paused = queue.journal.was_paused,
                       .prioritized = (*replies)[1].integer,
                       .metrics_points = std::max((*replies)[2].integer, (*replies)[3].integer)});
}

Result<void> MigrationSession::enter(MovingQueue& queue, MigrationPhase phase) {
  if (auto noted = note_phase(*target_, queue.names, phase); !noted) return noted;
  queue.journal.phase = phase;
  return step(queue, name(phase), 0);
}

Result<void> MigrationSession::step(const MovingQueue& queue, std::string_view word,
                                    std::int64_t jobs) {
  done_ += jobs;
  if (options_.on_progress && !options_.on_progress({.queue = queue.names.to,
                                                     .step = std::string(word),
                                                     .done = done_,
                                                     .total = std::max(total_, done_)}))
    return Error{ErrorCode::closed, "stopped; the same call goes on", {}};
  if (options_.rate > 0 && jobs > 0) {
    const auto due = began_ + std::chrono::microseconds(done_ * 1'000'000 / options_.rate);
    std::this_thread::sleep_until(due);
  }
  return {};
}

OnChunk MigrationSession::stepper(const MovingQueue& queue) {
  return
      [this, &queue](std::string_view word, std::int64_t jobs) { return step(queue, word, jobs); };
}

}  // namespace echomq::inline v2::migrate
