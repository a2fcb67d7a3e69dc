// SPDX-License-Identifier: MIT
// What the doctor asks through and writes into: plain reads, and findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "echomq/doctor.h"
#include "probe/lane.h"
#include "wire/info.h"

namespace echomq::inline v2::ops {

using wire::Reply;

class Patient {
 public:
  Patient(probe::Lane& lane, DoctorReport& report, const DoctorOptions& how)
      : options(how), lane_(lane), report_(report) {}

  // The answer, or nullopt where it is an error, with the error in denied().
  std::optional<Reply> ask(const std::vector<std::string>& words) {
    auto reply = lane_(words);
    if (!reply.is_error()) return reply;
    denied_ = words.front() + ": " + reply.text;
    return std::nullopt;
  }
  [[nodiscard]] const std::string& denied() const { return denied_; }

  // A count; below 0 where it could not be asked.
  std::int64_t count(const std::vector<std::string>& words) {
    const auto reply = ask(words);
    return reply ? reply->integer : -1;
  }

  void tell(std::string_view what, Health health, std::string found, std::string_view advice = {}) {
    report_.findings.push_back(
        {std::string(what), queue, health, std::move(found), std::string(advice)});
  }
  void tell_unknown(std::string_view what) {
    tell(what, Health::unknown, denied_, "allow the doctor's user this command to know");
  }

  const DoctorOptions& options;
  std::string queue;        // of which is told; empty: of the server
  std::int64_t now_ms = 0;  // by the server's clock

 private:
  probe::Lane& lane_;
  DoctorReport& report_;
  std::string denied_;
};

// What INFO answered.
class Info {
 public:
  explicit Info(std::string text) : text_(std::move(text)) {}

  // Empty where there is none.
  [[nodiscard]] std::string operator[](std::string_view field) const {
    return std::string(wire::info_value(text_, field).value_or(""));
  }
  [[nodiscard]] std::int64_t number(std::string_view field) const {
    return to_number<std::int64_t>((*this)[field]);
  }

 private:
  std::string text_;
};

// "3.4 GB"; "2 h 5 min".
std::string spoken_bytes(std::int64_t bytes);
std::string spoken_time(std::int64_t ms);

void examine_server(Patient& patient);
void examine_queue(Patient& patient, const std::string& name);

}  // namespace echomq::inline v2::ops
