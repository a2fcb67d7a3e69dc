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

constexpr std::size_t kPage = 500;  // more than the jobs of one claim, which share a score

}  // namespace

std::optional<std::int64_t> next_page(std::vector<wire::Scored>& page, std::size_t size) {
  if (page.size() < size) return std::nullopt;
  const auto last = page.back().score;
  if (page.front().score == last) return last + 1;
  std::erase_if(page, [last](const auto& entry) { return entry.score == last; });
  return last;
}

void Reconciler::look(std::int64_t from) {
  std::string bytes;
  // Without the sentinel, which is at infinity.
  wire::append_command(bytes, {"ZRANGE", queue_->keys().active, std::to_string(from), "(inf",
                               "BYSCORE", "LIMIT", "0", std::to_string(kPage), "WITHSCORES"});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this(), from](Result<wire::Reply> reply) {
                              self->looked(from, std::move(reply));
                            });
}

void Reconciler::looked(std::int64_t from, Result<wire::Reply> reply) {
  if (reply && is_not_ready(reply->text)) {
    queue_->client()->loop().after(kNotReadyPause,
                                   [self = shared_from_this(), from] { self->look(from); });
    return;
  }
  if (!reply || reply->is_error()) return;
  auto page = wire::scored(*reply);
  const auto next = next_page(page, kPage);
  // Backwards, because of releases the job that was claimed last is pushed first.
  for (auto entry = page.rbegin(); entry != page.rend(); ++entry) {
    const auto lease = Lease::from_score(static_cast<std::uint64_t>(entry->score));
    if (!is_unknown(entry->member, lease)) continue;
    queue_->holds(entry->member, lease.token());  // so that no later look finds it again
    job::LoadedJob lost;
    lost.id = std::move(entry->member);
    settler_->push(
        give_back(std::make_shared<RunningJob>(std::move(lost), queue_->name(), lease, [] {}),
                  /*started=*/false));
  }
  if (next) look(*next);
  settler_->pump();
}

// Claimed by this process, by no run or claim that it knows of.
bool Reconciler::is_unknown(const std::string& id, const Lease& lease) const {
  return lease.node == queue_->client()->node() && !queue_->is_held(id, lease.token()) &&
         !queue_->claims_on_their_way().contains(lease.token());
}

}  // namespace echomq::inline v2
