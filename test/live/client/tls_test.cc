// SPDX-License-Identifier: MIT
// TLS: who is trusted, who is refused and in which words, and that jobs get through.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "support/certificates.h"
#include "support/library_test.h"
#include "support/ports.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Tls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    authority_ = std::make_unique<Authority>();
    stranger_ = std::make_unique<Authority>();
    server_ = std::make_unique<TestServer>();
    const auto shown = authority_->issue("server", "DNS:localhost,IP:127.0.0.1");
    auto redis = server_->connect();
    const auto set = redis({"CONFIG", "SET", "tls-cert-file", shown.file, "tls-key-file", shown.key,
                            "tls-ca-cert-file", authority_->file(), "tls-auth-clients", "no"});
    ASSERT_EQ(set.text, "OK");
    address_ = "127.0.0.1:" + std::to_string(open_tls_port(*server_));
  }
  static void TearDownTestSuite() {
    server_.reset();
    stranger_.reset();
    authority_.reset();
  }
  void TearDown() override { redis({"CONFIG", "SET", "tls-auth-clients", "no"}); }

  static std::string url() { return "rediss://" + address_; }
  static ClientOptions trusting() {
    ClientOptions options;
    options.tls.ca_file = authority_->file();
    options.connect_timeout = 10s;
    return options;
  }
  static Error refused(const std::string& where, const ClientOptions& options) {
    return error_of(connect(where, options));
  }

  static inline std::unique_ptr<Authority> authority_;
  static inline std::unique_ptr<Authority> stranger_;
  static inline std::unique_ptr<TestServer> server_;
  static inline std::string address_;
  RawClient redis = server_->connect();
};

TEST_F(Tls, JobsAreAddedAndWorkedThroughIt) {
  auto mq = connect(url(), trusting()).value();
  EXPECT_EQ(mq.url(), url());
  Queue<> queue(mq, unique_queue("tls"));
  std::atomic<int> done{0};
  Worker worker{queue, {.concurrency = 10}, [&](Job<>&) { ++done; }};
  std::vector<NewJob<>> jobs(300, NewJob<>{std::string(2'000, 'x')});
  ASSERT_TRUE(queue.add_bulk(jobs));
  EXPECT_TRUE(eventually([&] { return done == 300; }, 20s));
  ASSERT_TRUE(worker.stop());
  EXPECT_EQ(queue.counts()->completed, 300);
}

TEST_F(Tls, ALargeJobPassesInBothDirections) {
  auto options = trusting();
  options.data_limit = std::size_t{8} << 20;
  auto mq = connect(url(), options).value();
  Queue<> queue(mq, unique_queue("tls"));
  std::string large(std::size_t{6} << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4'099) large[i] = static_cast<char>(i % 251);
  const auto id = queue.add(large);
  ASSERT_TRUE(id) << id.error().message();
  EXPECT_TRUE(queue.job(*id)->data == large);
}

TEST_F(Tls, TheNameOfTheHostMayBeAnotherOne) {
  auto options = trusting();
  options.tls.host_name = "localhost";
  EXPECT_TRUE(connect(url(), options));
  options.tls.host_name = "elsewhere.example";
  const auto error = refused(url(), options);
  EXPECT_EQ(error.code, ErrorCode::tls);
  EXPECT_NE(error.detail.find("ostname mismatch"), std::string::npos) << error.message();
}

TEST_F(Tls, AnUnknownAuthorityIsRefusedAtOnce) {
  auto options = trusting();
  options.connect_timeout = 60s;
  options.tls.ca_file = stranger_->file();
  const auto begun = std::chrono::steady_clock::now();
  const auto error = refused(url(), options);
  EXPECT_EQ(error.code, ErrorCode::tls) << error.message();
  EXPECT_NE(error.detail.find(address_), std::string::npos) << error.message();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s) << "no waiting cures it";
}

TEST_F(Tls, TheSystemsAuthoritiesDoNotKnowATestServer) {
  EXPECT_EQ(refused(url(), {}).code, ErrorCode::tls);
}

TEST_F(Tls, VerifyingMayBeTurnedOff) {
  ClientOptions options;
  options.tls.verify = false;
  EXPECT_TRUE(connect(url(), options));
}

TEST_F(Tls, AServerMayWantACertificate) {
  redis({"CONFIG", "SET", "tls-auth-clients", "yes"});
  const auto error = refused(url(), trusting());
  EXPECT_EQ(error.code, ErrorCode::tls) << error.message();
  EXPECT_NE(error.detail.find("certificate"), std::string::npos) << error.message();

  const auto mine = authority_->issue("client", "DNS:client");
  auto options = trusting();
  options.tls.certificate_file = mine.file;
  options.tls.key_file = mine.key;
  const auto got = connect(url(), options);
  EXPECT_TRUE(got) << got.error().message();
}

TEST_F(Tls, BadFilesAreNamed) {
  const auto expect_named = [](const std::string& file, auto change) {
    auto options = trusting();
    change(options.tls, file);
    const auto error = refused(url(), options);
    EXPECT_EQ(error.code, ErrorCode::tls) << error.message();
    ASSERT_NE(error.field("value"), nullptr) << error.message();
    EXPECT_EQ(*error.field("value"), file);
  };
  const auto mine = authority_->issue("half", "DNS:half");
  const auto other = authority_->issue("other", "DNS:other");
  const Folder folder;
  expect_named(folder.file("none.pem"),
               [](TlsOptions& tls, const std::string& file) { tls.ca_file = file; });
  expect_named(folder.file("none.pem"), [&](TlsOptions& tls, const std::string& file) {
    tls.certificate_file = file;
    tls.key_file = mine.key;
  });
  expect_named(other.key, [&](TlsOptions& tls, const std::string& file) {
    tls.certificate_file = mine.file;
    tls.key_file = file;
  });
}

TEST_F(Tls, AKeyWithAPasswordIsRefusedAndNobodyIsAskedForIt) {
  const auto mine = authority_->issue("secret", "DNS:secret");
  auto options = trusting();
  options.tls.certificate_file = mine.file;
  options.tls.key_file = with_password(mine.key);
  const auto error = refused(url(), options);
  EXPECT_EQ(error.code, ErrorCode::tls) << error.message();
  EXPECT_EQ(*error.field("value"), options.tls.key_file);
}

TEST_F(Tls, ACertificateNeedsItsKey) {
  auto options = trusting();
  options.tls.certificate_file = authority_->file();
  const auto error = refused(url(), options);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
  EXPECT_EQ(*error.field("option"), "tls.key_file");
}

TEST_F(Tls, APlainPortIsNoTlsPort) {
  const auto plain = open_port(*server_);
  auto options = trusting();
  options.connect_timeout = 500ms;  // such a server waits for the end of the line
  const auto error = refused("rediss://127.0.0.1:" + std::to_string(plain), options);
  EXPECT_TRUE(error.code == ErrorCode::timeout || error.code == ErrorCode::unavailable)
      << error.message();
}

TEST_F(Tls, ATlsPortIsNoPlainPort) {
  ClientOptions options;
  options.connect_timeout = 500ms;
  EXPECT_EQ(refused("redis://" + address_, options).code, ErrorCode::connection_lost);
}

TEST_F(Tls, IsTakenUpAgainAfterALoss) {
  auto mq = connect(url(), trusting()).value();
  Queue<> queue(mq, unique_queue("tls"));
  ASSERT_TRUE(queue.add("before"));
  redis({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const auto after = queue.add("after");
  EXPECT_TRUE(after) << after.error().message();
  EXPECT_EQ(queue.counts()->waiting, 2);
}

}  // namespace
}  // namespace echomq::test
