// SPDX-License-Identifier: MIT
// A queue with something in each state, and for each script a call that takes all of its ways. What
// must hold for every script (its answers, the fence, declared keys, purity, bounded work, a full
// server, keys of a foreign type) is proven over this list, by the probe and by the tests, so that
// a new script is in all of them when it is in here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

// Opens the queue and fills it; where that fails, problem() says so and the scene is half set. The
// jobs, by state:
//   waiting      w1 w2 (and a ghost between them)
//   prioritized  p1 p2           crashed      c1 c2
//   delayed      d1 dp (due, dp with a priority), dn (not yet due)
//   active       a1..a8 (ap with a place, ac crashed before), all of this caller
//   active       e1, e2: expired; one more crash is too many for e2
//   completed    f1 f2 f3        failed       g1 g2 g3    trash      t1 t2 t3
//   a5 and t3 have sub-keys
//   waiting for children  fp, of fc (delayed), fa (active), fg (failed, in the outbox) and one
//   elsewhere
// Schedulers: s1 s2 (due a minute ago; s1 with a priority, the last job of s2 is a1), s3 (due in
// ten minutes), s4 (paused), s5 (due, of which the hash is gone). Metrics are kept for 10 minutes.
class Scene {
 public:
  explicit Scene(ScriptQueue& queue);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // Empty where all went as it should.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // Of no lease where the scene has no such run.
  [[nodiscard]] JobRun run(const std::string& id) const;
  // Every job, by plain commands. What stands in the place of a state and is none stays.
  void remove_all();

  ScriptQueue& q;

 private:
  void keep(const Claimed& claimed);
  void require(const std::string& answer, const std::string& expected);
  void require(const Reply& reply, const std::string& expected) {
    require(statuses(reply), expected);
  }

  std::vector<JobRun> runs_;
  std::string problem_;
};

struct Exercise {
  std::string script;  // "job/finish"
  std::function<Reply(Scene&)> call;
};

// What a script of migrations is called on is being filled, and no queue of ours yet.
inline bool is_of_migration(std::string_view script) { return script.starts_with("migrate/"); }

// At least one for each script of a queue, several for those whose ways exclude each other. Those
// of migrations come last and make the scene's queue one that is being filled.
const std::vector<Exercise>& exercises();

}  // namespace echomq::inline v2::probe
