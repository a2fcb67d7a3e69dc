// SPDX-License-Identifier: MIT
#include "worker/claimer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "echomq_scripts.h"
#include "protocol/lease.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

// One call: from its sending until its jobs are loaded.
struct Claimer::Claim {
  unsigned asked = 0;
  Lease lease;
  bool permit = false;  // may take a job that has been through a crash
  std::vector<std::string> ids;
  std::vector<std::optional<job::LoadedJob>> jobs;
  std::size_t missing = 0;
  bool lost = false;  // an answer of the load did not come
};

void Claimer::claim(unsigned count) {
  ++sent_;
  ++on_their_way_;
  auto claim = std::make_shared<Claim>();
  claim->asked = std::min(count, static_cast<unsigned>(kMaxBatchJobs));
  queue_->client()->node_holder().with([self = shared_from_this(), claim](Result<void> held) {
    if (!held) return self->failed(*claim, held.error());
    self->send(claim);
  });
}

void Claimer::send(const std::shared_ptr<Claim>& claim) {
  const auto& client = queue_->client();
  const auto now = client->now_ms();
  claim->lease = client->node_lease().next_lease(now, lease_.count());
  claim->permit = client->take_crash_permit();
  queue_->claims_on_their_way().insert(claim->lease.token());
  auto call = ScriptCall::of<scripts::JobClaim>(queue_->keys(), {.revision = scripts::kRevision,
                                                                 .score = claim->lease.score(),
                                                                 .count = claim->asked,
                                                                 .take_crashed = claim->permit,
                                                                 .now = now});
  queue_->call(std::move(call), [self = shared_from_this(), claim](Result<wire::Reply> reply) {
    self->answered(claim, std::move(reply));
  });
}

void Claimer::answered(const std::shared_ptr<Claim>& claim, Result<wire::Reply> reply) {
  auto& tokens = queue_->claims_on_their_way();
  if (const auto it = tokens.find(claim->lease.token()); it != tokens.end()) tokens.erase(it);
  if (!reply) return failed(*claim, reply.error());
  if (reply->items.size() < 7)
    return failed(*claim, {ErrorCode::protocol, "job/claim answered too little", {}});

  claim->ids = wire::ids_of(reply->items[6]);
  for (const auto& id : claim->ids) queue_->holds(id, claim->lease.token());
  if (claim->ids.empty()) {
    --on_their_way_;
    if (claim->permit) queue_->client()->give_crash_permit();
  } else {
    load(claim);
  }
  const auto crashed = wire::number_of(reply->items[2]);
  const auto oldest_lease = wire::number_of(reply->items[4]);
  events_.claimed({.asked = claim->asked,
                   .taken = static_cast<unsigned>(claim->ids.size()),
                   .ready = wire::number_of(reply->items[1]),
                   .due_ms = wire::number_of(reply->items[3]),
                   .anyone_active = oldest_lease != 0 || crashed != 0,
                   .open = reply->items[0].text == "open",
                   .opens_ms = wire::number_of(reply->items[5])});
  if (crashed > 0 && !claim->permit) queue_->client()->await_crash_permit(permit_hook_);
}

void Claimer::failed(const Claim& claim, const Error& error) {
  --on_their_way_;
  if (claim.permit) queue_->client()->give_crash_permit();
  events_.refused(error);
}

// Now the keys of the jobs are known.
void Claimer::load(const std::shared_ptr<Claim>& claim) {
  claim->jobs.resize(claim->ids.size());
  claim->missing = claim->ids.size();
  for (std::size_t i = 0; i < claim->ids.size(); ++i) {
    const auto key = job_key(queue_->name(), claim->ids[i]);
    std::string bytes;
    bytes.reserve(80 + key.size());
    wire::append_header(bytes, 2 + job::kLoadFields.size());
    wire::append_bulk(bytes, std::string_view("HMGET"));
    wire::append_bulk(bytes, std::string_view(key));
    for (const auto field : job::kLoadFields) wire::append_bulk(bytes, field);
    queue_->client()->command(
        std::move(bytes), [self = shared_from_this(), claim, i](Result<wire::Reply> reply) {
          if (reply && !is_not_ready(reply->text))
            claim->jobs[i] = job::read_loaded(claim->ids[i], std::move(*reply));
          else
            claim->lost = true;
          if (--claim->missing == 0) self->loaded(*claim);
        });
  }
}

void Claimer::loaded(Claim& claim) {
  const auto& client = queue_->client();
  --on_their_way_;
  const auto deadline_ms = kIdEpochMs + static_cast<std::int64_t>(claim.lease.deadline_s) * 1'000;
  // Too little of the lease is left to begin with.
  const bool late = deadline_ms - client->now_ms() < lease_.count() / 2;
  bool permit = claim.permit;
  Jobs fit;
  Jobs unfit;
  for (std::size_t i = 0; i < claim.ids.size(); ++i) {
    auto& found = claim.jobs[i];
    const bool there = found.has_value();
    if (!there) {
      found.emplace();
      found->id = claim.ids[i];
    }
    auto job = std::make_shared<RunningJob>(*std::move(found), queue_->name(), claim.lease,
                                            events_.progress);
    job->order = ++jobs_;
    const bool suspect = job->job.crashes > 0;
    if (stopping_ || !there || claim.lost || late || (suspect && !permit)) {
      unfit.push_back(std::move(job));
      continue;
    }
    if (suspect) {
      permit_holder_ = job;
      permit = false;
    }
    fit.push_back(std::move(job));
  }
  if (permit) client->give_crash_permit();
  events_.loaded(std::move(fit), std::move(unfit));
}

void Claimer::ended(const std::shared_ptr<RunningJob>& job) {
  if (permit_holder_ != job) return;
  permit_holder_.reset();
  queue_->client()->give_crash_permit();
}

}  // namespace echomq::inline v2
