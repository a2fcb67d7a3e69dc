// SPDX-License-Identifier: MIT
#include "worker/hand_over.h"

#include <algorithm>
#include <string>
#include <utility>

namespace echomq::inline v2 {
namespace {

Result<void> end_result(std::string_view status, const std::string& id, const std::string& queue) {
  if (status == "ok" || status == "done") return {};
  const auto job = "job " + id + " of \"" + queue + "\"";
  Error error{ErrorCode::connection_lost,
              "how " + job + " ended could not be told to the server",
              {{"queue", queue}, {"value", id}}};
  if (status == "stale") {
    error.code = ErrorCode::stale;
    error.detail = job + " is not held any more: another run owns it, or it has ended";
  } else if (status == "gone") {
    error.code = ErrorCode::not_found;
    error.detail = job + " was removed";
  }
  return error;
}

}  // namespace

void HandOver::fetch(unsigned most, std::chrono::milliseconds timeout, Fetched done) {
  if (stopped_) return done(*stopped_);
  auto fetch = std::make_shared<Fetch>();
  fetch->most = most;
  fetch->claims_before = events().claims().sent;
  fetch->done = std::move(done);
  fetch->timer = queue_->client()->loop().after(
      timeout, [weak = weak_from_this(), weak_fetch = std::weak_ptr(fetch)] {
        const auto self = weak.lock();
        const auto late = weak_fetch.lock();
        if (self && late) self->overdue(late);
      });
  fetches_.push_back(std::move(fetch));
  events().wanted();
}

unsigned HandOver::capacity(std::size_t held) const {
  auto jobs = held;
  for (const auto& fetch : fetches_) {
    jobs += fetch->most;
    if (jobs >= max_held_) return max_held_;
  }
  return static_cast<unsigned>(jobs);
}

// No more than are waited for: that is the capacity.
void HandOver::run(const Jobs& jobs) {
  const auto now_ms = queue_->client()->now_ms();
  for (auto next = jobs.begin(); next != jobs.end();) {
    const auto fetch = std::move(fetches_.front());
    fetches_.pop_front();
    fetch->timer->cancel();
    const auto count = std::min<std::ptrdiff_t>(fetch->most, jobs.end() - next);
    Jobs given(next, next + count);
    next += count;
    for (const auto& job : given) {
      job->begun = true;
      job->started_ms = now_ms;
    }
    fetch->done(std::move(given));
  }
}

void HandOver::overdue(const std::shared_ptr<Fetch>& fetch) {
  fetch->late = true;
  events().changed();
}

// Whether a claim is on its way, or about to be, that sees what was ready when the fetch came.
bool HandOver::may_come(const Fetch& fetch) const {
  if (!queue_->client()->connected()) return false;
  const auto claims = events().claims();
  if (claims.opening) return true;
  return claims.sent != claims.through && claims.through <= fetch.claims_before;
}

void HandOver::claims_moved() {
  std::deque<std::shared_ptr<Fetch>> over;
  for (const auto& fetch : fetches_)
    if (fetch->late && !may_come(*fetch)) over.push_back(fetch);
  for (const auto& fetch : over) {
    std::erase(fetches_, fetch);
    fetch->done(Jobs{});
  }
}

void HandOver::stop(const Result<void>& status) {
  stopped_ = status ? Error{ErrorCode::closed,
                            "the consumer of \"" + queue_->name() + "\" is gone",
                            {{"queue", queue_->name()}}}
                    : status.error();
  for (const auto& fetch : std::exchange(fetches_, {})) {
    fetch->timer->cancel();
    fetch->done(*stopped_);
  }
}

// --- ends

void HandOver::finish(const std::shared_ptr<RunningJob>& job, const std::optional<Outcome>& outcome,
                      Settled done) {
  const auto& client = queue_->client();
  if (done)
    finishing_[job.get()] = {
        std::move(done),
        client->loop().after(client->options().command_timeout,
                             [weak = weak_from_this(), weak_job = std::weak_ptr(job)] {
                               const auto self = weak.lock();
                               const auto waits = weak_job.lock();
                               if (self && waits) self->unanswered(*waits);
                             })};
  events().ended({{job, outcome}});
}

void HandOver::give_back_later(const Jobs& jobs) {
  queue_->client()->loop().post([self = shared_from_this(), jobs] {
    for (const auto& job : jobs) self->finish(job, std::nullopt, nullptr);
  });
}

void HandOver::unanswered(const RunningJob& job) {
  answer(job, Error{ErrorCode::timeout,
                    "no answer within " +
                        std::to_string(queue_->client()->options().command_timeout.count()) +
                        " ms to how job " + job.job.id + " of \"" + queue_->name() +
                        "\" ended; it goes on being told",
                    {{"queue", queue_->name()}, {"value", job.job.id}}});
}

void HandOver::settled(const Settlement& settlement, std::string_view status) {
  const auto& job = *settlement.job;
  answer(job, end_result(status, job.job.id, queue_->name()));
}

void HandOver::answer(const RunningJob& job, Result<void> result) {
  const auto found = finishing_.find(&job);
  if (found == finishing_.end()) return;
  auto finishing = std::move(found->second);
  finishing_.erase(found);
  finishing.timer->cancel();
  finishing.done(std::move(result));
}

}  // namespace echomq::inline v2
