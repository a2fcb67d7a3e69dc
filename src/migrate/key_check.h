// SPDX-License-Identifier: MIT
// Looks whether somebody knows what each key of a v1 queue is. What is not moved would stay behind
// without a word, so a key that is neither a structure of v1 nor of a job or scheduler that stands
// somewhere, or that holds another type than it should, is told; and so is a job that stands in two
// places, of which only one could be moved. It needs no more memory for a queue of millions than
// for a small one: what has to be known by name are the keys that nobody knows yet.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/balance.h"
#include "migrate/link.h"
#include "migrate/reader.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

class KeyCheck {
 public:
  // `job`: as v1 calls it, where it is a job's; empty: it concerns the queue.
  using OnFound = std::function<void(const std::string& job, const std::string& text)>;
  // Called behind each page.
  using OnPage = std::function<Result<void>()>;

  KeyCheck(Link& source, const V1Keys& v1) : source_(source), v1_(v1) {}

  // The structures have to be of their types. Answers whether what stands in them can be read:
  // false where a job's key holds something else than a job.
  Result<bool> run(const OnPage& on_page, const OnFound& found);
  // Afterwards.
  [[nodiscard]] KnownKinds kinds() const { return kinds_; }

 private:
  // A key that nobody knew when it was seen.
  struct Unknown {
    std::string suffix{};
    std::string type{};
  };

  using OnId = std::function<void(std::string_view id)>;

  // All ids that stand somewhere, those of schedulers as "repeat:<member>".
  Result<void> each_listed(const OnId& on_id, const OnPage& on_page);
  Result<void> each_of(const std::string& key, bool list, std::string_view before,
                       const OnId& on_id, const OnPage& on_page);
  Result<void> page(const Replies& keys);
  // For one more that is kept by name.
  [[nodiscard]] bool has_room() const;
  void keep(Unknown key);
  // Looks at the ids that do not balance, as many together as may be kept.
  Result<void> look_at_unsure(const OnPage& on_page);
  Result<void> look_at_buckets(std::size_t begin, std::size_t end, const OnPage& on_page);
  // Takes out the keys of which the lists say what they are.
  Result<void> settle(std::vector<Unknown>& keys, const OnPage& on_page);
  void note_twice(std::string_view id);
  [[nodiscard]] bool is_listed(std::string_view id) const;
  // The type that a key has to have; empty: nobody knows it.
  [[nodiscard]] std::string_view expected(std::string_view suffix) const;
  // The job that a key belongs to.
  [[nodiscard]] std::string_view owner(std::string_view suffix) const;
  Result<void> tell(const Unknown& key, const OnFound& found);
  // False: it stands in one place only.
  Result<bool> tell_twice(const std::string& id, const OnFound& found);

  Link& source_;
  const V1Keys& v1_;
  Balance balance_{};
  std::vector<Unknown> unknown_{};
  // Of the ids that they may belong to: hashes of those that stand somewhere, in order.
  std::vector<std::uint64_t> listed_{};
  std::int64_t more_ = 0;
  std::set<std::string, std::less<>> twice_{};  // ids that were met twice in the lists
  bool more_twice_ = false;                     // than are kept
  bool readable_ = true;
  KnownKinds kinds_{.subs = false, .owners = false};
};

}  // namespace echomq::inline v2::migrate
