// SPDX-License-Identifier: MIT
// Ids. An input is taken as an id in each of its forms, and its first bytes as a number.
#include "echomq/id.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/keyspace.h"
#include "fuzz/errors.h"
#include "fuzz/target.h"

namespace echomq::fuzz {
namespace {

constexpr std::uint64_t kGreatestNumber = std::numeric_limits<std::int64_t>::max();

// The value of a text as digits of `base`, by plain arithmetic; nullopt when a character is no
// digit or the value is 2^63 or more.
std::optional<std::uint64_t> value_of(std::string_view text, unsigned base) {
  std::uint64_t value = 0;
  for (const char c : text) {
    unsigned digit = base;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'A' && c <= 'Z') digit = static_cast<unsigned>(c - 'A') + 10;
    if (c >= 'a' && c <= 'z') digit = static_cast<unsigned>(c - 'a') + 36;
    if (digit >= base) return std::nullopt;
    std::uint64_t next = 0;
    if (__builtin_mul_overflow(value, std::uint64_t{base}, &next) ||
        __builtin_add_overflow(next, std::uint64_t{digit}, &next) || next > kGreatestNumber)
      return std::nullopt;
    value = next;
  }
  return value;
}

std::optional<std::uint64_t> minted_number(std::string_view id) {
  if (id.empty() || (id.size() > 1 && id[0] == '0')) return std::nullopt;
  return value_of(id, 10);
}

void require_same_everywhere(const std::string& decimal, const std::string& branded,
                             std::uint64_t number) {
  require(is_minted_id(decimal) && !is_branded_id(decimal), "a decimal id is minted", decimal);
  require(is_branded_id(branded) && !is_minted_id(branded), "a branded id is branded", branded);
  require(brand_id(decimal).ok() && *brand_id(decimal) == branded, "a decimal id is branded so",
          branded);
  require(unbrand_id(branded).ok() && *unbrand_id(branded) == decimal,
          "a branded id is unbranded so", decimal);
  const auto parts = decode_id(decimal);
  const auto branded_parts = decode_id(branded);
  require(parts.ok() && branded_parts.ok() && *parts == *branded_parts,
          "both forms have the same parts", decimal);
  require(parts->node < 1024 && parts->seq < 4096, "node and sequence are in their ranges");
  require((parts->ms_since_2024 << 22U | std::uint64_t{parts->node} << 12U | parts->seq) == number,
          "the parts make the number", decimal);
  require(parts->unix_ms - kIdEpochMs == static_cast<std::int64_t>(parts->ms_since_2024),
          "both times are the same moment", decimal);
  require(check_any_job_id(decimal).ok(), "there can be a job of a minted id", decimal);
  require(!check_job_id(decimal).ok(), "no custom id is a minted one", decimal);
}

void check_number(std::uint64_t number) {
  const auto decimal = std::to_string(number);
  if (number > kGreatestNumber) {
    require(!is_minted_id(decimal) && !brand_id(decimal).ok() && !decode_id(decimal).ok(),
            "an id is below 2^63", decimal);
    return;
  }
  const auto branded = brand_id(decimal);
  require(branded.ok() && branded->size() == 14, "every number has a branded form", decimal);
  require_same_everywhere(decimal, *branded, number);
}

void check_decimal(const std::string& text) {
  const auto number = minted_number(text);
  require(is_minted_id(text) == number.has_value(), "a minted id is a canonical decimal below 2^63",
          text);
  const auto branded = brand_id(text);
  require(branded.ok() == number.has_value(), "exactly the minted ids can be branded", text);
  if (branded)
    require_same_everywhere(text, *branded, *number);
  else
    require_refusal_of(branded.error(), text);
}

void check_branded(const std::string& text) {
  const bool form =
      text.size() == 14 && text.starts_with("BAT") &&
      std::all_of(text.begin() + 3, text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      });
  require(is_branded_id(text) == form, "a branded id is BAT and 11 digits of base 62", text);
  const auto number = form ? value_of(std::string_view(text).substr(3), 62) : std::nullopt;
  const auto decimal = unbrand_id(text);
  require(decimal.ok() == number.has_value(), "a branded id below 2^63 has a decimal form", text);
  if (decimal)
    require_same_everywhere(*decimal, text, *number);
  else
    require_refusal_of(decimal.error(), text);
}

// Which ids there are: each text is one at most.
void check_kinds(const std::string& text) {
  const auto custom = check_job_id(text);
  const auto any = check_any_job_id(text);
  if (!custom) require_refusal_of(custom.error(), text);
  if (!any) require_refusal_of(any.error(), text);
  require(int{custom.ok()} + int{is_minted_id(text)} + int{is_branded_id(text)} <= 1,
          "an id is of one kind", text);
  require(any.ok() == (custom.ok() || is_minted_id(text)),
          "there can be jobs of minted and of custom ids", text);
  const auto parts = decode_id(text);
  require(parts.ok() == (is_minted_id(text) || unbrand_id(text).ok()),
          "ids of either form have parts", text);
  if (!parts) require_refusal_of(parts.error(), text);
}

}  // namespace

void id(std::string_view input) {
  const std::string text(input);
  check_decimal(text);
  check_branded(text);
  check_kinds(text);
  // Mutations find no 11 digits behind a brand by themselves.
  check_branded("BAT" + text.substr(0, 11));
  std::uint64_t number = 0;
  for (const char c : input.substr(0, 8)) number = number << 8U | static_cast<unsigned char>(c);
  check_number(number);
}

}  // namespace echomq::fuzz
