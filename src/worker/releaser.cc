// SPDX-License-Identifier: MIT
#include "worker/releaser.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

constexpr std::chrono::milliseconds kBeforeAgain{500};
constexpr std::size_t kMostPutBack = 10'000;  // a long outage leaves the rest to the sweep

}  // namespace

void Releaser::push(OwnedId id) {
  backlog_.push_back(std::move(id));
  pump();
}

void Releaser::push(const wire::Reply& recovered) {
  if (recovered.items.size() < 4) return;
  const auto& told = recovered.items[3].items;
  for (std::size_t i = 0; i + 1 < told.size(); i += 2)
    backlog_.push_back({told[i].text, told[i + 1].text, {}});
  pump();
}

void Releaser::pump() {
  if (in_flight_ || backlog_.empty()) return;
  std::vector<OwnedId> ids;
  while (!backlog_.empty() && ids.size() < kOwnersPerCall) {
    ids.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  in_flight_ = true;
  auto again = ids;
  end_owned(queue_, std::move(ids), /*force=*/false,
            [self = shared_from_this(), again = std::move(again)](const Result<OwnedEnd>& ended) {
              self->in_flight_ = false;
              if (!ended && is_weather(ended.error().code) && !self->stopping_)
                return self->put_back(again);
              self->pump();
              self->done();
            });
}

// Their times are still in `de:due`, where a sweep would find them, but not soon: an add that was
// kept waits for this. Saying it again is harmless.
void Releaser::put_back(const std::vector<OwnedId>& ids) {
  const auto room = kMostPutBack - std::min(kMostPutBack, backlog_.size());
  const auto count = static_cast<std::ptrdiff_t>(std::min(ids.size(), room));
  backlog_.insert(backlog_.end(), ids.begin(), ids.begin() + count);
  queue_->client()->loop().after(kBeforeAgain, [self = shared_from_this()] {
    self->pump();
    self->done();
  });
}

void Releaser::stop() { stopping_ = true; }

void Releaser::done() {
  if (idle()) ended_();
}

void Releaser::sweep() {
  if (std::exchange(sweeping_, true)) return;
  auto bytes = wire::command({"ZRANGEBYSCORE", queue_->keys().de_due, "-inf",
                              std::to_string(queue_->client()->now_ms()), "LIMIT", "0",
                              std::to_string(kOwnersPerCall)});
  queue_->client()->command(
      std::move(bytes), [self = shared_from_this()](Result<wire::Reply> reply) {
        std::vector<std::string> due;
        if (reply)
          for (const auto& id : reply->items) due.push_back(id.text);
        // One without an entry is named too, as nobody's: then its time is removed.
        read_owned(self->queue_, due, [self, due](const Result<std::vector<OwnedId>>& found) {
          self->sweeping_ = false;
          if (!found) return;
          std::size_t at = 0;
          for (const auto& de : due) {
            const bool there = at < found->size() && (*found)[at].de == de;
            self->backlog_.push_back(there ? (*found)[at++] : OwnedId{de, "-", {}});
          }
          self->pump();
        });
      });
}

}  // namespace echomq::inline v2
