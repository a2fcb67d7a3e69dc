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
    clear();
  }
  for (const auto loss : {Loss::command, Loss::answer}) {
    bool went_through = false;
    for (std::size_t step = 0; step < 40 && !went_through; ++step) {
      auto creator = std::make_unique<Client>(far());
      cut_off(loss, kAnyScript, step);
      const auto added = Flows(*creator).add(tree());
      went_through = proxy.lost(kAnyScript) == 0;
      creator->close();
      creator.reset();
      proxy.pass();
      const bool sealed = redis({"HLEN", key(named("a"), Structure::outbox)}).integer > 0 &&
                          state("a", "root").has_value();
      Rescue rescue(*this, 90s);
      // What was recorded is added; what was not is given up.
      const auto settled = [&] {
        for (const auto& field : texts(redis({"HKEYS", key(named("a"), Structure::outbox)})))
          if (field.starts_with("flow:")) return false;
        return true;
      };
      EXPECT_TRUE(eventually(settled, 30s)) << "step " << step;
      if (!sealed && !state("a", "root") && rescue.runs.size() == 0) {
        for (const auto* const word : {"a", "b", "c"})
          EXPECT_EQ(of(word).waiting + of(word).waiting_children + of(word).completed, 0)
              << word << " at step " << step;
        EXPECT_FALSE(added) << "step " << step;
      } else {
        EXPECT_TRUE(all_done(rescue)) << "step " << step << " " << log.text();
        for (const auto* const id : {"root", "left", "right", "other", "leaf"})
          EXPECT_EQ(rescue.runs.times(id), 1) << id << " at step " << step;
      }
      if (HasFailure()) return;
      clear();
    }
    EXPECT_TRUE(went_through) << "it has more steps than this test knows of";
  }
}

class KilledAtAnEnd : public KilledFlow {
 protected:
  // The parent of a child in `b`, and the worker that is about to be cut off.
  void begin() {
    ASSERT_TRUE(
        Flows(client).add({.queue = named("a"),
                           .options = {.id = "root"},
                           .children = {{.queue = named("b"), .options = {.id = "left"}}}}));
  }

  // Works the child behind the proxy until something was lost, and is gone then.
  void work_until_cut_off(const std::string& what, const Outcome& outcome) {
    auto worker_client = far();
    Queue<> far_queue{worker_client, named("b")};
    auto how = steady(1);
    how.lease = 2s;
    Worker worker{far_queue, how, [&](Job<>&) { return outcome; }};
    EXPECT_TRUE(eventually([&] { return proxy.lost(what) > 0; }, kResumes)) << what;
    worker_client.close();
  }
};

// Each script of the last step, lost before and after the server ran it.
TEST_F(KilledAtAnEnd, P21_OfTheLastChildThatCompletes) {
  for (const auto* const what : {"job/finish", "flow/settle", "flow/delivered"})
    for (const auto loss : {Loss::command, Loss::answer}) {
      begin();
      cut_off(loss, what);
      work_until_cut_off(what, Outcome::done("result"));
      proxy.pass();
      Rescue rescue(*this, 60s);
      ASSERT_TRUE(all_done(rescue)) << what << log.text();
      EXPECT_EQ(rescue.runs.times("root"), 1) << what;
      const bool told = !(loss == Loss::command && std::string(what) == "job/finish");
      EXPECT_EQ(rescue.runs.times("left"), told ? 0 : 1) << what;
      EXPECT_EQ(Flows(client).child_counts(named("a"), "root").value().completed, 1);
      clear();
    }
}

TEST_F(KilledAtAnEnd, P21_OfTheLastChildThatFails) {
  for (const auto* const what : {"job/finish", "flow/settle", "flow/delivered"})
    for (const auto loss : {Loss::command, Loss::answer}) {
      if (loss == Loss::command && std::string(what) == "job/finish")
        continue;  // it runs once more
      begin();
      cut_off(loss, what);
      work_until_cut_off(what, Outcome::unrecoverable("it broke"));
      proxy.pass();
      Rescue rescue(*this, 60s);
      ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s)) << what;
      EXPECT_EQ(rescue.runs.size(), 0U) << what;
      clear();
    }
}

// From outside: the process that removes or retries a child.
TEST_F(KilledAtAnEnd, P21_OfAChildThatIsRemovedOrRetried) {
  struct Case {
    const char* script;
    const char* what;
  };
  for (const auto& [script, what] :
       {Case{"job/remove", "job/remove"}, Case{"job/remove", "flow/settle"},
        Case{"job/remove", "flow/delivered"}, Case{"job/retry_finished", "job/retry_finished"},
        Case{"job/retry_finished", "flow/settle"}, Case{"job/retry_finished", "flow/delivered"}}) {
    const bool removes = std::string(script) == "job/remove";
    begin();
    if (!removes) {
      Queue<> own{client, named("b")};
      {
        Worker worker{own, steady(1), [](Job<>&) { return Outcome::unrecoverable("once"); }};
        ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, kResumes));
      }
    }
    auto actor = std::make_unique<Client>(far());
    Queue<> far_queue{*actor, named("b")};
    ASSERT_TRUE(far_queue.open());
    cut_off(Loss::answer, what);
    if (removes)
      (void)far_queue.remove("left");
    else
      (void)far_queue.retry("left");
    EXPECT_EQ(proxy.lost(what), 1U) << what;
    actor->close();
    proxy.pass();
    Rescue rescue(*this, 60s);
    if (removes) {
      ASSERT_TRUE(eventually([&] { return state("a", "root") == JobState::failed; }, 30s)) << what;
      EXPECT_EQ(rescue.runs.size(), 0U);
    } else {
      ASSERT_TRUE(all_done(rescue)) << script << " " << what << log.text();
      EXPECT_EQ(rescue.runs.times("root"), 1);
    }
    clear();
  }
}

}  // namespace
}  // namespace echomq::test
