// SPDX-License-Identifier: MIT
// The tests of the scripts: gtest's main, and a last check over the run as a whole. When all tests
// ran (no filter, no shard), every status and every class word that lua/manifest.txt declares must
// have been observed; what is missing fails the run by name.
#include <gtest/gtest.h>

#include <string>

#include "probe/observed.h"

namespace {

class ManifestWasObserved : public testing::Environment {
 public:
  void TearDown() override {
    const auto& unit = *testing::UnitTest::GetInstance();
    if (unit.test_to_run_count() != unit.total_test_count() - unit.disabled_test_count()) return;
    std::string gaps;
    for (const auto& gap : echomq::probe::Observed::of_process().gaps()) gaps += "  " + gap + "\n";
    EXPECT_TRUE(gaps.empty()) << "the scripts and what the tests saw of them differ:\n" << gaps;
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new ManifestWasObserved);  // gtest owns it
  return RUN_ALL_TESTS();
}
