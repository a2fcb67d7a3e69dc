// SPDX-License-Identifier: MIT
#include "flow/stuck.h"

#include <algorithm>
#include <optional>
#include <span>
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

// Of the children of a parent, whose keys are read together.
constexpr std::size_t kChildrenPerLook = 256;

class StuckSearch {
 public:
  explicit StuckSearch(QueueCore& queue) : queue_(queue) {}

  // What is wrong with a parent that waits; nullopt: nothing.
  Result<std::optional<StuckParent>> look(const std::string& id) {
    const auto told = is_being_added(id);
    if (!told) return told.error();
    if (*told) return std::optional<StuckParent>();
    bool has_pending = false;
    ChildPageOptions how{.limit = kChildrenPerLook};
    do {
      auto page = read_page(queue_, id, ChildState::pending, how);
      if (!page) return page.error();
      has_pending = has_pending || !page->children.empty();
      auto found = first_missing(id, page->children);
      if (!found || *found) return found;
      how.cursor = std::move(page->next);
    } while (!how.cursor.empty());
    if (has_pending) return std::optional<StuckParent>();
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

  // What is there of a pending child.
  struct Look {
    bool queue_there = false;
    bool job_there = false;
    bool ours = false;   // the job is a child of this parent
    bool comes = false;  // its message is there
    bool pending = false;
  };

  // A page may be larger than was asked for.
  Result<std::optional<StuckParent>> first_missing(const std::string& parent,
                                                   const std::vector<Child>& children) {
    for (std::size_t from = 0; from < children.size(); from += kChildrenPerLook) {
      const auto size = std::min(children.size() - from, kChildrenPerLook);
      auto found = first_missing(parent, std::span(children).subspan(from, size));
      if (!found || *found) return found;
    }
    return std::optional<StuckParent>();
  }

  Result<std::optional<StuckParent>> first_missing(const std::string& parent,
                                                   std::span<const Child> children) {
    const auto looks = look_at(parent, children);
    if (!looks) return looks.error();
    const auto lost = look_for_lost(parent, children);
    if (!lost) return lost.error();
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto& look = (*looks)[i];
      if (!look.pending || look.comes || (look.ours && !(*lost)[i])) continue;
      const auto& child = children[i];
      return std::optional(StuckParent{
          .id = parent, .why = why(child, look), .child_queue = child.queue, .child = child.id});
    }
    return std::optional<StuckParent>();
  }

  static std::string why(const Child& child, const Look& look) {
    const auto name = "child " + job::reference(child.queue, child.id);
    if (!look.queue_there) return "queue \"" + child.queue + "\" is no more, and with it " + name;
    if (look.job_there && !look.ours) return name + " is another job by now";
    if (look.ours) return name + " has ended, and its message is lost";
    return name + " is gone, and nothing tells how it ended";
  }

  Result<std::vector<Look>> look_at(const std::string& parent, std::span<const Child> children) {
    const auto ending = job::edge_ending(queue_.name(), parent);
    std::vector<std::string> commands;
    for (const auto& child : children) {
      commands.push_back(wire::command({"EXISTS", key(child.queue, Structure::meta)}));
      commands.push_back(wire::command({"HMGET", job_key(child.queue, child.id), "head", "edge"}));
      put_told(parent, child, commands);
    }
    const auto replies = ask_plainly(queue_, std::move(commands));
    if (!replies) return replies.error();
    std::vector<Look> looks;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto* const of = &(*replies)[4 * i];
      Look look{.queue_there = of[0].integer == 1,
                .comes = of[2].integer == 1,
                .pending = of[3].integer == 1};
      if (of[1].items.size() == 2) {
        look.job_there = !of[1].items[0].is_null();
        look.ours = of[1].items[1].text.ends_with(ending);
      }
      looks.push_back(look);
    }
    return looks;
  }

  // Whether it is in its outbox, and then whether its edge is pending: a message that was delivered
  // meanwhile has moved the edge.
  void put_told(const std::string& parent, const Child& child, std::vector<std::string>& commands) {
    commands.push_back(wire::command({"HEXISTS", key(child.queue, Structure::outbox),
                                      message_field(child.id, queue_.name(), parent)}));
    commands.push_back(wire::command({"HEXISTS", job_key(queue_.name(), parent, Sub::dependencies),
                                      job::reference(child.queue, child.id)}));
  }

  // Which have ended, while their messages are not there, and the edges are pending all the same:
  // looked at in this order, since what was written with the end goes that way.
  Result<std::vector<bool>> look_for_lost(const std::string& parent,
                                          std::span<const Child> children) {
    std::vector<std::string> commands;
    for (const auto& child : children) {
      for (const auto structure : {Structure::completed, Structure::failed})
        commands.push_back(wire::command({"ZSCORE", key(child.queue, structure), child.id}));
      put_told(parent, child, commands);
    }
    const auto replies = ask_plainly(queue_, std::move(commands));
    if (!replies) return replies.error();
    std::vector<bool> lost;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto* const of = &(*replies)[4 * i];
      const bool ended = !of[0].is_null() || !of[1].is_null();
      lost.push_back(ended && of[2].integer == 0 && of[3].integer == 1);
    }
    return lost;
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
