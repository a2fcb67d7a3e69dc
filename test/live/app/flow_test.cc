// SPDX-License-Identifier: MIT
// emq flow: a tree from a file or from stdin, drawn, found stuck, removed.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using nlohmann::json;

class FlowVerbs : public EmqTest {
 protected:
  ~FlowVerbs() override { delete_queue(redis, other); }

  [[nodiscard]] std::string tree() const {
    return json{
        {"queue", name},
        {"name", "report"},
        {"options", {{"id", "june"}, {"attempts", 3}}},
        {"children",
         {{{"queue", other}, {"data", {{"page", 1}}}, {"on_failure", "ignore"}},
          {{"queue", other}, {"text", "as it is"}, {"options", {{"delay", "1h"}, {"id", "two"}}}}}}}
        .dump();
  }

  const std::string other = name + ".other";
};

TEST_F(FlowVerbs, AddFromStdinAndFromAFile) {
  const auto run = emq({"flow", "add", "-"}, {.input = tree()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "june\n");
  EXPECT_EQ(info("june").state, JobState::waiting_children);
  EXPECT_EQ(info("june").options.attempts, 3U);
  EXPECT_EQ(Queue<>(client, other).job("two").value().data, "as it is");
  EXPECT_EQ(emq({"flow", "add", "-"}, {.input = tree()}).code, 6) << "its id is taken";
  std::ofstream(file("tree.json")) << R"({"queue":")" + name + R"("})";
  const auto added = emq({"flow", "add", file("tree.json"), "--json"});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.json().at("children"), json::array());
  EXPECT_EQ(info(added.json().at("id")).state, JobState::waiting);
}

TEST_F(FlowVerbs, AWrongTreeAddsNothingAndIsNamedByItsPath) {
  const auto run = [&](const std::string& child) {
    return emq({"flow", "add", "-", "--json"},
               {.input = R"({"queue":")" + name + R"(","children":[)" + child + "]}"});
  };
  for (const std::string child :
       {R"({"queue":"b","options":{"attempts":0}})", R"({"queue":"b","options":{"odd":1}})",
        R"({"odd":1})", R"({"queue":"b","on_failure":"maybe"})", R"({"queue":7})", "[]", R"({})",
        R"({"queue":"b","children":7})", R"({"queue":"no queue"})"}) {
    const auto refused = run(child);
    EXPECT_EQ(refused.code, 2) << child << refused.err;
    EXPECT_NE(refused.err.find("children[0]"), std::string::npos) << child << refused.err;
  }
  EXPECT_EQ(emq({"flow", "add", "-"}, {.input = "{"}).code, 2);
  EXPECT_EQ(emq({"flow", "add", file("none.json")}).code, 2);
  EXPECT_EQ(error_of(queue.counts()).code, ErrorCode::not_found) << "no queue was made";
}

TEST_F(FlowVerbs, ShowDrawsTheTree) {
  emq({"flow", "add", "-"}, {.input = tree()});
  const auto shown = emq({"flow", "show", name, "june"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out.rfind(name + ":june report  waiting-children  0 of 2 done\n", 0), 0U)
      << shown.out;
  EXPECT_NE(shown.out.find("- " + other + ":two job  delayed\n"), std::string::npos) << shown.out;
  const auto dot = emq({"flow", "show", name, "june", "--dot"}).out;
  EXPECT_EQ(dot.rfind("digraph flow {\n", 0), 0U);
  EXPECT_NE(dot.find("\"" + name + ":june\" -> \"" + other + ":two\";\n"), std::string::npos)
      << dot;
  const auto out = emq({"flow", "show", name, "june", "--json"}).json();
  EXPECT_EQ(out.at("state"), "waiting-children");
  EXPECT_EQ(out.at("counts").at("pending"), 2);
  EXPECT_EQ(out.at("children").size(), 2U);
  EXPECT_EQ(emq({"flow", "show", name, "june", "--depth", "1", "--json"}).json().at("cut"), true);
  EXPECT_EQ(emq({"flow", "show", name, "never"}).code, 5);
  EXPECT_EQ(emq({"flow", "show", name, "june", "--depth", "0"}).code, 2);
  const auto job = emq({"job", other, "two", "--json"}).json();
  EXPECT_EQ(job.at("parent"), (json{{"queue", name}, {"id", "june"}}));
}

// A picture that leaves something out says so.
TEST_F(FlowVerbs, DotTellsWhatWasCut) {
  emq({"flow", "add", "-"}, {.input = tree()});
  const auto whole = emq({"flow", "show", name, "june", "--dot"}).out;
  EXPECT_EQ(whole.find(" more"), std::string::npos) << whole;
  const auto node = "\"" + name + ":june more\"";
  for (const auto& [option, count] : {std::pair{"--children", 1}, std::pair{"--depth", 2}}) {
    const auto dot = emq({"flow", "show", name, "june", "--dot", option, "1"}).out;
    EXPECT_NE(dot.find("  " + node + " [label=\"... " + std::to_string(count) + " more\""),
              std::string::npos)
        << dot;
    EXPECT_NE(dot.find("  \"" + name + ":june\" -> " + node + ";\n"), std::string::npos) << dot;
  }
}

TEST_F(FlowVerbs, StuckTellsWhy) {
  emq({"flow", "add", "-"}, {.input = tree()});
  EXPECT_EQ(emq({"flow", "stuck", name}).out, "");
  redis({"DEL", job_key(other, "two")});
  const auto run = emq({"flow", "stuck", name, "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("stuck").at(0).at("child"), "two");
  EXPECT_NE(emq({"flow", "stuck", name}).out.find("june  since "), std::string::npos);
}

TEST_F(FlowVerbs, RemoveTakesTheWholeTree) {
  emq({"flow", "add", "-"}, {.input = tree()});
  EXPECT_EQ(emq({"flow", "remove", name, "june"}).out, "3 jobs removed\n");
  EXPECT_EQ(emq({"flow", "remove", name, "june"}).code, 5);
  emq({"flow", "add", "-"}, {.input = tree()});
  EXPECT_EQ(emq({"flow", "remove", name, "june", "--json"}).json(),
            (json{{"removed", 3}, {"left", json::array()}}));
}

}  // namespace
}  // namespace echomq::test
