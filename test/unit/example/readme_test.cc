// SPDX-License-Identifier: MIT
// The program that the README shows is the one in example/hello.cc, which other tests run.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(std::string(ECHOMQ_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path << " cannot be read";
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Readme, ShowsTheTestedProgram) {
  const std::string begin = "// [readme]\n";
  const std::string end = "// [/readme]\n";
  const auto hello = content_of("example/hello.cc");
  const auto from = hello.find(begin);
  const auto to = hello.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const auto program = hello.substr(from + begin.size(), to - from - begin.size());
  EXPECT_NE(content_of("README.md").find("```cpp\n" + program + "```"), std::string::npos)
      << "README.md must show, as a ```cpp block of its own:\n"
      << program;
}

}  // namespace
