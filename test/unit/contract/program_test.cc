// SPDX-License-Identifier: MIT
// The program as the build calls it: exit codes, messages, and files that are left alone when
// nothing changed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sample.h"

namespace echomq::inline v2::contract {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;
};

class ContractProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "contract-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    for (const SourceFile& file : sample_set()) write("lua/" + file.path, file.text);
  }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((dir_ / path).parent_path());
    std::ofstream(dir_ / path, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    std::ifstream in(dir_ / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] Outcome run(const std::string& words) const {
    const std::string command =
        "cd '" + dir_.string() + "' && '" ECHOMQ_BIN_DIR "/contract' " + words + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    Outcome outcome;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      outcome.text.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  [[nodiscard]] Outcome generate() const {
    return run("generate lua out/scripts.h out/scripts.cc");
  }

  fs::path dir_;
};

TEST_F(ContractProgram, CheckIsSilentOnAGoodSetAndNamesFileAndLineOtherwise) {
  EXPECT_EQ(run("check lua").code, 0);
  EXPECT_EQ(run("check lua").text, "");
  write("lua/job/sample.lua", with(kJobSample, "'LLEN', KEYS[2]", "'LLEN', 'emq:{q}:wait'"));
  const Outcome bad = run("check lua");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(
      bad.text.find("lua/job/sample.lua:19: the key 'emq:{q}:wait' is written into the script"),
      std::string::npos)
      << bad.text;
}

TEST_F(ContractProgram, GenerateNeedsTheManifestThenWritesBothFiles) {
  EXPECT_NE(generate().text.find("manifest.txt is missing: run ./run manifest"), std::string::npos);
  ASSERT_EQ(run("manifest lua").code, 0);
  EXPECT_TRUE(read("lua/manifest.txt").starts_with("revision 1\njob/sample 3 3 1 0 2 "));
  EXPECT_EQ(generate().code, 0);
  EXPECT_NE(read("out/scripts.h").find("struct JobSample {"), std::string::npos);
  EXPECT_NE(read("out/scripts.cc").find("#include \"scripts.h\""), std::string::npos);
}

TEST_F(ContractProgram, AChangedScriptStopsTheBuildUntilTheManifestSaysSo) {
  ASSERT_EQ(run("manifest lua").code, 0);
  ASSERT_EQ(generate().code, 0);
  const std::string before = read("out/scripts.cc");
  write("lua/job/sample.lua", with(kJobSample, "== 1", "> 0"));
  const Outcome stopped = generate();
  EXPECT_EQ(stopped.code, 1);
  EXPECT_NE(stopped.text.find("script job/sample differs from the manifest"), std::string::npos);
  EXPECT_NE(
      stopped.text.find("raise `revision` in lua/manifest.txt if the change alters behaviour, and "
                        "run ./run manifest"),
      std::string::npos);
  EXPECT_EQ(stopped.text.find("node/sample"), std::string::npos);
  EXPECT_EQ(read("out/scripts.cc"), before);
  write("lua/manifest.txt", with(read("lua/manifest.txt"), "revision 1", "revision 2"));
  ASSERT_EQ(run("manifest lua").code, 0);
  EXPECT_EQ(generate().code, 0);
  EXPECT_NE(read("out/scripts.h").find("kRevision = 2;"), std::string::npos);
}

TEST_F(ContractProgram, AManifestIsNotWrittenForABadSet) {
  write("lua/job/sample.lua", with(kJobSample, "-- USES      fence emit", "-- USES      fence"));
  EXPECT_EQ(run("manifest lua").code, 1);
  EXPECT_FALSE(fs::exists(dir_ / "lua/manifest.txt"));
}

TEST_F(ContractProgram, FilesThatWouldNotChangeAreLeftAlone) {
  ASSERT_EQ(run("manifest lua").code, 0);
  ASSERT_EQ(generate().code, 0);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const char* path : {"out/scripts.h", "out/scripts.cc", "lua/manifest.txt"})
    fs::last_write_time(dir_ / path, long_ago);
  write("lua/job/sample.lua", with(kJobSample, "-- A comment", "-- Another comment"));
  ASSERT_EQ(run("manifest lua").code, 0);
  ASSERT_EQ(generate().code, 0);
  for (const char* path : {"out/scripts.h", "out/scripts.cc", "lua/manifest.txt"})
    EXPECT_EQ(fs::last_write_time(dir_ / path), long_ago) << path;
}

TEST_F(ContractProgram, AnUnknownCallShowsTheUsageAndAMissingFolderIsNamed) {
  EXPECT_EQ(run("").code, 2);
  EXPECT_EQ(run("chek lua").code, 2);
  EXPECT_NE(run("chek lua").text.find("usage: contract check LUA_DIR"), std::string::npos);
  EXPECT_EQ(run("check nowhere").code, 1);
  EXPECT_NE(run("check nowhere").text.find("nowhere is not a folder"), std::string::npos);
  write("lua/manifest.txt", "3\n");
  EXPECT_NE(generate().text.find("the first line must be 'revision N'"), std::string::npos);
}

}  // namespace
}  // namespace echomq::inline v2::contract
