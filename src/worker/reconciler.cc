// SPDX-License-Identifier: MIT
#include "worker/reconciler.h"

#include <string>
#include <utility>

#include "protocol/lease.h"
#include "wire/command.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kPage = 500;

}  // namespace

void Reconciler::look(std::size_t from) {
  std::string bytes;
  wire::append_command(bytes, {"ZRANGE", queue_->keys().active, std::to_string(from),
                               std::to_string(from + kPage - 1), "WITHSCORES"});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this(), from](Result<wire::Reply> reply) {
                              self->looked(from, std::move(reply));
                            });
}

void Reconciler::looked(std::size_t from, Result<wire::Reply> reply) {
  if (reply && is_not_ready(reply->text)) {
    queue_->client()->loop().after(kNotReadyPause,
                                   [self = shared_from_this(), from] { self->look(from); });
    return;
  }
  if (!reply || reply->is_error()) return;
  // Backwards, because of releases the job that was claimed last is pushed first.
  for (auto entry = reply->items.rbegin(); entry != reply->items.rend(); ++entry) {
    if (entry->items.size() != 2) continue;
    const auto& id = entry->items[0].text;
    const auto lease = Lease::from_score(static_cast<std::uint64_t>(entry->items[1].number));
    if (!is_unknown(id, lease)) continue;
    job::LoadedJob lost;
    lost.id = id;
    settler_->push(give_back(
        std::make_shared<RunningJob>(std::move(lost), queue_->name(), lease.token(), [] {}),
        /*started=*/false));
  }
  if (reply->items.size() == kPage) look(from + kPage);
  settler_->pump();
}

// Claimed by this process, by no run or claim that it knows of.
bool Reconciler::is_unknown(const std::string& id, const Lease& lease) const {
  return lease.node == queue_->client()->node() && !queue_->is_held(id, lease.token()) &&
         !queue_->claims_on_their_way().contains(lease.token());
}

}  // namespace echomq::inline v2
