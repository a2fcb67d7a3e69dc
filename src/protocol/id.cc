// SPDX-License-Identifier: MIT
// Ids at the edge: decimal text, base 62 and the brand. Minting is in snowflake.h.
#include "echomq/id.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "base/text.h"
#include "protocol/registry.h"
#include "protocol/snowflake.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kBase62Digits = 11;  // 62^10 < 2^63 < 62^11
constexpr std::size_t kBrandedSize = kIdBrand.size() + kBase62Digits;
constexpr std::uint64_t kMaxId = std::numeric_limits<std::int64_t>::max();

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number > kMaxId)
    return std::nullopt;
  return number;
}

// `digits` are base 62 digits; nullopt when they make 2^63 or more.
std::optional<std::uint64_t> parse_base62(std::string_view digits) noexcept {
  std::uint64_t number = 0;
  for (const char c : digits) {
    const std::uint64_t digit = kDigits.find(c);
    if (number > (kMaxId - digit) / kDigits.size()) return std::nullopt;
    number = number * kDigits.size() + digit;
  }
  return number;
}

constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }

// Three capitals and 11 digits: a branded id of some kind.
bool looks_branded(std::string_view id) noexcept {
  return id.size() == kBrandedSize &&
         std::all_of(id.begin(), id.begin() + kIdBrand.size(), is_capital) &&
         std::all_of(id.begin() + kIdBrand.size(), id.end(), registry::is_base62);
}

Result<std::uint64_t> number_of_branded(std::string_view branded) {
  if (!looks_branded(branded)) {
    return registry::refusal(
        "branded id", branded,
        "is not BAT and 11 digits of base 62 (0-9 A-Z a-z), as in BAT0KHTOWnGLuC");
  }
  const std::string_view brand = branded.substr(0, kIdBrand.size());
  if (brand != kIdBrand) {
    Error error = registry::refusal("branded id", branded,
                                    "is of the namespace " + std::string(brand) +
                                        "; a job id is of the namespace BAT. Give the id of a job");
    error.fields.emplace_back("brand", brand);
    error.fields.emplace_back("expected", kIdBrand);
    return error;
  }
  if (const auto number = parse_base62(branded.substr(kIdBrand.size()))) return *number;
  return registry::refusal(
      "branded id", branded,
      "stands for a number of 2^63 or more; the greatest id is BATAzL8n0Y58m7");
}

constexpr std::string_view kNotDecimal =
    "is not the decimal form of a number below 2^63 without leading zeros, as in "
    "274557032793636864";

}  // namespace

Result<std::string> brand_id(std::string_view decimal) {
  auto number = parse_decimal(decimal);
  if (!number) return registry::refusal("id", decimal, kNotDecimal);
  std::string branded(kBrandedSize, '0');
  branded.replace(0, kIdBrand.size(), kIdBrand);
  for (std::size_t at = kBrandedSize; *number > 0; *number /= kDigits.size())
    branded[--at] = kDigits[*number % kDigits.size()];
  return branded;
}

Result<std::string> unbrand_id(std::string_view branded) {
  auto number = number_of_branded(branded);
  if (!number) return number.error();
  return std::to_string(*number);
}

Result<IdParts> decode_id(std::string_view decimal_or_branded) {
  const auto decimal = parse_decimal(decimal_or_branded);
  const bool digits_only =
      std::all_of(decimal_or_branded.begin(), decimal_or_branded.end(), is_digit);
  if (!decimal && (digits_only || !looks_branded(decimal_or_branded))) {
    return registry::refusal(
        "id", decimal_or_branded,
        "is neither decimal (274557032793636864) nor branded (BAT0KHTOWnGLuC)");
  }
  std::uint64_t number = decimal.value_or(0);
  if (!decimal) {
    auto branded = number_of_branded(decimal_or_branded);
    if (!branded) return branded.error();
    number = *branded;
  }
  const std::uint64_t ms = number >> kMsShift;
  return IdParts{ms, kIdEpochMs + static_cast<std::int64_t>(ms),
                 static_cast<unsigned>(number >> kNodeShift) & kMaxNode,
                 static_cast<unsigned>(number) & kMaxSeq};
}

bool is_minted_id(std::string_view id) noexcept { return parse_decimal(id).has_value(); }

bool is_branded_id(std::string_view id) noexcept {
  return looks_branded(id) && id.substr(0, kIdBrand.size()) == kIdBrand;
}

}  // namespace echomq::inline v2
