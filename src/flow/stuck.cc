// SPDX-License-Identifier: MIT
#include "flow/stuck.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/number.h"
#include "flow/read_children.h"
#include "job/reference.h"
#include "queue/ask.h"
#include "queue/entries.h"
#include "queue/outbox.h"
#include "queue/pages.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::flow {
namespace {

constexpr std::size_t kChildrenLooked = 1'000;  // of each parent

class StuckSearch {
 public:
  explicit StuckSearch(QueueCore& queue) : queue_(queue) {}

  // What is wrong with a parent that waits; nullopt: nothing.
  Result<std::optional<StuckParent>> look(const std::string& id) {
    const auto told = is_being_added(id);
    if (!told) return told.error();
    if (*told) return std::optional<StuckParent>();
    std::size_t looked = 0;
    ChildPageOptions how{.limit = 256};
    do {
      auto page = read_page(queue_, id, ChildState::pending, how);
      if (!page) return page.error();
      looked += page->children.size();
      for (const auto& child : page->children) {
        auto why = missing(id, child);
        if (!why) return why.error();
        if (*why)
          return std::optional(StuckParent{
              .id = id, .why = **std::move(why), .child_queue = child.queue, .child = child.id});
      }
      how.cursor = std::move(page->next);
    } while (!how.cursor.empty() && looked < kChildrenLooked);
    if (looked > 0) return std::optional<StuckParent>();
    // It may have been released since it was listed.
    const auto still =
        ask_plainly(queue_, wire::command({"ZSCORE", queue_.keys().waiting_children, id}));
    if (!still) return still.error();
    if (still->is_null()) return std::optional<StuckParent>();
    return std::optional(
        StuckParent{.id = id, .why = "it waits for no child, and nobody released it"});
  }

 private:
  // The flow that made it, or gave it children, is still being added.
  Result<bool> is_being_added(const std::string& id) {
    const auto plan =
        ask_plainly(queue_, wire::command({"HGET", job_key(queue_.name(), id), "plan"}));
    if (!plan) return plan.error();
    const auto [home, plan_id] = job::read_reference(plan->text);
    if (home.empty()) return false;
    const auto note = ask_plainly(
        queue_, wire::command({"HEXISTS", key(home, Structure::outbox), plan_field(plan_id)}));
    if (!note) return note.error();
    return note->integer == 1;
  }

  // Why nothing will come from a pending child; nullopt: it is there, or its message is.
  Result<std::optional<std::string>> missing(const std::string& parent, const Child& child) {
    const auto outbox = key(child.queue, Structure::outbox);
    const auto field = message_field(child.id, queue_.name(), parent);
    const auto ref = job::reference(child.queue, child.id);
    std::vector<std::string> commands;
    commands.push_back(wire::command({"EXISTS", key(child.queue, Structure::meta)}));
    commands.push_back(wire::command({"HGET", job_key(child.queue, child.id), "edge"}));
    commands.push_back(wire::command({"HEXISTS", outbox, field}));
    // Last: a message that was delivered meanwhile has moved the edge.
    commands.push_back(
        wire::command({"HEXISTS", job_key(queue_.name(), parent, Sub::dependencies), ref}));
    const auto replies = ask_plainly(queue_, std::move(commands));
    if (!replies) return replies.error();
    const auto& edge = (*replies)[1];
    const bool is_ours =
        !edge.is_null() && edge.text.ends_with(":" + job::reference(queue_.name(), parent));
    const bool comes = (*replies)[2].integer == 1;
    const bool pending = (*replies)[3].integer == 1;
    if (!pending || comes) return std::optional<std::string>();
    if (is_ours) {
      const auto lost = is_lost(parent, child);
      if (!lost) return lost.error();
      if (!*lost) return std::optional<std::string>();
    }
    const auto name = "child " + ref;
    if ((*replies)[0].integer == 0)
      return std::optional("queue \"" + child.queue + "\" is no more, and with it " + name);
    if (!edge.is_null() && !is_ours) return std::optional(name + " is another job by now");
    if (is_ours) return std::optional(name + " has ended, and its message is lost");
    return std::optional(name + " is gone, and nothing tells how it ended");
  }

  // It has ended, its message is not there, and the edge is pending all the same: looked at in this
  // order, since what was written with the end goes that way.
  Result<bool> is_lost(const std::string& parent, const Child& child) {
    std::vector<std::string> commands;
    for (const auto structure : {Structure::completed, Structure::failed})
      commands.push_back(wire::command({"ZSCORE", key(child.queue, structure), child.id}));
    commands.push_back(wire::command({"HEXISTS", key(child.queue, Structure::outbox),
                                      message_field(child.id, queue_.name(), parent)}));
    commands.push_back(wire::command({"HEXISTS", job_key(queue_.name(), parent, Sub::dependencies),
                                      job::reference(child.queue, child.id)}));
    const auto replies = ask_plainly(queue_, std::move(commands));
    if (!replies) return replies.error();
    const bool ended = !(*replies)[0].is_null() || !(*replies)[1].is_null();
    return ended && (*replies)[2].integer == 0 && (*replies)[3].integer == 1;
  }

  QueueCore& queue_;
};

}  // namespace

Result<StuckPage> find_stuck(QueueCore& queue, const PageOptions& options) {
  auto page = v2::read_page(queue, JobState::waiting_children, options);
  if (!page) return page.error();
  StuckPage stuck;
  stuck.next = std::move(page->next);
  StuckSearch search(queue);
  for (const auto& job : page->jobs) {
    auto found = search.look(job.id);
    if (!found) return found.error();
    if (!*found) continue;
    const auto since =
        ask_plainly(queue, wire::command({"ZSCORE", queue.keys().waiting_children, job.id}));
    if (!since) return since.error();
    (*found)->since_ms = wire::number_of(*since);
    stuck.parents.push_back(**std::move(found));
  }
  return stuck;
}

}  // namespace echomq::inline v2::flow
