// SPDX-License-Identifier: MIT
// Looking at what was enqueued: typed, in the order of the runs, and with errors that list what is
// there instead of what was looked for.
#include <string>
#include <vector>

#include "live/testing/letter.h"
#include "live/testing/served.h"

namespace echomq_test {
namespace {

using echomq::Queue;

class Enqueued : public Served {
 protected:
  Queue<Letter> letters{client(), "letters"};
};

TEST_F(Enqueued, TypedSnapshotsInTheOrderOfTheirRuns) {
  letters.add({"late", 1}, {.delay = 1h, .name = "remind"}).value();
  letters.add({"last", 2}, {.attempts = 3, .priority = 5}).value();
  const auto id = letters.add({"first", 3}, {.id = "mine"}).value();
  const auto jobs = mqt::enqueued(letters).value();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].id, id);
  EXPECT_EQ(jobs[0].data.to, "first");
  EXPECT_EQ(jobs[1].data.copies, 2);
  EXPECT_EQ(jobs[1].options.attempts, 3U);
  EXPECT_EQ(jobs[1].options.priority, 5U);
  EXPECT_EQ(jobs[1].state, JobState::prioritized);
  EXPECT_EQ(jobs[2].name, "remind");
  EXPECT_EQ(jobs[2].options.delay, 1h);
  EXPECT_EQ(jobs[2].due_ms - jobs[2].added_ms, 3'600'000);
}

TEST_F(Enqueued, NothingIsNoError) {
  EXPECT_TRUE(mqt::enqueued(letters).value().empty());
  EXPECT_EQ(mqt::problem(mqt::expect_enqueued(letters, 0)), "");
  EXPECT_EQ(mqt::problem(mqt::expect_enqueued(letters, 1)),
            "wrong_state: 0 jobs of \"letters\" are it, not 1; nothing is enqueued");
}

TEST_F(Enqueued, MoreThanAPage) {
  std::vector<echomq::NewJob<Letter>> many;
  for (int i = 0; i < 250; ++i) many.push_back({{"x", i}, {}});
  letters.add_bulk(many).value();
  const auto jobs = mqt::enqueued(letters).value();
  ASSERT_EQ(jobs.size(), 250U);
  EXPECT_EQ(jobs[249].data.copies, 249);
  const auto lines = mqt::problem(mqt::expect_enqueued(letters, 1));
  EXPECT_NE(lines.find("\n  and 230 more"), std::string::npos) << lines;
}

TEST_F(Enqueued, FindsAndCountsByAPredicate) {
  letters.add_bulk({{{"ada", 1}, {}}, {{"bob", 2}, {}}, {{"bob", 3}, {}}}).value();
  const auto to_bob = [](const mqt::EnqueuedJob<Letter>& job) { return job.data.to == "bob"; };
  EXPECT_EQ(mqt::find_enqueued(letters, to_bob).value().data.copies, 2);
  EXPECT_EQ(mqt::problem(mqt::expect_enqueued(letters, 2, to_bob)), "");
  Queue<> texts{client(), "texts"};
  texts.add("hello").value();
  EXPECT_EQ(mqt::find_enqueued(texts, "hello").value().name, "job");
  EXPECT_EQ(error_of(mqt::find_enqueued(texts, "bye")).code, ErrorCode::not_found);
}

TEST_F(Enqueued, AnErrorListsWhatIsThere) {
  const auto id = letters.add({"ada", 1}, {.attempts = 3, .delay = 1s, .name = "send"}).value();
  const auto nobody = [](const auto& job) { return job.data.to == "bob"; };
  EXPECT_EQ(mqt::problem(mqt::find_enqueued(letters, nobody)),
            "not_found: no job of \"letters\" is it; 1 job is enqueued:\n  " + id +
                " \"send\" delayed, delay 1000 ms, attempts 3: {\"copies\":1,\"to\":\"ada\"}");
  Queue<> bytes{client(), "bytes"};
  bytes.add(std::string("\0\x7f", 2) + std::string(300, 'x')).value();
  const auto shown = mqt::problem(mqt::expect_enqueued(bytes, 2));
  EXPECT_NE(shown.find(": \\x00\\x7fxxx"), std::string::npos) << shown;
  EXPECT_NE(shown.find("x... (302 bytes)"), std::string::npos) << shown;
}

TEST_F(Enqueued, DataOfAnotherTypeNamesTheJob) {
  const auto id = letters.raw().add(R"({"to":"ada"})", {}).value();
  const auto error = error_of(mqt::enqueued(letters));
  EXPECT_EQ(error.code, ErrorCode::decode);
  EXPECT_EQ(error.detail, "job " + id + " of \"letters\": /copies is missing");
  EXPECT_EQ(*error.field("id"), id);
  EXPECT_EQ(*error.field("path"), "/copies");
}

}  // namespace
}  // namespace echomq_test
