// SPDX-License-Identifier: MIT
// Replays the corpora of the fuzz targets: what must hold for any bytes holds for the inputs that
// are known, those that once broke something among them, and for all their beginnings.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/target.h"

namespace echomq::fuzz {

static void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

namespace fs = std::filesystem;

const fs::path kCorpora = fs::path(ECHOMQ_SOURCE_DIR) / "test/fuzz/corpus";

std::vector<fs::path> corpus_of(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kCorpora / target)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, HoldsForEachInputAndItsBeginnings) {
  const auto files = corpus_of(GetParam().name);
  EXPECT_GE(files.size(), 10U);
  for (const auto& file : files) {
    const auto input = bytes_of(file);
    EXPECT_LE(input.size(), 4'096U) << file << ": ./run fuzz does not read longer ones";
    for (std::size_t size = 0; size <= input.size(); ++size) {
      // A copy of its own, so that AddressSanitizer sees a read past its end.
      const std::vector<char> beginning(input.begin(),
                                        input.begin() + static_cast<std::ptrdiff_t>(size));
      try {
        GetParam().run({beginning.data(), beginning.size()});
      } catch (const std::exception& failure) {
        ADD_FAILURE() << file << ", the first " << size << " bytes: " << failure.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FuzzTargets, EachHasACorpusAndADictionary) {
  std::set<std::string> named;
  for (const auto& target : kTargets) {
    named.emplace(target.name);
    EXPECT_TRUE(fs::exists(kCorpora.parent_path() / (std::string(target.name) + ".dict")))
        << target.name;
  }
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kCorpora))
    folders.insert(entry.path().filename().string());
  EXPECT_EQ(folders, named);
}

TEST(FuzzTargets, ABrokenPropertyIsTold) {
  try {
    require(false, "two is three", "2");
    ADD_FAILURE() << "nothing was told";
  } catch (const Broken& broken) {
    EXPECT_STREQ(broken.what(), "broken: two is three; found: 2");
  }
}

}  // namespace
}  // namespace echomq::fuzz
