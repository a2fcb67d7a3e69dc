// SPDX-License-Identifier: MIT
#include "wire/append_only.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "support/folder.h"
#include "wire/command.h"

namespace echomq::wire {
namespace {

std::string said(std::initializer_list<std::string_view> words) {
  std::string bytes;
  append_command(bytes, words);
  return bytes;
}

const std::string kPlain = said({"SET", "a", "1"});
const std::string kWhole = said({"MULTI"}) + said({"RPUSH", "b", "MULTI"}) + said({"exec"});
const std::string kTorn = said({"multi"}) + said({"RPUSH", "b", "2"}) + said({"EXEC"});

TEST(TornTransaction, IsFoundWhereverItWasTorn) {
  const auto before = said({"SELECT", "0"}) + "#TS:1700000000\r\n" + kPlain + kWhole;
  for (std::size_t size = said({"multi"}).size(); size < kTorn.size(); ++size)
    ASSERT_EQ(torn_transaction(before + kTorn.substr(0, size)), before.size()) << size;
  EXPECT_EQ(torn_transaction(before + kTorn), std::nullopt);
}

TEST(TornTransaction, IsNotWhatIsTornOutsideOfOne) {
  for (std::size_t size = 0; size < kPlain.size(); ++size)
    ASSERT_EQ(torn_transaction(kWhole + kPlain.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(torn_transaction(kWhole + "#TS:17000"), std::nullopt);
}

TEST(TornTransaction, IsNotWhatIsWrongOtherwise) {
  for (const std::string wrong : {"garbage", "garbage\r\n", "*x\r\n", "*1\r\n:5\r\n", "*-1\r\n"})
    ASSERT_EQ(torn_transaction(said({"MULTI"}) + wrong + kPlain), std::nullopt) << wrong;
}

TEST(TornTransaction, BeginsAtTheFirstOfTwoThatWereJoined) {
  EXPECT_EQ(torn_transaction(kPlain + said({"MULTI"}) + kPlain + said({"MULTI"}) + kPlain),
            kPlain.size());
}

TEST(NewestFile, IsTheLastIncrementOfTheManifest) {
  EXPECT_EQ(newest_file("file appendonly.aof.2.base.rdb seq 2 type b\n"
                        "file appendonly.aof.1.incr.aof seq 1 type h\n"
                        "file appendonly.aof.2.incr.aof seq 2 type i\n"
                        "file appendonly.aof.3.incr.aof seq 3 type i\n"),
            "appendonly.aof.3.incr.aof");
  EXPECT_EQ(newest_file(""), "");
}

TEST(CutTornTransaction, CutsItAndOnlyIt) {
  const test::Folder folder;
  EXPECT_EQ(cut_torn_transaction(folder.path()).value(), 0U) << "there is no file yet";
  const auto files = folder.path() + "/appendonlydir/";
  std::filesystem::create_directory(files);
  std::ofstream(files + "appendonly.aof.manifest") << "file x.aof seq 1 type i\n";
  EXPECT_EQ(cut_torn_transaction(folder.path()).value(), 0U);
  std::ofstream(files + "x.aof") << kPlain << said({"MULTI"}) << kPlain;
  EXPECT_EQ(cut_torn_transaction(folder.path()).value(), said({"MULTI"}).size() + kPlain.size());
  EXPECT_EQ(cut_torn_transaction(folder.path()).value(), 0U);
  EXPECT_EQ(test::content_of(files + "x.aof"), kPlain);
}

}  // namespace
}  // namespace echomq::wire
