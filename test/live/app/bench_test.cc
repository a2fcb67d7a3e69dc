// SPDX-License-Identifier: MIT
// `emq bench` as a whole, with few jobs and without the peer, which needs packages of another
// language: that every row is measured, not how fast.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "bench/results.h"
#include "support/emq_run.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class BenchVerb : public EmqTest {
 protected:
  void SetUp() override {
    if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  }
  EmqRun bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "--quick", "--without-peer"});
    return EmqProcess(arguments, how()).wait(300s);
  }
};

TEST_F(BenchVerb, EveryRowIsMeasuredInBothSettings) {
  const auto run = bench({"--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const auto json = run.json();
  EXPECT_EQ(json.at("repeats"), 1);
  EXPECT_EQ(json.at("quick"), true);
  EXPECT_EQ(json.at("complete"), true);
  std::map<std::string, std::set<std::string>> rows;
  for (const auto& row : json.at("rows")) {
    const auto name_of_row = row.at("row").get<std::string>();
    rows[row.at("persistence").get<std::string>() + " " + row.at("subject").get<std::string>()]
        .insert(name_of_row);
    EXPECT_FALSE(row.at("unit").get<std::string>().empty());
    EXPECT_GE(row.at("median").get<double>(), 0) << name_of_row;
    if (name_of_row != "idle_commands") {
      EXPECT_GT(row.at("median").get<double>(), 0) << name_of_row;
    }
    EXPECT_LE(row.at("min").get<double>(), row.at("max").get<double>()) << name_of_row;
    EXPECT_EQ(row.at("samples").size(), 1U) << name_of_row;
  }
  for (const auto* persistence : {"off", "everysec"}) {
    const auto& ours = rows[std::string(persistence) + " ours"];
    for (const auto& kind : ::bench::row_kinds()) {
      // Half of the peer's load is nothing without the peer; what takes minutes wants to be named.
      const bool is_left_out =
          kind.row.starts_with("latency_same") || kind.row.starts_with("large_");
      EXPECT_EQ(ours.contains(std::string(kind.row)), !is_left_out) << kind.row;
    }
    EXPECT_EQ(rows[std::string(persistence) + " floor"],
              (std::set<std::string>{"bulk_add", "memory_per_job"}));
    EXPECT_TRUE(rows[std::string(persistence) + " peer"].empty());
  }
  for (const auto* ratio : {"bulk_add_vs_peer", "concurrent_add_vs_peer", "process_vs_peer",
                            "process_c1_vs_peer", "latency_p50_vs_peer", "latency_p99_vs_peer"})
    EXPECT_TRUE(json.at("ratios").at(ratio).is_null()) << ratio;
  for (const auto* persistence : {"off", "everysec"}) {
    const auto& ratios = json.at("ratios_by_persistence").at(persistence);
    EXPECT_GT(ratios.at("bulk_add_vs_floor").get<double>(), 0);
    EXPECT_GT(ratios.at("memory_per_job_vs_floor").get<double>(), 0.5);
    EXPECT_LT(ratios.at("memory_per_job_vs_floor").get<double>(), 2);
  }
}

TEST_F(BenchVerb, TheTableIsWrittenBetweenTheMarks) {
  const auto document = file("page.md");
  std::ofstream(document) << "above\n" << ::bench::kBeginMark << "\n" << ::bench::kEndMark << "\n";
  const auto run = bench({"--rows", "bulk_add", "--persistence", "off", "--write", document});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto page = content_of(document);
  EXPECT_TRUE(page.starts_with("above\n"));
  EXPECT_NE(page.find(run.out), std::string::npos) << page;
  EXPECT_NE(run.out.find("| bulk add, 1,000 a call | jobs/s |"), std::string::npos) << run.out;
}

TEST_F(BenchVerb, ServersWithDataOrElsewhereAreRefused) {
  add({"precious"});
  const auto full = bench({"--url", server.url()});
  EXPECT_EQ(full.code, 2) << full.err;
  EXPECT_NE(full.err.find("--erase"), std::string::npos) << full.err;
  EXPECT_EQ(counts().waiting, 1);
  // Refused before anything is sent there.
  const auto elsewhere = bench({"--url", "redis://bench.invalid:6379"});
  EXPECT_EQ(elsewhere.code, 2) << elsewhere.err;
  EXPECT_NE(elsewhere.err.find("not on this machine"), std::string::npos) << elsewhere.err;
}

TEST_F(BenchVerb, ANamedServerIsMeasuredAsItIs) {
  TestServer own({.cluster = false});
  const auto run = bench({"--url", own.url(), "--rows", "idle_commands", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("rows").at(0).at("persistence"), "as found");
}

TEST_F(BenchVerb, BadOptionsExit2) {
  const std::vector<std::vector<std::string>> lines{{"--nonsense"},
                                                    {"--repeats", "0"},
                                                    {"--repeats", "many"},
                                                    {"--persistence", "on"},
                                                    {"--rows", "bulk_add,bulkadd"},
                                                    {"--write", file("none")},
                                                    {"--url", "http://localhost"},
                                                    {"--subject", "ours"},
                                                    {"--erase"}};
  for (const auto& line : lines) {
    const auto run = bench(line);
    EXPECT_EQ(run.code, 2) << line.front() << run.err;
    EXPECT_EQ(run.out, "");
  }
  const auto no_peer = emq({"bench", "--quick", "--peer", file("nowhere"), "--json"});
  EXPECT_EQ(no_peer.code, 2);
  EXPECT_EQ(no_peer.error().at("option"), "--peer");
}

}  // namespace
}  // namespace echomq::test
