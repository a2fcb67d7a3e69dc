// SPDX-License-Identifier: MIT
// Reading a queue by the library: pages of jobs in either order, counts by priority, who holds
// what.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Pages : public LibraryTest {
 protected:
  // All pages of a state, and how many there were.
  std::vector<std::string> walk(JobState state, PageOptions how) {
    std::vector<std::string> ids;
    pages = 0;
    do {
      auto page = queue.jobs(state, how).value();
      EXPECT_LE(page.jobs.size(), how.limit);
      for (const auto& job : page.jobs) {
        EXPECT_EQ(job.state, state);
        ids.push_back(job.id);
      }
      how.cursor = page.next;
      ++pages;
    } while (!how.cursor.empty() && pages < 1'000);
    return ids;
  }
  void expect_both_orders(JobState state, const std::vector<std::string>& expected) {
    EXPECT_EQ(walk(state, {.limit = 7}), expected);
    auto reversed = expected;
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(walk(state, {.order = PageOrder::descending, .limit = 7}), reversed);
  }
  // Each page that is read until there is none, or too many.
  void walk_pages(JobState state, PageOptions how,
                  const std::function<void(const std::vector<std::string>&)>& each) {
    pages = 0;
    do {
      const auto page = queue.jobs(state, how).value();
      std::vector<std::string> ids;
      for (const auto& job : page.jobs) ids.push_back(job.id);
      how.cursor = page.next;
      each(ids);
      ASSERT_LT(++pages, 1'000) << "it does not end";
    } while (!how.cursor.empty());
  }
  std::vector<std::string> walk_and_remove(JobState state, const PageOptions& how) {
    std::vector<std::string> seen;
    walk_pages(state, how, [&](const std::vector<std::string>& ids) {
      for (const auto& id : ids) {
        seen.push_back(id);
        EXPECT_TRUE(queue.remove(id));
      }
    });
    return seen;
  }
  void expect_all_while_they_are_removed(JobState state, PageOrder order, const JobOptions& of) {
    for (const std::size_t limit : {8U, 100U}) {
      auto expected = add_many(5 * limit + 3, of);
      if (order == PageOrder::descending) std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(walk_and_remove(state, {.order = order, .limit = limit}), expected)
          << name_of_state(state) << ", pages of " << limit;
    }
  }
  void expect_stayed_ones_were_seen(const std::set<std::string>& seen) {
    int missed = 0;
    for (const auto& item : redis({"LRANGE", key_of(Structure::wait), "0", "-1"}).items)
      if (!item.text.empty() && !seen.contains(item.text)) ++missed;
    EXPECT_EQ(missed, 0) << "of " << seen.size() << " that were seen";
  }
  static bool includes(const std::set<std::string>& all, const std::set<std::string>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  }
  static std::string name_of_state(JobState state) { return std::string(echomq::name(state)); }

  int pages = 0;
};

TEST_F(Pages, EachStateInBothOrders) {
  expect_both_orders(JobState::waiting, add_many(30));
  expect_both_orders(JobState::prioritized, add_many(30, {.priority = 3}));
  expect_both_orders(JobState::delayed, add_many(30, {.delay = 1h}));
  EXPECT_EQ(pages, 5);
  EXPECT_TRUE(walk(JobState::failed, {}).empty());
}

TEST_F(Pages, OfFinishedAndActiveJobs) {
  const auto ids = add_many(12);
  Gate gate;
  Worker worker{queue, {.concurrency = 2}, [&](Job<>& job) -> Outcome {
                  const auto number = std::stoi(job.data());
                  if (number >= 10) gate.pass();
                  return number % 2 == 0 ? Outcome::done("fine") : Outcome::fail("odd");
                }};
  ASSERT_TRUE(eventually([&] { return counts().completed + counts().failed == 10; }, 20s));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  const auto failed = queue.jobs(JobState::failed, {.order = PageOrder::descending}).value();
  ASSERT_EQ(failed.jobs.size(), 5U);
  EXPECT_EQ(failed.jobs.front().failed_reason, "odd");
  EXPECT_EQ(failed.jobs.front().attempts_made, 1U);
  EXPECT_GE(failed.jobs.front().finished_ms, failed.jobs.back().finished_ms);
  EXPECT_TRUE(failed.next.empty());
  auto active = walk(JobState::active, {.limit = 1});
  std::sort(active.begin(), active.end());
  EXPECT_EQ(active, (std::vector<std::string>{ids.at(10), ids.at(11)}));
  gate.open();
}

TEST_F(Pages, DataOnlyWhereAskedFor) {
  const auto id = queue.add("payload", {.name = "send"}).value();
  const auto small = queue.jobs(JobState::waiting).value().jobs.at(0);
  EXPECT_EQ(small.id, id);
  EXPECT_EQ(small.name, "send");
  EXPECT_EQ(small.data, "");
  EXPECT_GT(small.added_ms, 0);
  EXPECT_EQ(queue.jobs(JobState::waiting, {.data = true}).value().jobs.at(0).data, "payload");
}

TEST_F(Pages, JobsThatCrashedStandInFront) {
  const auto ids = add_many(3);
  redis({"LREM", key_of(Structure::wait), "1", ids.at(2)});
  redis({"RPUSH", key_of(Structure::crashed), ids.at(2)});
  expect_both_orders(JobState::waiting, {ids.at(2), ids.at(0), ids.at(1)});
}

// P29: nothing is missed or seen twice while the set loses what was shown already.
TEST_F(Pages, P29_ASetThatShrinksBehindThePage) {
  for (const auto order : {PageOrder::ascending, PageOrder::descending}) {
    expect_all_while_they_are_removed(JobState::waiting, order, {});
    expect_all_while_they_are_removed(JobState::prioritized, order, {.priority = 3});
    expect_all_while_they_are_removed(JobState::delayed, order, {.delay = 1h});
  }
}

TEST_F(Pages, P29_FinishedOnesAreRemovedBehindThePage) {
  for (const auto order : {PageOrder::ascending, PageOrder::descending}) {
    add_many(80);
    Worker worker{queue,
                  {.concurrency = 10, .keep_completed = Keep::all(), .stop_when_empty = true},
                  [](Job<>& job) -> Outcome {
                    if (std::stoi(job.data()) % 2 == 0) return Outcome::done();
                    return Outcome::fail("odd");
                  }};
    ASSERT_TRUE(worker.wait(30s));
    for (const auto state : {JobState::completed, JobState::failed}) {
      const auto expected = walk(state, {.order = order});
      EXPECT_EQ(expected.size(), 40U);
      EXPECT_EQ(walk_and_remove(state, {.order = order, .limit = 8}), expected);
    }
  }
}

// All of a page go, or only its last jobs, while those of the pages before stay.
TEST_F(Pages, P29_SomeOfAPageAreRemovedBeforeTheNextOne) {
  for (const auto order : {PageOrder::ascending, PageOrder::descending})
    for (const std::size_t stay : {0U, 1U, 7U, 19U}) {
      auto expected = add_many(400);
      if (order == PageOrder::descending) std::reverse(expected.begin(), expected.end());
      std::vector<std::string> seen;
      int page_number = 0;
      walk_pages(JobState::waiting, {.order = order, .limit = 20},
                 [&](const std::vector<std::string>& ids) {
                   seen.insert(seen.end(), ids.begin(), ids.end());
                   if (++page_number % 2 == 0) return;
                   for (std::size_t i = stay; i < ids.size(); ++i)
                     ASSERT_TRUE(queue.remove(ids.at(i)));
                 });
      EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), expected.size()) << stay;
      EXPECT_LE(seen.size(), 2 * expected.size()) << "few are met again";
      ASSERT_TRUE(queue.remove_all(JobState::waiting));
    }
}

// P29: a worker takes jobs from the front while the pages are read. All that stay are seen.
TEST_F(Pages, P29_AWorkerTakesJobsWhileThePagesAreRead) {
  for (const auto order : {PageOrder::ascending, PageOrder::descending}) {
    const auto ids = add_many(6'000);
    Worker worker{queue, {.concurrency = 20}, [](Job<>&) {}};
    std::set<std::string> seen;
    walk_pages(
        JobState::waiting, {.order = order, .limit = 100},
        [&](const std::vector<std::string>& page) { seen.insert(page.begin(), page.end()); });
    ASSERT_TRUE(queue.pause());
    expect_stayed_ones_were_seen(seen);
    EXPECT_LT(counts().waiting, 6'000) << "the worker took some";
    ASSERT_TRUE(queue.resume());
    ASSERT_TRUE(eventually([&] { return counts().waiting + counts().active == 0; }, 30s));
  }
}

// Jobs that fail come back at the end: those are no place to go on from.
TEST_F(Pages, P29_JobsThatWereShownComeBackAtTheEnd) {
  const auto ids = add_many(300);
  std::set<std::string> seen;
  bool first = true;
  walk_pages(JobState::waiting, {.limit = 20}, [&](const std::vector<std::string>& page) {
    seen.insert(page.begin(), page.end());
    if (!std::exchange(first, false)) return;
    // As a worker does it that takes thirty jobs and fails them.
    std::atomic<int> failed{0};
    Worker worker{queue, {.concurrency = 1}, [&](Job<>&) -> Outcome {
                    if (++failed <= 30) return Outcome::retry_in(0ms);
                    return Outcome::retry_in(1h);
                  }};
    ASSERT_TRUE(eventually([&] { return failed >= 30; }, 20s));
  });
  expect_stayed_ones_were_seen(seen);
}

// Thousands come in front, or leave from there, between two pages.
TEST_F(Pages, P29_TheLineMovesFarBetweenTwoPages) {
  const auto ids = add_many(9'000);
  const auto walked = [&](PageOrder order, const std::function<void()>& between) {
    std::set<std::string> seen;
    int page_number = 0;
    int met = 0;
    walk_pages(JobState::waiting, {.order = order, .limit = 256},
               [&](const std::vector<std::string>& page) {
                 seen.insert(page.begin(), page.end());
                 met += static_cast<int>(page.size());
                 if (++page_number == 20) between();
               });
    EXPECT_LE(met, 15'000) << "few are met again";
    return seen;
  };
  const auto all = [](const std::vector<std::string>& of) {
    return std::set<std::string>(of.begin(), of.end());
  };
  const auto more = [&] { add_many(3'000, {.lifo = true}); };
  EXPECT_TRUE(includes(walked(PageOrder::ascending, more), all(ids)));
  EXPECT_TRUE(includes(walked(PageOrder::descending, more), all(ids)));
  const auto fewer = [&] { redis({"LPOP", key_of(Structure::wait), "7000"}); };
  const std::set<std::string> last(ids.end() - 5'000, ids.end());
  EXPECT_TRUE(includes(walked(PageOrder::ascending, fewer), last));
  EXPECT_TRUE(includes(walked(PageOrder::descending,
                              [&] {
                                redis({"LPOP", key_of(Structure::wait), "3000"});
                              }),
                       last));
}

TEST_F(Pages, AHashThatWasDeletedByHandIsLeftOut) {
  const auto ids = add_many(3);
  redis({"DEL", job_key(name, ids.at(1))});
  EXPECT_EQ(walk(JobState::waiting, {}), (std::vector<std::string>{ids.at(0), ids.at(2)}));
}

TEST_F(Pages, GhostsAreNoJobs) {
  const auto ids = add_many(2'000);
  ASSERT_TRUE(queue.remove(ids.at(1'000)));
  ASSERT_TRUE(queue.remove(ids.at(1'001)));
  EXPECT_EQ(redis({"LLEN", key_of(Structure::wait)}).integer, 2'000);
  auto expected = ids;
  expected.erase(expected.begin() + 1'000, expected.begin() + 1'002);
  EXPECT_EQ(walk(JobState::waiting, {.limit = 256}), expected);
  EXPECT_EQ(counts().waiting, 1'998);
}

TEST_F(Pages, BadLimitsAndCursorsAreRefused) {
  const auto ids = add_many(9, {.delay = 1h});
  for (const std::size_t limit : {0U, 257U}) {
    const auto error = error_of(queue.jobs(JobState::delayed, {.limit = limit}));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(*error.field("value"), std::to_string(limit));
  }
  const auto next = queue.jobs(JobState::delayed, {.limit = 3}).value().next;
  const auto refused = [&](const Result<JobPage>& got) {
    const auto error = error_of(got);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    ASSERT_NE(error.field("value"), nullptr);
  };
  refused(queue.jobs(JobState::failed, {.cursor = next}));
  refused(queue.jobs(JobState::delayed, {.order = PageOrder::descending, .cursor = next}));
  refused(queue.jobs(JobState::delayed, {.cursor = "nonsense"}));
  Queue<> other{client, unique_queue("other")};
  refused(other.jobs(JobState::delayed, {.cursor = next}));
}

TEST_F(Pages, LookingMakesNoQueue) {
  EXPECT_EQ(error_of(queue.jobs(JobState::waiting)).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.counts_by_priority()).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.workers()).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.pause()).code, ErrorCode::not_found);
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0);
}

TEST_F(Pages, CountsByPriority) {
  add_many(4);
  add_many(3, {.priority = 1});
  add_many(2, {.priority = kMaxPriority});
  add_many(1, {.delay = 1h, .priority = 9});
  EXPECT_EQ(queue.counts_by_priority().value(),
            (std::map<unsigned, std::int64_t>{{0, 4}, {1, 3}, {kMaxPriority, 2}}));
  // More priorities than one call tells of.
  std::vector<NewJob<>> jobs;
  for (unsigned priority = 1; priority <= 300; ++priority)
    jobs.push_back({"x", {.priority = priority}});
  ASSERT_TRUE(queue.add_bulk(jobs));
  const auto all = queue.counts_by_priority().value();
  EXPECT_EQ(all.size(), 302U);
  EXPECT_EQ(all.at(1), 4);
  EXPECT_EQ(all.at(300), 1);
}

class Holders : public LibraryTest {};

TEST_F(Holders, EachProcessWithWhatItHolds) {
  const auto ids = add_many(3);
  EXPECT_TRUE(queue.workers().value().empty());
  Gate gate;
  auto other = another();
  Queue<> theirs{other, name};
  Worker here{queue, {.concurrency = 2}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  Worker there{theirs, {}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 3; }, 20s));
  const auto workers = queue.workers().value();
  ASSERT_EQ(workers.size(), 2U);
  std::set<std::string> held;
  for (const auto& worker : workers) {
    const bool ours = worker.node == client.node();
    EXPECT_EQ(worker.node, ours ? client.node() : other.node());
    EXPECT_EQ(worker.jobs.size(), ours ? 2U : 1U);
    EXPECT_TRUE(worker.alive);
    EXPECT_NE(worker.process.find(':'), std::string::npos) << worker.process;
    EXPECT_GT(worker.node_until_ms, client.server_time_ms());
    for (const auto& job : worker.jobs) {
      held.insert(job.id);
      EXPECT_GT(job.lease_until_ms, client.server_time_ms() + 10'000);
      EXPECT_LT(job.lease_until_ms, client.server_time_ms() + 40'000);
    }
  }
  EXPECT_EQ(held, (std::set<std::string>(ids.begin(), ids.end())));
  gate.open();
  EXPECT_TRUE(eventually([&] { return queue.workers().value().empty(); }, 20s));
}

TEST_F(Holders, AProcessThatIsGoneIsNotAlive) {
  add_many(1);
  redis({"ZADD", key_of(Structure::active), "1", "orphan"});
  const auto workers = queue.workers().value();
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers.at(0).node, 0U);
  EXPECT_EQ(workers.at(0).jobs.at(0).id, "orphan");
  EXPECT_LT(workers.at(0).jobs.at(0).lease_until_ms, client.server_time_ms());
}

}  // namespace
}  // namespace echomq::test
