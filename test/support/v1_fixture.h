// SPDX-License-Identifier: MIT
// A small v1 deployment as a real client left it (test/v1/fixtures, made by dump_fixture.mjs), put
// on a server under a prefix of the test's own. So what concerns v1 data is tested where no v1
// client is at hand.
//
//   V1Fixture v1(redis, "measured");
//   const auto before = v1.dump();
//
// Its keys are deleted with it.
#pragma once

#include <string>
#include <vector>

#include "support/dump.h"
#include "support/raw_client.h"

namespace echomq::test {

class V1Fixture {
 public:
  // `which`: "measured", "oldest" or "newest", which have these queues; or "failed_children", which
  // has "mail" and "parts".
  V1Fixture(RawClient& redis, const std::string& which);
  // A deployment that a client made just now under that prefix.
  V1Fixture(RawClient& redis, std::string prefix, std::vector<std::string> queues);
  ~V1Fixture();
  V1Fixture(const V1Fixture&) = delete;
  V1Fixture& operator=(const V1Fixture&) = delete;

  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] const std::vector<std::string>& queues() const { return queues_; }
  [[nodiscard]] std::string key(const std::string& queue, const std::string& suffix) const {
    return prefix_ + ":" + queue + ":" + suffix;
  }
  // Everything under the prefix.
  [[nodiscard]] Dump dump() const;
  // The jobs that stand somewhere at rest.
  [[nodiscard]] std::int64_t jobs() const;

 private:
  RawClient& redis_;
  std::string prefix_;
  std::vector<std::string> queues_;
};

}  // namespace echomq::test
