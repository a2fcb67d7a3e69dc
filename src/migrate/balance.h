// SPDX-License-Identifier: MIT
// Balance: whether the ids that stand in the lists of a queue are those that have a key, in the
// same memory for a thousand of them as for millions. Each id counts in one of many buckets, by its
// hash: with it where it stands, against it where its key is. What is over then lies in the
// buckets that do not come out even, and only the ids of those have to be looked at by name. An id
// that is met twice on one side makes its bucket uneven too, which costs that look and nothing
// else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace echomq::inline v2::migrate {

class Balance {
 public:
  static constexpr std::size_t kBuckets = 65'536;

  static std::uint64_t print_of(std::string_view id) { return std::hash<std::string_view>{}(id); }
  static std::size_t bucket_of(std::string_view id) { return print_of(id) % kBuckets; }

  void stands(std::string_view id) {
    auto& bucket = buckets_[bucket_of(id)];
    bucket.sum += print_of(id);
    ++bucket.standing;
  }
  void has_key(std::string_view id) {
    auto& bucket = buckets_[bucket_of(id)];
    bucket.sum -= print_of(id);
    ++bucket.keys;
  }
  // How many keys of a bucket have to be looked at; 0: all of them stand somewhere.
  [[nodiscard]] std::size_t unsure(std::size_t bucket) const {
    const auto& [sum, standing, keys] = buckets_[bucket];
    return sum == 0 && standing == keys ? 0 : keys;
  }
  // How many of them stand nowhere, at least.
  [[nodiscard]] std::int64_t over(std::size_t bucket) const {
    const auto& [sum, standing, keys] = buckets_[bucket];
    return keys > standing ? keys - standing : 0;
  }

 private:
  struct Bucket {
    std::uint64_t sum = 0;  // of hashes, modulo 2^64
    std::uint32_t standing = 0;
    std::uint32_t keys = 0;
  };
  std::vector<Bucket> buckets_ = std::vector<Bucket>(kBuckets);
};

}  // namespace echomq::inline v2::migrate
