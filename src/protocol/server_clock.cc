// SPDX-License-Identifier: MIT
#include "protocol/server_clock.h"

#include <algorithm>

namespace echomq::inline v2 {

void ServerClock::sample(std::int64_t sent_mono_us, std::int64_t received_mono_us,
                         std::int64_t server_unix_us) {
  if (received_mono_us < sent_mono_us) return;
  const Sample fresh{received_mono_us, server_unix_us - received_mono_us,
                     server_unix_us - sent_mono_us};
  std::erase_if(samples_, [&](const Sample& old) {
    const bool contradicted = old.high_us < fresh.low_us || old.low_us > fresh.high_us;
    return contradicted || received_mono_us - old.received_us > kMaxAgeUs;
  });
  if (samples_.size() == kWindow) samples_.erase(samples_.begin());
  samples_.push_back(fresh);

  // Of equal round trips the newest: it has drifted least.
  const auto best = std::min_element(
      samples_.rbegin(), samples_.rend(), [](const Sample& one, const Sample& other) {
        return one.high_us - one.low_us < other.high_us - other.low_us;
      });
  offset_us_ = best->low_us + (best->high_us - best->low_us) / 2;
}

std::int64_t ServerClock::now_ms(std::int64_t mono_us) const noexcept {
  return (mono_us + offset_us_) / 1000;
}

void ServerClock::reset() noexcept {
  samples_.clear();
  offset_us_ = 0;
}

}  // namespace echomq::inline v2
