// SPDX-License-Identifier: MIT
#include "queue/moves.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/bad_option.h"
#include "echomq_scripts.h"
#include "queue/ask.h"
#include "queue/deduplication.h"
#include "queue/locate.h"
#include "queue/relay.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

// A waiting job that is found by its place is looked for so often, while the line moves.
constexpr int kLooks = 5;
// Items whose place is known: each lets the script read the entries around it.
constexpr std::size_t kPlacedBatch = 16;
// Deleting costs more than moving.
constexpr std::size_t kRemoveBatch = 128;
// So near the front of the line the script looks by itself.
constexpr std::int64_t kNearFront = 256;

using PlacedBatch = std::function<Result<Statuses>(const Ids&, const Places&)>;

Statuses statuses_of(const wire::Reply& reply) {
  Statuses all;
  for (const auto& item : reply.items) all.push_back(item.text);
  return all;
}

Result<Statuses> answer_of(Result<wire::Reply> reply, std::size_t count, std::string_view script) {
  if (!reply) return reply.error();
  auto statuses = statuses_of(*reply);
  if (statuses.size() == count) return statuses;
  return Error{ErrorCode::protocol,
               std::string(script) + " answered " + std::to_string(statuses.size()) +
                   " statuses for " + std::to_string(count) + " jobs",
               {}};
}

// What is left to do when jobs were removed.
struct Aftermath {
  std::vector<OwnedId> kept;  // adds that were kept for their end
  std::vector<EndMessage> messages;
};

void take_messages(const wire::Reply& pairs, std::vector<EndMessage>& out) {
  auto messages = read_messages(pairs);
  std::move(messages.begin(), messages.end(), std::back_inserter(out));
}

Result<Statuses> remove_placed(QueueCore& queue, const Ids& ids, const RemoveFrom& from,
                               const Places& places, Aftermath& after) {
  using Transition = scripts::JobRemove;
  const auto before = from.before_ms ? std::to_string(*from.before_ms) : std::string();
  const auto now = queue.client()->now_ms();
  auto call = ScriptCall::of<Transition>(
      queue.keys(), {.revision = scripts::kRevision,
                     .now = now,
                     .count = ids.size(),
                     .from = from.state ? name(*from.state) : std::string_view(),
                     .before = before,
                     .told = from.untold != nullptr ? now + kUntold.count() : now,
                     .of = from.parent});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const SubKeys sub(queue.name(), ids[i]);
    call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), ids[i]),
                                       .logs = sub.logs,
                                       .dependencies = sub.dependencies,
                                       .processed = sub.processed,
                                       .failed_children = sub.failed,
                                       .unsuccessful = sub.unsuccessful,
                                       .checkpoint = sub.checkpoint});
    call.put_args(Transition::ItemArgs{.id = ids[i], .seen = places[i]});
  }
  auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  if (reply->items.size() >= 2) {
    const auto& told = reply->items[1].items;
    for (std::size_t i = 0; i + 2 < told.size(); i += 3)
      after.kept.push_back({told[i].text, told[i + 1].text, told[i + 2].text});
    if (reply->items.size() > 2) take_messages(reply->items[2], after.messages);
    reply = wire::Reply(std::move(reply->items[0]));
  }
  return answer_of(std::move(reply), ids.size(), Transition::script.name);
}

Result<Statuses> prioritize_placed(QueueCore& queue, const Ids& ids, unsigned priority,
                                   const Places& places) {
  using Transition = scripts::JobPrioritize;
  auto call = ScriptCall::of<Transition>(
      queue.keys(),
      {.revision = scripts::kRevision, .now = queue.client()->now_ms(), .count = ids.size()});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), ids[i])});
    call.put_args(Transition::ItemArgs{.id = ids[i], .priority = priority, .seen = places[i]});
  }
  return answer_of(ask(queue, std::move(call)), ids.size(), Transition::script.name);
}

template <class List>
List slice(const List& all, std::size_t from, std::size_t most) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(most, all.size() - from))};
}

// What is done with a job that is in no line, however often it was looked for, though it waits.
enum class Lost { is_told, goes };

// A job that went as one in no line and had moved behind each look: its entry goes too.
Result<void> drop_entries(QueueCore& queue, const Ids& ids, const PlacedBatch& batch) {
  if (ids.empty()) return {};
  const auto found = locate(queue, ids);
  if (!found) return found.error();
  for (const auto& [id, place] : *found)
    if (const auto dropped = batch({id}, {place}); !dropped) return dropped.error();
  return {};
}

// Those that stand deep in the line are found first, then said again with their places. One that
// was not found by the last look is told `lost`, unless it goes.
Result<Statuses> with_places(QueueCore& queue, const Ids& ids, const PlacedBatch& batch,
                             const Places& seen = {}, Lost lost = Lost::is_told) {
  auto statuses = batch(ids, seen.empty() ? Places(ids.size(), -1) : seen);
  if (!statuses) return statuses;
  Ids gone;
  for (int look = 0; look < kLooks; ++look) {
    const bool is_last = look == kLooks - 1;
    const auto unseen = is_last && lost == Lost::goes ? kInNoLine : -1;
    std::vector<std::size_t> again;  // indices of ids
    Ids moved;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if ((*statuses)[i] != "moved") continue;
      again.push_back(i);
      moved.push_back(ids[i]);
    }
    if (moved.empty()) break;
    const auto found = locate(queue, moved);
    if (!found) return found.error();
    for (std::size_t from = 0; from < moved.size(); from += kPlacedBatch) {
      const auto chunk = slice(moved, from, kPlacedBatch);
      Places places;
      for (const auto& id : chunk) {
        const auto at = found->find(id);
        places.push_back(at == found->end() ? unseen : at->second);
      }
      const auto answered = batch(chunk, places);
      if (!answered) return answered.error();
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        auto& status = (*statuses)[again[from + i]];
        status = (*answered)[i];
        if (places[i] == kInNoLine && status == "ok") gone.push_back(chunk[i]);
        if (is_last && places[i] < 0 && status == "moved") status = kLost;
      }
    }
  }
  if (const auto dropped = drop_entries(queue, gone, batch); !dropped) return dropped.error();
  return statuses;
}

// Checks all ids, then does one batch after the other.
Result<JobResults> in_batches(QueueCore& queue, const Ids& ids, std::string_view unfit,
                              const std::function<Result<Statuses>(const Ids&)>& batch) {
  if (queue.name_error()) return *queue.name_error();
  for (const auto& id : ids)
    if (auto ok = check_any_job_id(id); !ok) return ok.error();
  JobResults results;
  for (std::size_t from = 0; from < ids.size(); from += kMaxBatchJobs) {
    const auto chunk = slice(ids, from, kMaxBatchJobs);
    const auto statuses = batch(chunk);
    if (!statuses) return statuses.error();
    for (std::size_t i = 0; i < chunk.size(); ++i)
      results.push_back(move_result((*statuses)[i], queue.name(), chunk[i], unfit));
  }
  return results;
}

}  // namespace

Result<Statuses> reschedule_batch(QueueCore& queue, const Ids& ids, milliseconds delay) {
  using Transition = scripts::JobReschedule;
  auto call = ScriptCall::of<Transition>(
      queue.keys(),
      {.revision = scripts::kRevision, .now = queue.client()->now_ms(), .count = ids.size()});
  for (const auto& id : ids) {
    call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), id)});
    call.put_args(Transition::ItemArgs{.id = id, .delay = delay.count()});
  }
  return answer_of(ask(queue, std::move(call)), ids.size(), Transition::script.name);
}

Result<Statuses> retry_batch(QueueCore& queue, const Ids& ids, RetryFrom from,
                             const RetryOptions& how) {
  using Transition = scripts::JobRetryFinished;
  auto call = ScriptCall::of<Transition>(queue.keys(), {.revision = scripts::kRevision,
                                                        .now = queue.client()->now_ms(),
                                                        .count = ids.size(),
                                                        .take_completed = from.completed,
                                                        .take_failed = from.failed,
                                                        .reset_attempts = how.reset_attempts});
  for (const auto& id : ids) {
    call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), id)});
    call.put_args(Transition::ItemArgs{.id = id});
  }
  auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  std::vector<EndMessage> messages;
  const bool has_parts = !reply->items.empty() && reply->items[0].kind == wire::Reply::Kind::array;
  if (has_parts) {
    if (reply->items.size() > 1) take_messages(reply->items[1], messages);
    reply = wire::Reply(std::move(reply->items[0]));
  }
  // What is not told now a sweep tells.
  if (const auto told = deliver(queue, std::move(messages)); !told) return told.error();
  return answer_of(std::move(reply), ids.size(), Transition::script.name);
}

Result<Statuses> remove_batch(QueueCore& queue, const Ids& ids, const RemoveFrom& from,
                              const Places& places) {
  const auto is_deep = [](std::int64_t place) { return place >= kNearFront; };
  const bool deep = std::any_of(places.begin(), places.end(), is_deep);
  const auto most = deep ? kPlacedBatch : kRemoveBatch;
  const bool says_places = deep || (!places.empty() && places.front() == kInNoLine);
  const bool any_state = !from.state && !from.before_ms;
  Statuses all;
  Aftermath after;
  for (std::size_t at = 0; at < ids.size(); at += most) {
    const auto chunk = slice(ids, at, most);
    const auto seen = says_places ? slice(places, at, most) : Places();
    auto statuses = with_places(
        queue, chunk,
        [&](const Ids& some, const Places& where) {
          return remove_placed(queue, some, from, where, after);
        },
        seen, any_state ? Lost::goes : Lost::is_told);
    if (!statuses) return statuses;
    std::move(statuses->begin(), statuses->end(), std::back_inserter(all));
  }
  if (from.untold != nullptr)
    std::move(after.messages.begin(), after.messages.end(), std::back_inserter(*from.untold));
  // What is not told now a sweep tells.
  else if (const auto told = deliver(queue, std::move(after.messages)); !told)
    return told.error();
  if (!from.add_kept || after.kept.empty()) return all;
  const auto end = end_owned(queue, after.kept);
  if (!end) return end.error();
  return all;
}

Result<JobResults> reschedule_jobs(QueueCore& queue, const Ids& ids, milliseconds delay) {
  if (delay < milliseconds(0) || delay > kMaxDelay)
    return bad_option("delay", std::to_string(delay.count()),
                      "0 to " + std::to_string(kMaxDelay.count()) + " ms (ten years)");
  return in_batches(queue, ids, "is not delayed",
                    [&](const Ids& chunk) { return reschedule_batch(queue, chunk, delay); });
}

Result<JobResults> prioritize_jobs(QueueCore& queue, const Ids& ids, unsigned priority) {
  if (priority > kMaxPriority)
    return bad_option("priority", std::to_string(priority), "0 to " + std::to_string(kMaxPriority));
  return in_batches(queue, ids, "is finished: its priority has no meaning any more",
                    [&](const Ids& chunk) {
                      return with_places(queue, chunk, [&](const Ids& some, const Places& places) {
                        return prioritize_placed(queue, some, priority, places);
                      });
                    });
}

Result<JobResults> retry_jobs(QueueCore& queue, const Ids& ids, const RetryOptions& how) {
  return in_batches(queue, ids, "is neither completed nor failed",
                    [&](const Ids& chunk) { return retry_batch(queue, chunk, {}, how); });
}

Result<JobResults> remove_jobs(QueueCore& queue, const Ids& ids) {
  return in_batches(queue, ids, "", [&](const Ids& chunk) { return remove_batch(queue, chunk); });
}

Result<void> update_data(QueueCore& queue, std::string_view id, std::optional<std::uint64_t> token,
                         const std::string& data) {
  using Transition = scripts::JobUpdate;
  if (queue.name_error()) return *queue.name_error();
  if (auto ok = check_any_job_id(id); !ok) return ok.error();
  const auto limit = queue.client()->options().data_limit;
  if (data.size() > limit)
    return Error{
        ErrorCode::too_large,
        "data of " + std::to_string(data.size()) + " bytes; the limit is " + std::to_string(limit),
        {{"value", std::to_string(data.size())}, {"expected", std::to_string(limit)}}};
  auto call =
      ScriptCall::of<Transition>(queue.keys(), {.revision = scripts::kRevision, .count = 1});
  call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), id)});
  const auto shown = token ? std::to_string(*token) : std::string();
  call.put_args(Transition::ItemArgs{.id = id, .token = shown, .data = data});
  const auto statuses = answer_of(ask(queue, std::move(call)), 1, Transition::script.name);
  if (!statuses) return statuses.error();
  return write_result(statuses->front(), queue.name(), id, "its data was not changed");
}

}  // namespace echomq::inline v2
