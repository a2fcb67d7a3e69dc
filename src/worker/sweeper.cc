// SPDX-License-Identifier: MIT
#include "worker/sweeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "echomq_scripts.h"
#include "job/encode.h"
#include "job/record.h"
#include "protocol/lease.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

// By then every process that lost the same server has found it again and renewed its leases: the
// longest pause between two attempts of a reconnect (2 s, wire/connection.cc), and a handshake.
constexpr milliseconds kOthersReturn{2'500};

}  // namespace

void Sweeper::tick() {
  const auto& client = queue_->client();
  if (looking_ || !client->connected()) return;
  if (contact_ != client->contact()) {
    suspects_.clear();
    contact_ = client->contact();
    contact_since_ = monotonic_ms();
  }
  if (monotonic_ms() - contact_since_ < kOthersReturn) return;
  looking_ = true;
  std::string bytes;
  const auto bound = "(" + std::to_string(Lease::expired_below(client->now_ms()));
  wire::append_command(bytes, {"ZRANGEBYSCORE", queue_->keys().active, "-inf", bound, "WITHSCORES",
                               "LIMIT", "0", std::to_string(kMaxBatchJobs)});
  client->command(std::move(bytes), [self = shared_from_this()](Result<wire::Reply> reply) {
    self->looking_ = false;
    self->looked(std::move(reply));
  });
}

void Sweeper::looked(Result<wire::Reply> reply) {
  if (!reply || contact_ != queue_->client()->contact()) return suspects_.clear();
  Expired unchanged;
  Expired expired;
  for (const auto& entry : wire::scored(*reply)) {
    const auto lease = static_cast<std::uint64_t>(entry.score);
    const auto seen = suspects_.find(entry.member);
    (seen != suspects_.end() && seen->second == lease ? unchanged : expired)[entry.member] = lease;
  }
  suspects_ = std::move(expired);
  if (!unchanged.empty()) recover(unchanged);
}

// A job that ends by it is kept by its own rule, which its head tells.
void Sweeper::recover(const Expired& expired) {
  struct Reading {
    std::vector<std::pair<Keep, Expired>> groups;
    std::size_t missing = 0;
  };
  const auto reading = std::make_shared<Reading>();
  reading->missing = expired.size();
  for (const auto& [id, lease] : expired)
    queue_->client()->command(
        wire::command({"HGET", job_key(queue_->name(), id), "head"}),
        [self = shared_from_this(), reading, id = id, lease = lease](Result<wire::Reply> reply) {
          const auto keep = self->rule_of(reply ? reply->text : std::string());
          auto& groups = reading->groups;
          auto at = std::find_if(groups.begin(), groups.end(),
                                 [&keep](const auto& group) { return group.first == keep; });
          if (at == groups.end()) at = groups.insert(groups.end(), {keep, {}});
          at->second[id] = lease;
          if (--reading->missing > 0) return;
          for (const auto& [rule, jobs] : groups) self->recover(jobs, rule);
        });
}

Keep Sweeper::rule_of(std::string_view head) const {
  const auto read = job::read_head(head);
  return read ? job::decode_opts(read->opts).keep_failed.value_or(keep_failed_) : keep_failed_;
}

void Sweeper::recover(const Expired& expired, const Keep& keep) {
  auto call = ScriptCall::of<scripts::JobRecover>(queue_->keys(),
                                                  {.revision = scripts::kRevision,
                                                   .now = queue_->client()->now_ms(),
                                                   .count = expired.size(),
                                                   .max_crashes = max_crashes_,
                                                   .keep_failed = keep.count,
                                                   .age_failed = milliseconds(keep.age).count(),
                                                   .bytes_failed = keep.bytes});
  for (const auto& [id, lease] : expired) {
    call.put_keys(scripts::JobRecover::ItemKeys{.job = job_key(queue_->name(), id)});
    call.put_args(scripts::JobRecover::ItemArgs{.id = id, .lease = lease});
  }
  queue_->call(std::move(call), [self = shared_from_this()](Result<wire::Reply> reply) {
    if (!reply || reply->items.size() < 2) return;
    Recovered recovered;
    for (const auto& status : reply->items[0].items) {
      recovered.requeued += status.text == "ok" ? 1 : 0;
      recovered.failed += status.text == "done" ? 1 : 0;
    }
    self->evictor_->push(*reply);
    self->releaser_->push(*reply);
    if (reply->items.size() > 4) self->relay_->push(read_messages(reply->items[4]));
    self->recovered_(recovered);
  });
}

}  // namespace echomq::inline v2
