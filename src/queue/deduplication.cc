// SPDX-License-Identifier: MIT
#include "queue/deduplication.h"

#include <algorithm>
#include <utility>

#include "echomq/id.h"
#include "echomq_scripts.h"
#include "job/encode.h"
#include "queue/ask.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

// So often an entry is looked at anew that is another one each time.
constexpr int kOwnerLooks = 5;

// An entry of `de`, see lua/lib/dedup.lua: `<owner>:<until>:<held>:<kept>`.
std::optional<OwnedId> read_entry(const std::string& de, const std::string& text) {
  const auto first = text.find(':');
  const auto last = text.rfind(':');
  if (first == std::string::npos || std::count(text.begin(), text.end(), ':') != 3)
    return std::nullopt;
  return OwnedId{de, text.substr(0, first), text.substr(last + 1)};
}

ScriptCall end_call(const QueueCore& queue, const std::vector<OwnedId>& ids, bool force) {
  using Transition = scripts::DeduplicationEnd;
  auto call = ScriptCall::of<Transition>(queue.keys(), {.revision = scripts::kRevision,
                                                        .now = queue.client()->now_ms(),
                                                        .count = ids.size(),
                                                        .force = force});
  for (const auto& id : ids) {
    const auto& next = id.kept.empty() ? id.owner : id.kept;
    const bool custom = !id.kept.empty() && !is_minted_id(id.kept);
    call.put_keys(Transition::ItemKeys{.owner = job_key(queue.name(), id.owner),
                                       .job = job_key(queue.name(), next)});
    if (custom) call.put_keys(SubKeys(queue.name(), next).as<Transition::MoreKeys>());
    call.put_args(
        Transition::ItemArgs{.de = id.de, .owner = id.owner, .kept = id.kept, .custom = custom});
  }
  return call;
}

struct Ending {
  std::shared_ptr<QueueCore> queue;
  std::vector<OwnedId> ids;
  bool force;
  Function<void(Result<OwnedEnd>)> done;
  OwnedEnd end{};
  int looks = 0;
};

void answered(const std::shared_ptr<Ending>& ending, Result<wire::Reply> reply);

void say(const std::shared_ptr<Ending>& ending) {
  const auto& queue = ending->queue;
  queue->call(end_call(*queue, ending->ids, ending->force),
              [ending](Result<wire::Reply> reply) { answered(ending, std::move(reply)); });
}

void answered(const std::shared_ptr<Ending>& ending, Result<wire::Reply> reply) {
  if (!reply) return ending->done(reply.error());
  std::vector<OwnedId> again;
  const auto before = ending->end.freed;
  const std::string none;
  const auto& items = reply->items;
  for (std::size_t i = 0; items.size() == 2 && i < ending->ids.size(); ++i) {
    auto& id = ending->ids[i];
    const auto& status = wire::status_of(items[0], i, none);
    ending->end.freed += status == "ok" || status == "dup" ? 1 : 0;
    ending->end.added += status == "ok" && !id.kept.empty() ? 1 : 0;
    if (status != "moved") continue;
    const auto& owner = wire::status_of(items[1], 2 * i, none);
    const auto& kept = wire::status_of(items[1], 2 * i + 1, none);
    if (owner == id.owner) again.push_back({id.de, owner, kept});
  }
  // Those that did not fit into one call go on in the next ones.
  ending->looks = ending->end.freed > before ? 0 : ending->looks + 1;
  if (again.empty() || ending->looks == kOwnerLooks) return ending->done(ending->end);
  ending->ids = std::move(again);
  say(ending);
}

}  // namespace

void end_owned(const std::shared_ptr<QueueCore>& queue, std::vector<OwnedId> ids, bool force,
               Function<void(Result<OwnedEnd>)> done) {
  if (ids.empty()) return done(OwnedEnd{});
  say(std::make_shared<Ending>(Ending{queue, std::move(ids), force, std::move(done)}));
}

Result<OwnedEnd> end_owned(QueueCore& queue, const std::vector<OwnedId>& ids, bool force) {
  OwnedEnd all;
  for (std::size_t from = 0; from < ids.size(); from += kOwnersPerCall) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(from);
    const auto most = static_cast<std::ptrdiff_t>(std::min(kOwnersPerCall, ids.size() - from));
    std::vector<OwnedId> some(begin, begin + most);
    const auto end = queue.client()->wait_for<OwnedEnd>([&](Function<void(Result<OwnedEnd>)> done) {
      end_owned(queue.shared_from_this(), some, force, std::move(done));
    });
    if (!end) return queue.look_error(end.error());
    all.freed += end->freed;
    all.added += end->added;
  }
  return all;
}

void read_owned(const std::shared_ptr<QueueCore>& queue, const std::vector<std::string>& ids,
                Function<void(Result<std::vector<OwnedId>>)> done) {
  if (ids.empty()) return done(std::vector<OwnedId>{});
  std::string bytes;
  wire::append_header(bytes, 2 + ids.size());
  wire::append_bulk(bytes, std::string_view("HMGET"));
  wire::append_bulk(bytes, std::string_view(queue->keys().de));
  for (const auto& id : ids) wire::append_bulk(bytes, std::string_view(id));
  queue->client()->command(
      std::move(bytes), [ids, done = std::move(done)](Result<wire::Reply> reply) mutable {
        if (!reply) return done(reply.error());
        std::vector<OwnedId> found;
        for (std::size_t i = 0; i < std::min(ids.size(), reply->items.size()); ++i)
          if (auto entry = read_entry(ids[i], reply->items[i].text))
            found.push_back(*std::move(entry));
        done(std::move(found));
      });
}

ScriptCall hold_call(const QueueCore& queue, const std::vector<OwnedId>& ids) {
  using Transition = scripts::DeduplicationHold;
  auto call = ScriptCall::of<Transition>(queue.keys(),
                                         {.revision = scripts::kRevision, .count = ids.size()});
  for (const auto& id : ids) call.put_args(Transition::ItemArgs{.de = id.de, .owner = id.owner});
  return call;
}

Result<std::optional<DeduplicationOwner>> read_owner(QueueCore& queue, std::string_view id) {
  using Transition = scripts::DeduplicationRead;
  if (auto ok = job::check_deduplication_id(id); !ok) return ok.error();
  std::string seen;
  for (int look = 0; look < kOwnerLooks; ++look) {
    const auto& k = queue.keys();
    const auto owner = seen.empty() ? k.de : job_key(queue.name(), seen);
    auto reply = ask(queue, ScriptCall::of<Transition>({.meta = k.meta,
                                                        .completed = k.completed,
                                                        .failed = k.failed,
                                                        .trash = k.trash,
                                                        .de = k.de,
                                                        .owner = owner},
                                                       {.revision = scripts::kRevision,
                                                        .now = queue.client()->now_ms(),
                                                        .de = id,
                                                        .seen = seen}));
    if (!reply) return reply.error();
    const std::string none;
    const auto status =
        reply->items.size() == 4 ? wire::status_of(reply->items[0], 0, none) : std::string("gone");
    if (status == "gone") return std::optional<DeduplicationOwner>();
    seen = reply->items[1].text;
    if (status == "ok")
      return std::optional(DeduplicationOwner{seen, wire::number_of(reply->items[2]),
                                              std::move(reply->items[3].text)});
  }
  return Error{ErrorCode::wrong_state,
               "the owner of deduplication id \"" + std::string(id) +
                   "\" was another one each time that it was looked for; try again",
               {{"queue", queue.name()}, {"value", std::string(id)}}};
}

Result<bool> release_owned(QueueCore& queue, std::string_view id,
                           const std::optional<std::string>& owner) {
  if (auto ok = job::check_deduplication_id(id); !ok) return ok.error();
  for (int look = 0; look < kOwnerLooks; ++look) {
    const auto found = read_owner(queue, id);
    if (!found) return found.error();
    if (!*found || (owner && (*found)->job != *owner)) return false;
    const auto end = end_owned(queue, {{std::string(id), (*found)->job, (*found)->next}}, true);
    if (!end) return end.error();
    if (end->freed > 0) return true;
  }
  return false;
}

}  // namespace echomq::inline v2
