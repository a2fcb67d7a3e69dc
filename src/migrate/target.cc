// SPDX-License-Identifier: MIT
#include "migrate/target.h"

#include <utility>

#include "echomq_scripts.h"
#include "protocol/registry.h"
#include "protocol/v1_names.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {
namespace {

std::string_view kind_of(const Stage& stage) { return stage.list ? "list" : "zset"; }

Result<void> append(Link& target, const std::string& queue, const Part& part) {
  const auto meta = key(queue, Structure::meta);
  auto call = ScriptCall::of<scripts::MigrateAppend>(
      scripts::MigrateAppend::Keys{.meta = meta, .target = part.key},
      {.revision = scripts::kRevision,
       .type = part.type,
       .replace = part.first,
       .count = part.entries.size()});
  for (const auto& [entry, value] : part.entries)
    call.put_args(scripts::MigrateAppend::ItemArgs{.name = entry, .value = value});
  const auto reply = target.call(std::move(call), queue, meta);
  if (!reply) return reply.error();
  return {};
}

}  // namespace

Result<std::string> target_version(Link& target, const QueueKeys& keys) {
  const auto reply = target.ask({"HGET", keys.meta, "version"});
  if (!reply) return reply.error();
  return reply->text;
}

Result<bool> target_exists(Link& target, const std::string& queue) {
  std::vector<std::string> words{"EXISTS"};
  for (const auto structure : kStructures) words.push_back(key(queue, structure));
  const auto reply = target.ask(words);
  if (!reply) return reply.error();
  return reply->integer > 0;
}

Result<void> open_target(Link& target, const std::string& queue, std::int64_t now_ms) {
  const QueueKeys keys(queue);
  const auto text = packed({});
  const auto made =
      target.call(ScriptCall::of<scripts::MigrateOpen>(
                      keys, {.revision = scripts::kRevision, .now = now_ms, .settings = text}),
                  queue, keys.meta);
  if (!made) return made.error();
  return {};
}

Result<void> set_target(Link& target, const std::string& queue, const Fields& settings) {
  const auto meta = key(queue, Structure::meta);
  return append(target, queue, {.key = meta, .type = "hash", .first = false, .entries = settings});
}

Result<bool> reclaim_target(Link& target, const std::string& queue, std::int64_t now_ms) {
  const QueueKeys keys(queue);
  const auto reply = target.ask({"HMGET", keys.meta, "version", "paused", "cursor"});
  if (!reply) return reply.error();
  if (reply->items.size() != 3) return Error{ErrorCode::protocol, "an odd answer to HMGET", {}};
  const auto& version = reply->items[0].text;
  const bool paused = version == kMigrating && !reply->items[1].is_null();
  if (reply->items[2].is_null() || (!fence::is_v1(version) && !paused)) return false;
  if (auto marked = open_target(target, queue, now_ms); !marked) return marked.error();
  return true;
}

Result<std::string> target_cursor(Link& target, const QueueKeys& keys) {
  const auto reply = target.ask({"HGET", keys.meta, "cursor"});
  if (!reply) return reply.error();
  return reply->text;
}

Result<void> close_target(Link& target, const std::string& queue, std::string_view how) {
  const QueueKeys keys(queue);
  const auto done = target.call(
      ScriptCall::of<scripts::MigrateClose>(keys, {.revision = scripts::kRevision, .how = how}),
      queue, keys.meta);
  if (!done) return done.error();
  return {};
}

Result<void> take_target_away(Link& target, const std::string& queue, const OnChunk& on_chunk) {
  const QueueKeys keys(queue);
  const auto version = target_version(target, keys);
  if (!version) return version.error();
  if (*version != kAborting) return {};
  const auto add_job = [&queue](std::vector<std::string>& all, const std::string& id) {
    all.push_back(job_key(queue, id));
    for (const auto sub : kSubs) all.push_back(job_key(queue, id, sub));
  };
  for (const auto& stage : kStages)
    if (auto gone = delete_listed(target, key(queue, stage.place), stage.list, add_job, on_chunk);
        !gone)
      return gone;
  // A v1 client that names the target so may have paused it.
  const auto v1_paused = v1_word_key(queue, "paused");
  const auto type = target.ask({"TYPE", v1_paused});
  if (!type) return type.error();
  if (type->text == "list")
    if (auto gone = delete_listed(target, v1_paused, /*list=*/true, add_job, on_chunk); !gone)
      return gone;
  const auto add_scheduler = [&queue](std::vector<std::string>& all, const std::string& id) {
    all.push_back(scheduler_key(queue, id));
  };
  if (auto gone = delete_listed(target, keys.schedules, /*list=*/false, add_scheduler, {}); !gone)
    return gone;
  std::vector<std::string> words{"UNLINK"};
  for (const auto structure : kStructures)
    if (structure != Structure::meta) words.push_back(key(queue, structure));
  for (const auto* const what : {"completed", "failed"})
    words.push_back(named_key(queue, "metrics", what));
  for (const auto word : registry::kV1Words) words.push_back(v1_word_key(queue, word));
  if (const auto done = target.ask(words); !done) return done.error();
  if (const auto done = target.ask({"UNLINK", keys.meta}); !done) return done.error();
  return {};
}

Result<void> Copy::take(const Chunk& chunk) {
  const auto place = key(queue_, chunk.stage->place);
  const auto to = chunk.to.text();
  ScriptCall call = ScriptCall::of<scripts::MigratePut>(
      scripts::MigratePut::Keys{.meta = keys_.meta, .place = place},
      {.revision = scripts::kRevision,
       .from = stored_,
       .to = to,
       .kind = kind_of(*chunk.stage),
       .count = chunk.jobs.size()});
  for (const auto& job : chunk.jobs) {
    const auto hash = job_key(queue_, job.id);
    const auto fields = packed(job.fields);
    call.put_keys(scripts::MigratePut::ItemKeys{.job = hash});
    call.put_args(
        scripts::MigratePut::ItemArgs{.id = job.id, .score = job.score, .fields = fields});
  }
  const auto reply = target_.call(std::move(call), queue_, keys_.meta);
  if (!reply) return reply.error();
  if (reply->text == "moved")
    return Error{ErrorCode::wrong_state,
                 "the copy of queue \"" + queue_ +
                     "\" is somewhere else than this process left it: another one is at work",
                 {{"queue", queue_}}};
  stored_ = to;
  for (std::size_t i = 0; i < chunk.jobs.size(); ++i) {
    const auto& job = chunk.jobs[i];
    if (wire::status_of(*reply, i, "ok") == "dup") {
      tell_(job.v1_id, true, "another job has become " + job.id + " already");
      continue;
    }
    ++moved_;
    if (job.id != job.v1_id) {
      ++renamed_;
      tell_(job.v1_id, false, "is called " + job.id + " from now on");
    }
  }
  return on_chunk_(chunk.stage->v1, static_cast<std::int64_t>(chunk.jobs.size()));
}

Result<void> Copy::take(const Part& part) {
  if (auto appended = append(target_, queue_, part); !appended) return appended;
  return on_chunk_(part.job.empty() ? "settings" : "logs and children", 0);
}

}  // namespace echomq::inline v2::migrate
