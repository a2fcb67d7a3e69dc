// SPDX-License-Identifier: MIT
#include "worker/evictor.h"

#include <utility>

#include "echomq_scripts.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// Counts are kept where jobs end, by the rule that the job or its worker has; here only ages.
constexpr int kNoCount = -1;
constexpr std::size_t kIdsPerCall = 128;  // seven keys each

}  // namespace

void Evictor::push(const std::vector<wire::Reply>& ids) {
  for (const auto& id : ids) backlog_.push_back(id.text);
  pump();
}

void Evictor::pump() {
  if (in_flight_ || backlog_.empty()) return;
  std::vector<std::string> ids;
  while (!backlog_.empty() && ids.size() < kIdsPerCall) {
    ids.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  send(std::move(ids));
}

void Evictor::send(std::vector<std::string> ids) {
  in_flight_ = true;
  const auto& k = queue_->keys();
  auto call = ScriptCall::of<scripts::JobEvict>(
      {.meta = k.meta, .trash = k.trash, .completed = k.completed, .failed = k.failed},
      {.revision = scripts::kRevision,
       .now = queue_->client()->now_ms(),
       .count = ids.size(),
       .keep_completed = kNoCount,
       .age_completed = age_completed_.count(),
       .keep_failed = kNoCount,
       .age_failed = age_failed_.count()});
  for (const auto& id : ids) {
    const SubKeys sub(queue_->name(), id);
    call.put_keys(scripts::JobEvict::ItemKeys{.job = job_key(queue_->name(), id),
                                              .logs = sub.logs,
                                              .dependencies = sub.dependencies,
                                              .processed = sub.processed,
                                              .failed_children = sub.failed,
                                              .unsuccessful = sub.unsuccessful,
                                              .checkpoint = sub.checkpoint});
    call.put_args(scripts::JobEvict::ItemArgs{.id = id});
  }
  // No answer, no harm: the ids are still in trash, and the next sweep finds them.
  queue_->client()->call(std::move(call), queue_->name(), k.meta,
                         [self = shared_from_this()](Result<wire::Reply> reply) {
                           self->in_flight_ = false;
                           if (reply && reply->items.size() > 1) self->push(reply->items[1].items);
                           self->pump();
                         });
}

void Evictor::sweep() {
  if (!idle()) return;
  std::string bytes;
  wire::append_command(bytes, {"SSCAN", queue_->keys().trash, "0", "COUNT", "100"});
  in_flight_ = true;
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this()](Result<wire::Reply> reply) {
                              self->in_flight_ = false;
                              if (!reply) return;
                              std::vector<std::string> ids;
                              if (reply->items.size() > 1)
                                for (const auto& id : reply->items[1].items)
                                  if (ids.size() < kIdsPerCall) ids.push_back(id.text);
                              self->send(std::move(ids));
                            });
}

}  // namespace echomq::inline v2
