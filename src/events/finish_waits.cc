// SPDX-License-Identifier: MIT
#include "events/finish_waits.h"

#include <algorithm>
#include <utility>

#include "base/weak_call.h"
#include "events/end_search.h"
#include "job/record.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWaitPoll{5'000};  // of the reader
constexpr milliseconds kLookAgain{500};   // after a look that the network refused
constexpr milliseconds kLastLook{1'000};  // at most, past the end of the time

FinishedJob finished(const JobInfo& job) {
  FinishedJob end;
  end.state = job.state;
  end.kept = true;
  if (job.state == JobState::completed) end.result = job.result;
  if (job.state == JobState::failed) end.failed_reason = job.failed_reason;
  return end;
}

// Told by its event alone.
FinishedJob ended(JobState state) {
  FinishedJob end;
  end.state = state;
  return end;
}

// Events after which a job may be looked at; `other` is of a newer version and may be anything.
bool may_end(EventType type) {
  return type == EventType::completed || type == EventType::failed || type == EventType::removed ||
         type == EventType::replaced || type == EventType::other;
}

}  // namespace

void FinishWaits::wait(const std::shared_ptr<QueueCore>& queue, const std::string& id,
                       milliseconds timeout, Done done) {
  auto& waits = queue->finish_waits();
  if (!waits) waits = std::make_shared<FinishWaits>(queue);
  waits->begin(std::make_shared<Waiter>(Waiter{.id = id, .done = std::move(done)}), timeout);
}

FinishWaits::~FinishWaits() {
  if (waiting_.empty() && !reader_) return;
  client_->loop().post([waiting = std::move(waiting_), reader = reader_, client = client_,
                        name = name_]() mutable {
    if (reader) reader->close();
    for (auto& [id, waiter] : waiting) {
      waiter->deadline->cancel();
      waiter->done(Error{ErrorCode::closed,
                         "the last handle of the queue went while job " + id + " was waited for",
                         {{"queue", name}, {"value", id}}});
    }
  });
}

// --- one wait

void FinishWaits::begin(const WaiterPtr& waiter, milliseconds timeout) {
  waiting_.emplace(waiter->id, waiter);
  waiter->deadline = client_->loop().after(timeout, [weak = weak_from_this(), waiter] {
    if (const auto self = weak.lock()) self->time_over(waiter);
  });
  waiter->last = timeout == milliseconds(0);
  look(waiter);
}

void FinishWaits::time_over(const WaiterPtr& waiter) {
  if (!waiter->done || waiter->last) return;
  waiter->last = true;
  look(waiter);
}

void FinishWaits::look(const WaiterPtr& waiter) {
  const auto queue = queue_.lock();
  if (!queue || !waiter->done) return;
  const Look at{.covered = reader_ && reader_->placed(),
                .ended = waiter->ended.has_value(),
                .last = waiter->last};
  const auto most = client_->options().command_timeout;
  queue->read_job(waiter->id, at.last ? std::min(most, kLastLook) : most,
                  [weak = weak_from_this(), waiter, at](const Result<JobInfo>& job) {
                    if (const auto self = weak.lock()) self->looked(waiter, at, job);
                  });
}

void FinishWaits::looked(const WaiterPtr& waiter, const Look& at, const Result<JobInfo>& job) {
  if (!waiter->done) return;
  if (job && job::has_ended(job->state)) return answer(waiter, finished(*job));
  if (job) return unfinished(waiter, at);
  if (job.error().code == ErrorCode::not_found) return not_found(waiter, at.last, job.error());
  refused(waiter, at.last, job.error());
}

void FinishWaits::not_found(const WaiterPtr& waiter, bool last, const Error& why) {
  if (waiter->ended) return answer(waiter, ended(*waiter->ended));
  const auto queue = queue_.lock();
  if (!queue) return;
  std::make_shared<EndSearch>(
      queue, waiter->id,
      [weak = weak_from_this(), waiter, last, why](Result<std::optional<JobState>> state) {
        const auto self = weak.lock();
        if (!self || !waiter->done) return;
        if (!state) return self->refused(waiter, last, state.error());
        if (*state) return self->answer(waiter, ended(**state));
        self->answer(waiter, why);
      })
      ->start();
}

// It has ended since, or will; or it was given another run after the end that was told.
void FinishWaits::unfinished(const WaiterPtr& waiter, const Look& at) {
  if (at.ended) return answer(waiter, ended(*waiter->ended));
  if (at.last)
    return answer(waiter, Error{ErrorCode::timeout,
                                "job " + waiter->id + " has not ended yet",
                                {{"queue", name_}, {"value", waiter->id}}});
  if (at.covered) {
    waiter->covered = true;
  } else if (!reader_) {
    open_reader();
  } else if (reader_->placed() && !waiter->covered) {
    look(waiter);  // the reader has found its place since: that look was too early
  }
}

void FinishWaits::refused(const WaiterPtr& waiter, bool last, const Error& why) {
  if (!is_weather(why.code)) return answer(waiter, why);
  if (!last) {
    client_->loop().after(kLookAgain, [weak = weak_from_this(), waiter] {
      const auto self = weak.lock();
      if (self && !waiter->last) self->look(waiter);
    });
  } else if (waiter->ended) {
    answer(waiter, ended(*waiter->ended));
  } else {
    answer(waiter, Error{ErrorCode::timeout,
                         "job " + waiter->id + " could not be looked at in time: " + why.detail,
                         {{"queue", name_}, {"value", waiter->id}}});
  }
}

void FinishWaits::answer(const WaiterPtr& waiter, Result<FinishedJob> result) {
  const auto [from, to] = waiting_.equal_range(waiter->id);
  const auto found =
      std::find_if(from, to, [&waiter](const auto& entry) { return entry.second == waiter; });
  if (found != to) waiting_.erase(found);
  waiter->deadline->cancel();
  auto done = std::exchange(waiter->done, nullptr);
  done(std::move(result));
}

// --- the reader

void FinishWaits::open_reader() {
  reader_ = std::make_shared<EventReader>(
      client_, name_, EventCursor::at(EventPlace::now()).value(), kWaitPoll,
      EventReader::Hooks{.placed = weak_call(*this, &FinishWaits::placed),
                         .read =
                             [weak = weak_from_this()](const std::vector<Event>& events) {
                               if (const auto self = weak.lock()) self->read(events);
                             },
                         .idle = weak_call(*this, &FinishWaits::idle),
                         .failed = weak_call(*this, &FinishWaits::failed)});
  reader_->open();
}

void FinishWaits::close_reader() {
  if (reader_) std::exchange(reader_, nullptr)->close();
}

void FinishWaits::placed() {
  for (const auto& waiter : all())
    if (!waiter->covered) look(waiter);
}

void FinishWaits::read(const std::vector<Event>& events) {
  const auto reader = reader_;
  for (const auto& event : events) told(event);
  reader->go_on();
}

void FinishWaits::told(const Event& event) {
  if (event.type == EventType::gap) {
    for (const auto& waiter : all()) look(waiter);
    return;
  }
  if (!may_end(event.type)) return;
  std::vector<WaiterPtr> of_job;
  const auto [from, to] = waiting_.equal_range(event.job);
  std::transform(from, to, std::back_inserter(of_job),
                 [](const auto& entry) { return entry.second; });
  for (const auto& waiter : of_job) {
    if (event.type == EventType::completed) waiter->ended = JobState::completed;
    if (event.type == EventType::failed) waiter->ended = JobState::failed;
    look(waiter);
  }
}

void FinishWaits::idle() {
  if (waiting_.empty()) close_reader();
}

void FinishWaits::failed(const Error& why) {
  close_reader();
  for (const auto& waiter : all())
    if (waiter->done) answer(waiter, why);
}

std::vector<FinishWaits::WaiterPtr> FinishWaits::all() const {
  std::vector<WaiterPtr> waiters;
  waiters.reserve(waiting_.size());
  for (const auto& [id, waiter] : waiting_) waiters.push_back(waiter);
  return waiters;
}

}  // namespace echomq::inline v2
