// SPDX-License-Identifier: MIT
// Kill at every step: the process that adds a flow, ends a child, removes or retries one is cut off
// for good after each of its commands in turn. What it has not done, others do, and every parent is
// released or failed exactly once.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos.h"
#include "client/client_core.h"
#include "echomq/flow.h"
#include "probe/script_queue.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// The scripts that are lost are counted by the way in which they are called once the server knows
// them.
constexpr const char* kAnyScript = "EVALSHA";

class KilledFlow : public Chaos {
 protected:
  ~KilledFlow() override {
    for (const auto& word : {"a", "b", "c"}) delete_queue(redis, named(word));
  }

  [[nodiscard]] std::string named(const std::string& word) const { return name + "." + word; }
  Counts of(const std::string& word) { return Queue<>(client, named(word)).counts().value_or({}); }
  std::optional<JobState> state(const std::string& word, const std::string& id) {
    const auto job = Queue<>(client, named(word)).job(id);
    return job ? std::optional(job->state) : std::nullopt;
  }

  // A root in `a`, children in `b` and `c`, one of which has a child in `a`.
  [[nodiscard]] FlowJob tree() const {
    return {.queue = named("a"),
            .options = {.id = "root"},
            .children = {{.queue = named("b"),
                          .options = {.id = "left"},
                          .children = {{.queue = named("a"), .options = {.id = "leaf"}}}},
                         {.queue = named("c"), .options = {.id = "right"}},
                         {.queue = named("c"), .options = {.id = "other"}}}};
  }

  // Whatever was cut off, a client with a clock far enough ahead and workers for all queues goes
  // on.
  class Rescue {
   public:
    Rescue(KilledFlow& test, std::chrono::milliseconds ahead) : client_(test.another()) {
      for (const auto* const word : {"a", "b", "c"}) {
        queues_.push_back(std::make_unique<Queue<>>(client_, test.named(word)));
        auto how = steady();
        how.lease = 2s;
        workers_.push_back(std::make_unique<Worker>(*queues_.back(), how,
                                                    [this](Job<>& job) { runs.note(job.id()); }));
      }
      set_ahead(ahead);
    }
    void set_ahead(std::chrono::milliseconds ahead) {
      const auto core = client_.core();
      std::promise<void> done;
      core->loop().post([&] {
        core->jump(ahead);
        done.set_value();
      });
      done.get_future().wait();
    }

    Runs runs{};

   private:
    Client client_;
    std::vector<std::unique_ptr<Queue<>>> queues_;
    std::vector<std::unique_ptr<Worker>> workers_;
  };

  // A process does `act` and is cut off at one step more each time, until it goes through, which
  // has to be within so many. `round` stands around it, and calls `go` when it may begin. Answers
  // how many steps there were.
  template <class Act, class Round>
  std::size_t at_every_step(Loss loss, std::size_t most, Act act, Round round) {
    std::size_t step = 0;
    bool went_through = false;
    const auto go = [&] {
      const auto lost_before = proxy.lost(kAnyScript);
      {
        auto process = far();
        cut_off(loss, kAnyScript, step);
        act(Flows(process));
        process.close();
      }
      went_through = proxy.lost(kAnyScript) == lost_before;
      proxy.pass();
    };
    for (; step < most && !went_through; ++step) {
      round(step, go);
      if (HasFailure()) return step;
      clear();
    }
    EXPECT_TRUE(went_through) << "it has more steps than this test knows of";
    return step;
  }

  template <class Round>
  void at_every_step_of_a_removal(Round round) {
    for (const auto loss : {Loss::command, Loss::answer}) {
      const auto remove = [this](Flows flows) { (void)flows.remove(named("a"), "root"); };
      const auto steps = at_every_step(loss, 20, remove, round);
      if (HasFailure()) return;
      EXPECT_GT(steps, 3U) << "it is cut off at fewer places than it has";
    }
  }

  // Fields of the outboxes that hold this.
  std::size_t fields(const std::string& part) {
    std::size_t count = 0;
    for (const auto* const word : {"a", "b", "c"})
      for (const auto& field : texts(redis({"HKEYS", key(named(word), Structure::outbox)})))
        count += field.find(part) == std::string::npos ? 0 : 1;
    return count;
  }
  std::size_t messages() { return fields(" "); }

  // What was recorded is added, each job once; what was not is given up, and nothing of it is
  // there. Answers which.
  bool expect_whole_or_nothing(std::size_t step, bool told_so) {
    Rescue rescue(*this, 90s);
    const auto settled = [&] {
      for (const auto& field : texts(redis({"HKEYS", key(named("a"), Structure::outbox)})))
        if (field.starts_with("flow:")) return false;
      return true;
    };
    EXPECT_TRUE(eventually(settled, 30s)) << "step " << step;
    if (!state("a", "root")) {
      for (const auto* const word : {"a", "b", "c"}) {
        const auto now = of(word);
        EXPECT_EQ(now.waiting + now.waiting_children + now.active + now.completed, 0)
            << word << " at step " << step;
      }
      EXPECT_FALSE(told_so) << "step " << step;
      return false;
    }
    EXPECT_TRUE(all_done(rescue)) << "step " << step << " " << log.text();
    for (const auto* const id : {"root", "left", "right", "other", "leaf"})
      EXPECT_EQ(rescue.runs.times(id), 1) << id << " at step " << step;
    return true;
  }

  // The next command of this kind is the last one that the process behind the proxy ever says.
  void cut_off(Loss loss, const std::string& what, std::size_t after = 0) {
    proxy.lose(loss, what, {.after = after, .shut = true});
  }
  void clear() {
    proxy.pass();
    for (const auto* const word : {"a", "b", "c"}) delete_queue(redis, named(word));
  }
  bool all_done(const Rescue& rescue) {
    return eventually(
        [&] { return rescue.runs.times("root") > 0 && state("a", "root") == JobState::completed; },
        30s);
  }
};

// Before its plan is sealed nothing of a flow is there; after, all of it runs, each job once.
TEST_F(KilledFlow, P21_ItsCreatorAtEveryStep) {
  {
    auto warm = another();
    ASSERT_TRUE(Flows(warm).add(tree()));  // the scripts are known
  }
  clear();
  for (const auto loss : {Loss::command, Loss::answer}) {
    std::size_t given_up = 0;
    bool added = false;
    const auto add = [&](Flows flows) { added = flows.add(tree()).ok(); };
    const auto steps = at_every_step(loss, 40, add, [&](std::size_t step, const auto& go) {
      added = false;
      go();
      given_up += expect_whole_or_nothing(step, added) ? 0 : 1;
    });
    if (HasFailure()) return;
    EXPECT_GT(steps, 7U) << "it is cut off at fewer places than it has";
    EXPECT_GT(given_up, 0U);
    EXPECT_LT(given_up, steps);
  }
}

class KilledAtAnEnd : public KilledFlow {
 protected:
  // The parent of a child in `b`.
  void begin() {
    ASSERT_TRUE(
        Flows(client).add({.queue = named("a"),
                           .options = {.id = "root"},
                           .children = {{.queue = named("b"), .options = {.id = "left"}}}}));
  }
  // Works the child behind the proxy until something was lost, and is gone then.
  void work_until_cut_off(Loss loss, const std::string& what, const Outcome& outcome) {
    const auto lost_before = proxy.lost(what);
    cut_off(loss, what);
    auto worker_client = far();
    Queue<> far_queue{worker_client, named("b")};
    auto how = steady(1);
    how.lease = 2s;
    Worker worker{far_queue, how, [&](Job<>&) { return outcome; }};
    EXPECT_TRUE(eventually([&] { return proxy.lost(what) > lost_before; }, kResumes)) << what;
    worker_client.close();
  }
};

// Each script of the last step, lost before and after the server ran it.
TEST_F(KilledAtAnEnd, P21_OfTheLastChildThatCompletes) {
  for (const auto* const what : {"job/finish", "flow/settle", "flow/delivered"})
    for (const auto loss : {Loss::command, Loss::answer}) {
      begin();
      work_until_cut_off(loss, what, Outcome::done("result"));
      proxy.pass();
      {
        Rescue rescue(*this, 60s);
        ASSERT_TRUE(all_done(rescue)) << what << log.text();
        EXPECT_EQ(rescue.runs.times("root"), 1) << what;
        const bool told = !(loss == Loss::command && std::string(what) == "job/finish");
        EXPECT_EQ(rescue.runs.times("left"), told ? 0 : 1) << what;
        EXPECT_EQ(Flows(client).child_counts(named("a"), "root").value().completed, 1);
      }
      clear();
    }
}

TEST_F(KilledAtAnEnd, P21_OfTheLastChildThatFails) {
  for (const auto* const what : {"job/finish", "flow/settle", "flow/delivered"})
    for (const auto loss : {Loss::command, Loss::answer}) {
      if (loss == Loss::command && std::string(what) == "job/finish")
        continue;  // it runs once more
      begin();
      work_until_cut_off(loss, what, Outcome::unrecoverable("it broke"));
      proxy.pass();
      {
        Rescue rescue(*this, 60s);
        ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s))
            << what;
        EXPECT_EQ(rescue.runs.size(), 0U) << what;
      }
      clear();
    }
}

// Its worker died too often, and whoever found that dies while it tells.
TEST_F(KilledAtAnEnd, P21_OfAChildThatCrashedTooOften) {
  for (const auto* const what : {"job/recover", "flow/settle", "flow/delivered"}) {
    begin();
    ScriptQueue by_hand(redis, named("b"));
    by_hand.now = client.server_time_ms() - 60'000;
    ASSERT_EQ(by_hand.claim(1, {.lease_ms = 2'000}).runs.size(), 1U);
    {
      const auto lost_before = proxy.lost(what);
      cut_off(Loss::answer, what);
      auto worker_client = far();
      Queue<> far_queue{worker_client, named("b")};
      auto how = steady(1);
      how.lease = 2s;
      how.max_crashes = 0;
      Worker worker{far_queue, how, [](Job<>&) {}};
      EXPECT_TRUE(eventually([&] { return proxy.lost(what) > lost_before; }, 2 * kResumes)) << what;
      worker_client.close();
    }
    proxy.pass();
    {
      Rescue rescue(*this, 60s);
      ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s)) << what;
      EXPECT_EQ(rescue.runs.size(), 0U) << what;
    }
    clear();
  }
}

// From outside: the process that removes or retries a child.
TEST_F(KilledAtAnEnd, P21_OfAChildThatIsRemovedOrRetried) {
  struct Case {
    bool removes;
    const char* what;
  };
  for (const auto& [removes, what] :
       {Case{true, "job/remove"}, Case{true, "flow/settle"}, Case{true, "flow/delivered"},
        Case{false, "job/retry_finished"}, Case{false, "flow/settle"},
        Case{false, "flow/delivered"}}) {
    begin();
    if (!removes) {
      Queue<> own{client, named("b")};
      Worker worker{own, steady(1), [](Job<>&) { return Outcome::unrecoverable("once"); }};
      ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, kResumes));
    }
    {
      auto actor = far();
      Queue<> far_queue{actor, named("b")};
      ASSERT_TRUE(far_queue.open());
      const auto lost_before = proxy.lost(what);
      cut_off(Loss::answer, what);
      (void)(removes ? far_queue.remove("left") : far_queue.retry("left"));
      EXPECT_EQ(proxy.lost(what), lost_before + 1) << what;
      actor.close();
    }
    proxy.pass();
    {
      Rescue rescue(*this, 60s);
      if (removes) {
        ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s))
            << what;
        EXPECT_EQ(rescue.runs.size(), 0U);
      } else {
        ASSERT_TRUE(all_done(rescue)) << what << log.text();
        EXPECT_EQ(rescue.runs.times("root"), 1);
      }
    }
    clear();
  }
}

// A failure that goes up: each parent on the way tells its own, and the process may die between any
// two of these.
TEST_F(KilledAtAnEnd, P21_OfAGrandchildThatFails) {
  struct Case {
    const char* what;
    std::size_t after;
  };
  for (const auto& [what, after] :
       {Case{"job/finish", 0}, Case{"flow/settle", 0}, Case{"flow/settle", 1},
        Case{"flow/delivered", 0}, Case{"flow/delivered", 1}})
    for (const auto loss : {Loss::command, Loss::answer}) {
      if (loss == Loss::command && std::string(what) == "job/finish")
        continue;  // it runs once more
      const auto where = std::string(what) + " after " + std::to_string(after);
      ASSERT_TRUE(Flows(client).add(
          {.queue = named("a"),
           .options = {.id = "root"},
           .children = {{.queue = named("b"),
                         .options = {.id = "middle"},
                         .children = {{.queue = named("c"), .options = {.id = "leaf"}}}}}}));
      {
        const auto lost_before = proxy.lost(what);
        cut_off(loss, what, after);
        auto worker_client = far();
        Queue<> far_queue{worker_client, named("c")};
        Worker worker{far_queue, steady(1), [](Job<>&) { return Outcome::unrecoverable("no"); }};
        EXPECT_TRUE(eventually([&] { return proxy.lost(what) > lost_before; }, kResumes)) << where;
        worker_client.close();
      }
      proxy.pass();
      {
        Rescue rescue(*this, 60s);
        ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s))
            << where << log.text();
        EXPECT_EQ(state("b", "middle"), JobState::failed) << where;
        EXPECT_TRUE(eventually([&] { return messages() == 0; }, 30s)) << where;
        EXPECT_EQ(rescue.runs.size(), 0U) << where;
      }
      clear();
      if (HasFailure()) return;
    }
}

// A handler that gives its job children and then lets it wait for them.
class KilledHandler : public KilledFlow {
 protected:
  // Works the root until something was lost, and is gone then.
  void work_until_cut_off(Loss loss, const std::string& what) {
    ASSERT_TRUE(Queue<>(client, named("a")).add("x", {.id = "root"}));
    for (const auto* const word : {"b", "c"}) ASSERT_TRUE(Queue<>(client, named(word)).open());
    const auto lost_before = proxy.lost(what);
    cut_off(loss, what);
    auto worker_client = far();
    Queue<> far_queue{worker_client, named("a")};
    auto how = steady(1);
    how.lease = 2s;
    Worker worker{far_queue, how, [&](Job<>& job) {
                    const auto added =
                        job.add_children({{.queue = named("b"), .options = {.id = "left"}},
                                          {.queue = named("c"), .options = {.id = "right"}}});
                    return added ? Outcome::wait_for_children() : Outcome::fail("not added");
                  }};
    EXPECT_TRUE(eventually([&] { return proxy.lost(what) > lost_before; }, kResumes)) << what;
    worker_client.close();
  }
  // The root ends, its children are there both or not at all, and nothing is left to be done.
  void expect_ended(const std::string& where, bool children_there) {
    Rescue rescue(*this, 90s);
    ASSERT_TRUE(all_done(rescue)) << where << log.text();
    ASSERT_TRUE(eventually(
        [&] {
          const auto books = Flows(client).child_counts(named("a"), "root");
          return fields("flow:") == 0 && messages() == 0 && books && books->pending == 0 &&
                 books->completed == (children_there ? 2 : 0);
        },
        30s))
        << where << log.text();
    EXPECT_EQ(rescue.runs.times("root"), 1) << where;
    for (const auto* const id : {"left", "right"})
      EXPECT_EQ(rescue.runs.times(id), children_there ? 1 : 0) << id << " " << where;
  }
};

TEST_F(KilledHandler, P21_ThatAddsChildren) {
  for (const auto* const what : {"flow/plan", "flow/add", "flow/close"})
    for (const auto loss : {Loss::command, Loss::answer}) {
      const auto where = std::string(what) + (loss == Loss::command ? " unsaid" : " unanswered");
      work_until_cut_off(loss, what);
      proxy.pass();
      // Nothing is there before its record is.
      expect_ended(where, !(loss == Loss::command && std::string(what) == "flow/plan"));
      clear();
      if (HasFailure()) return;
    }
}

TEST_F(KilledHandler, P21_ThatWaitsForItsChildren) {
  for (const auto loss : {Loss::command, Loss::answer}) {
    work_until_cut_off(loss, "flow/wait");
    const auto waits = loss == Loss::answer;
    EXPECT_EQ(state("a", "root"), waits ? JobState::waiting_children : JobState::active);
    proxy.pass();
    expect_ended(waits ? "unanswered" : "unsaid", true);
    clear();
    if (HasFailure()) return;
  }
}

// Said again, a removal takes what is left, and in between nothing of the tree has run.
TEST_F(KilledFlow, P21_WhoRemovesATreeAtEveryStep) {
  {
    auto warm = another();
    ASSERT_TRUE(Flows(warm).add(tree()));
    ASSERT_TRUE(Flows(warm).remove(named("a"), "root"));
  }
  clear();
  at_every_step_of_a_removal([&](std::size_t step, const auto& remove) {
    ASSERT_TRUE(Flows(client).add(tree()));
    remove();
    if (const auto root = state("a", "root")) {
      EXPECT_EQ(root, JobState::waiting_children) << "step " << step;
      EXPECT_TRUE(Flows(client).remove(named("a"), "root")) << "step " << step;
    }
    for (const auto* const word : {"a", "b", "c"}) {
      const auto now = of(word);
      EXPECT_EQ(now.waiting + now.waiting_children + now.failed, 0) << word << " step " << step;
    }
    // What the one that was killed noted is of no parent any more, and forgotten in its time.
    if (messages() == 0) return;
    Rescue rescue(*this, 90s);
    EXPECT_TRUE(eventually([&] { return messages() == 0; }, 30s)) << "step " << step;
  });
}

// Nobody says it again: a root that stays is told what was removed, when its time is over.
TEST_F(KilledFlow, P21_WhoRemovesATreeLeavesNoParentThatWaitsForever) {
  std::size_t told = 0;
  at_every_step_of_a_removal([&](std::size_t step, const auto& remove) {
    ASSERT_TRUE(Flows(client).add(tree()));
    remove();
    const auto before = messages();
    told += before > 0 ? 1U : 0U;
    Rescue rescue(*this, 90s);
    EXPECT_TRUE(eventually(
        [&] {
          const auto root = state("a", "root");
          const bool ended = !root || root == JobState::completed || root == JobState::failed;
          return ended && messages() == 0;
        },
        30s))
        << "step " << step << log.text();
    if (before > 0 && state("a", "root")) {
      EXPECT_EQ(state("a", "root"), JobState::failed) << "step " << step;
    }
  });
  EXPECT_GT(told, 1U) << "it was cut off in the middle at too few steps";
}

// Nobody says it again: the root, which ran, is told what was removed, and waits for the rest.
TEST_F(KilledFlow, P21_WhoRemovesTheTreeOfARootThatRuns) {
  at_every_step_of_a_removal([&](std::size_t step, const auto& remove) {
    Queue<> own{client, named("a")};
    ASSERT_TRUE(own.add("x", {.id = "root"}));
    Consumer<> consumer{own};
    auto held = consumer.fetch(5s).value();
    ASSERT_TRUE(held);
    ASSERT_TRUE(held->job().add_children(
        {{.queue = named("b"), .options = {.id = "left"}, .on_failure = ChildFailure::ignore},
         {.queue = named("c"), .options = {.id = "right"}, .on_failure = ChildFailure::ignore}}));
    remove();
    EXPECT_TRUE(held->finish(Outcome::wait_for_children()));
    Rescue rescue(*this, 60s);
    ASSERT_TRUE(all_done(rescue)) << "step " << step << log.text();
    EXPECT_EQ(rescue.runs.times("root"), 1) << "step " << step;
    EXPECT_TRUE(eventually([&] { return messages() == 0; }, 30s)) << "step " << step;
  });
}

}  // namespace
}  // namespace echomq::test
