// SPDX-License-Identifier: MIT
// The fixture of the tests of echomq/testing.h: one server of that kind for each suite, emptied
// before each test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "echomq/testing.h"
#include "support/deadline.h"
#include "support/wanted.h"

namespace echomq_test {

namespace mqt = echomq::testing;
using echomq::ErrorCode;
using echomq::Job;
using echomq::JobState;
using echomq::Outcome;
using echomq::test::eventually;
using namespace std::chrono_literals;

class Served : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    mqt::ServerOptions how;
    how.cluster_enabled = echomq::test::clusters_wanted();
    auto started = mqt::Server::start(how);
    ASSERT_TRUE(started) << started.error().message();
    server_.emplace(*std::move(started));
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    ASSERT_TRUE(server_.has_value());
    EXPECT_EQ(mqt::problem(server_->clear()), "");
  }

  static mqt::Server& server() { return *server_; }
  static const echomq::Client& client() { return server_->client(); }

 private:
  inline static std::optional<mqt::Server> server_;
};

// The error of a result; one that no test expects when there is none.
template <class T>
echomq::Error error_of(const echomq::Result<T>& result) {
  return result ? echomq::Error{ErrorCode::protocol, "it succeeded", {}} : result.error();
}

}  // namespace echomq_test
