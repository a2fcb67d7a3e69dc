// SPDX-License-Identifier: MIT
#include "worker/evictor.h"

#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kWorthACall = 32;
constexpr std::chrono::milliseconds kMoment{50};  // that fewer wait for more

}  // namespace

void Evictor::push(const wire::Reply& answer) {
  if (answer.items.size() < 3) return;
  std::set<std::string_view> with;
  for (const auto& id : answer.items[2].items) with.insert(id.text);
  for (auto& id : wire::ids_of(answer.items[1])) {
    const bool has_subkeys = with.contains(id);
    backlog_.push_back({std::move(id), has_subkeys});
  }
  pump_soon();
}

void Evictor::pump_soon() {
  if (backlog_.size() >= kWorthACall) return pump();
  if (backlog_.empty() || std::exchange(waiting_, true)) return;
  queue_->client()->loop().after(kMoment, [self = shared_from_this()] {
    self->waiting_ = false;
    self->pump();
  });
}

void Evictor::pump() {
  if (in_flight_ || backlog_.empty()) return;
  std::vector<Evicted> jobs;
  while (!backlog_.empty() && jobs.size() < kEvictedPerCall) {
    jobs.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  send(jobs);
}

void Evictor::send(const std::vector<Evicted>& jobs) {
  in_flight_ = true;
  // No answer, no harm: the ids are still in trash, and the next sweep finds them.
  queue_->call(evict_call(*queue_, jobs, age_completed_, age_failed_),
               [self = shared_from_this()](Result<wire::Reply> reply) {
                 self->in_flight_ = false;
                 if (reply) self->push(*reply);
                 self->pump_soon();
               });
}

void Evictor::sweep() {
  if (!idle()) return;
  auto bytes = wire::command({"SSCAN", queue_->keys().trash, "0", "COUNT", "100"});
  in_flight_ = true;
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this()](Result<wire::Reply> reply) {
                              self->in_flight_ = false;
                              if (!reply) return;
                              std::vector<std::string> ids;
                              if (reply->items.size() > 1)
                                for (const auto& id : reply->items[1].items)
                                  if (ids.size() < kEvictedPerCall) ids.push_back(id.text);
                              if (ids.empty()) return self->send({});
                              self->look_for_subkeys(std::move(ids));
                            });
}

void Evictor::look_for_subkeys(std::vector<std::string> ids) {
  std::string bytes;
  wire::append_header(bytes, 2 + ids.size());
  wire::append_bulk(bytes, std::string_view("SMISMEMBER"));
  wire::append_bulk(bytes, std::string_view(queue_->keys().subkeys));
  for (const auto& id : ids) wire::append_bulk(bytes, std::string_view(id));
  in_flight_ = true;
  queue_->client()->command(std::move(bytes), [self = shared_from_this(),
                                               ids = std::move(ids)](Result<wire::Reply> reply) {
    self->in_flight_ = false;
    if (!reply || reply->items.size() != ids.size()) return;
    std::vector<Evicted> jobs;
    for (std::size_t i = 0; i < ids.size(); ++i)
      jobs.push_back({ids[i], reply->items[i].integer == 1});
    self->send(jobs);
  });
}

}  // namespace echomq::inline v2
