// SPDX-License-Identifier: MIT
// The handler of the example, without a queue: published SHA-256 vectors, zlib's own answer for the
// size, and each error.
#include "digest.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

namespace {

class DigestTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/digest-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& content) {
    const auto path = folder_ + "/file";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string folder_;
};

// The length of the zlib stream made in one call, by zlib's simplest interface.
std::uint64_t deflated_at_once(const std::string& content) {
  auto size = compressBound(static_cast<uLong>(content.size()));
  std::string out(size, '\0');
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(out.data()), &size,
               reinterpret_cast<const Bytef*>(content.data()), static_cast<uLong>(content.size())),
      Z_OK);
  return size;
}

TEST_F(DigestTest, KnownVectors) {
  const auto empty = example::digest_file(file("")).value();
  EXPECT_EQ(empty.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(empty.bytes, 0U);
  EXPECT_EQ(empty.deflated, 8U);

  const auto abc = example::digest_file(file("abc")).value();
  EXPECT_EQ(abc.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(abc.bytes, 3U);
  EXPECT_EQ(abc.deflated, deflated_at_once("abc"));

  const auto million = example::digest_file(file(std::string(1'000'000, 'a'))).value();
  EXPECT_EQ(million.sha256, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(million.bytes, 1'000'000U);
}

TEST_F(DigestTest, SizeIsThatOfOneStreamWhateverThePieces) {
  // Longer than a piece, and of every kind: noise that does not shrink, then text that does.
  std::string content;
  unsigned noise = 1;
  for (int i = 0; i < 300'000; ++i) {
    noise = noise * 1'103'515'245U + 12'345U;
    content += static_cast<char>(noise >> 24);
  }
  for (int i = 0; i < 20'000; ++i) content += "line " + std::to_string(i % 100) + "\n";
  const auto digest = example::digest_file(file(content)).value();
  EXPECT_EQ(digest.bytes, content.size());
  EXPECT_EQ(digest.deflated, deflated_at_once(content));
  EXPECT_GT(digest.deflated, 300'000U);
}

TEST_F(DigestTest, MissingFileIsATypedError) {
  const auto path = folder_ + "/nowhere";
  const auto digest = example::digest_file(path);
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().code, echomq::ErrorCode::invalid_argument);
  ASSERT_NE(digest.error().field("value"), nullptr);
  EXPECT_EQ(*digest.error().field("value"), path);
  ASSERT_NE(digest.error().field("reason"), nullptr);
  EXPECT_EQ(*digest.error().field("reason"), "No such file or directory");
}

TEST_F(DigestTest, OnlyRegularFilesAreRead) {
  const auto pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {folder_, pipe}) {
    const auto digest = example::digest_file(path);
    ASSERT_FALSE(digest) << path;
    EXPECT_EQ(digest.error().code, echomq::ErrorCode::invalid_argument);
    EXPECT_EQ(*digest.error().field("reason"), "not a regular file");
  }
}

TEST_F(DigestTest, StopsBetweenPieces) {
  std::stop_source stop;
  stop.request_stop();
  const auto digest = example::digest_file(file("abc"), stop.get_token());
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().code, echomq::ErrorCode::closed);
}

TEST(DigestJson, GoesThereAndBack) {
  using Json = echomq::Codec<example::Digest>;
  const example::Digest digest{"ba78", 3, 11};
  EXPECT_EQ(Json::encode(digest), R"({"bytes":3,"deflated":11,"sha256":"ba78"})");
  EXPECT_EQ(Json::decode(Json::encode(digest)).value(), digest);
  EXPECT_EQ(Json::decode("{}").error().code, echomq::ErrorCode::decode);
}

}  // namespace
