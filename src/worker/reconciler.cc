// SPDX-License-Identifier: MIT
#include "worker/reconciler.h"

#include <string>
#include <utility>

#include "protocol/lease.h"
#include "wire/command.h"
#include "wire/reply_form.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kPage = 500;
constexpr std::int64_t kMaxScore = (std::int64_t{1} << 53) - 1;  // of a lease

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
  auto page = wire::scored(*reply);
  for (auto entry = page.rbegin(); entry != page.rend(); ++entry) {
    if (entry->score > kMaxScore) continue;  // the sentinel
    const auto lease = Lease::from_score(static_cast<std::uint64_t>(entry->score));
    if (!is_unknown(entry->member, lease)) continue;
    job::LoadedJob lost;
    lost.id = std::move(entry->member);
    settler_->push(give_back(
        std::make_shared<RunningJob>(std::move(lost), queue_->name(), lease.token(), [] {}),
        /*started=*/false));
  }
  if (page.size() == kPage) look(from + kPage);
  settler_->pump();
}

// Claimed by this process, by no run or claim that it knows of.
bool Reconciler::is_unknown(const std::string& id, const Lease& lease) const {
  return lease.node == queue_->client()->node() && !queue_->is_held(id, lease.token()) &&
         !queue_->claims_on_their_way().contains(lease.token());
}

}  // namespace echomq::inline v2
