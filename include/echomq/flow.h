// SPDX-License-Identifier: MIT
// Flows: trees of jobs over any queues, in which a parent runs once its children are done.
//
//   echomq::Flows flows{mq};
//   auto report = flows.add({.queue = "report", .data = "June", .children = {
//                               {.queue = "render", .data = "page 1"},
//                               {.queue = "render", .data = "page 2"}}});
//
// In the parent's handler job.children() has the results. A parent waits in the state
// waiting_children until then, and takes no worker. A child that fails for good fails its parent,
// unless it says otherwise (ChildFailure). Whoever ends a child tells its parent right after; what
// a crash left to be told, the next maintenance of any worker of the child's queue tells once it is
// 5 s old (every third of its lease; one of the next where more than some 100,000 flows came to
// that queue within an hour).
//
// A tree is added whole or not at all: it is recorded first, in the queue of its root, and what the
// process that adds it could not do before it died, any worker of that queue goes on with. A job
// has one parent. All errors name the job by its path in the tree, "children[3].children[0]".
//
// Thread-safety: every member may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/children.h"
#include "echomq/client.h"
#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/page.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// The most jobs of one tree, and how deep it may be (a root alone: 1).
inline constexpr std::size_t kMaxFlowJobs = 100'000;
inline constexpr unsigned kMaxFlowDepth = 100;
// A larger result of a child is not kept with its parent: it is read from the child while that is
// there.
inline constexpr std::size_t kMaxChildResultBytes = std::size_t{64} << 10;

// The jobs of a tree as they were added.
struct AddedFlow {
  std::string queue{};
  std::string id{};
  std::vector<AddedFlow> children{};
};

// How a child stands to its parent.
enum class ChildState {
  pending,    // not done
  completed,  // its result counts
  ignored,    // failed, and counts as done
  failed,     // failed, and failed its parent or let it go on
};
// "pending", "completed", "ignored", "failed"
ECHOMQ_API std::string_view name(ChildState state) noexcept;

struct Child {
  std::string queue{};
  std::string id{};
  ChildState state = ChildState::pending;
  std::string text{};  // its result, or why it failed
  bool large = false;  // completed: the result is more than 64 KiB; it stands with the child
};

// How many children a job has in each state.
struct ChildCounts {
  std::int64_t pending = 0;
  std::int64_t completed = 0;
  std::int64_t ignored = 0;
  std::int64_t failed = 0;
  [[nodiscard]] std::int64_t all() const noexcept { return pending + completed + ignored + failed; }
};

struct ChildPage {
  std::vector<Child>
      children{};      // in no order; one that changes meanwhile may come twice or not at all
  std::string next{};  // opaque; empty: this was the last page
};

struct ChildPageOptions {
  std::size_t limit = 100;  // about so many, 1..256; small sets come whole
  std::string cursor{};     // ChildPage::next of the page before
};

struct FlowTreeOptions {
  unsigned depth = 10;               // levels, 1..100
  std::size_t max_children = 1'000;  // of each job, 1..100,000
};

// A job with its children, as they are.
struct FlowTree {
  std::string queue{};
  std::string id{};
  bool there = false;  // false: the job is gone, by its retention or because it was removed; its id
                       // may be of another job by now
  JobInfo job{};       // without its data
  ChildState state = ChildState::pending;  // to its parent; of a root: without meaning
  ChildCounts counts{};
  std::vector<FlowTree> children{};
  bool cut = false;  // there are more children than asked for, or more levels
};

// A job of a tree that was not removed.
struct NotRemoved {
  std::string queue{};
  std::string id{};
  Error why{};
};

struct FlowRemoval {
  std::int64_t removed = 0;
  std::vector<NotRemoved> left{};
};

// A parent that waits for something that does not come.
struct StuckParent {
  std::string id{};
  std::int64_t since_ms = 0;  // when it began to wait
  std::string why{};
  // The child it is about; empty where it is about none.
  std::string child_queue{};
  std::string child{};
};

struct StuckPage {
  std::vector<StuckParent> parents{};
  std::string next{};  // PageOptions::cursor of the next page; empty: this was the last one
};

class ECHOMQ_API Flows {
 public:
  explicit Flows(const Client& client) : core_(client.core()) {}

  // Adds a tree; answers the ids. All of it is there then.
  // Errors: those of Queue::add, with the job's path in front and as the field "path": nothing of
  // the tree was added (a job of one's own id that exists is `duplicate`; two of one id in the
  // tree, more than kMaxFlowJobs, deduplication and durability are invalid_argument). `full` where
  // the server is at maxmemory: nothing was added, unless the field "recorded" is there: then the
  // tree is recorded, and is added when there is room. After timeout and connection_lost it was
  // recorded or not; what is recorded is added.
  Result<AddedFlow> add(const FlowJob& root);
  // Several, each by itself: one result for each.
  Result<std::vector<Result<AddedFlow>>> add_bulk(const std::vector<FlowJob>& roots);

  // A job, its children, and theirs. What was more than asked for is told. Errors: not_found (the
  // root), invalid_argument, invalid_name, fence, and those of the connection.
  Result<FlowTree> tree(std::string_view queue, std::string_view id,
                        const FlowTreeOptions& options = {});
  // The children of a job in one state, some at a time. Errors: as tree().
  Result<ChildPage> children(std::string_view queue, std::string_view id, ChildState state,
                             const ChildPageOptions& options = {});
  Result<ChildCounts> child_counts(std::string_view queue, std::string_view id);

  // Removes a job and all below it, the deepest first, and tells no parent within the tree, so that
  // none runs meanwhile; the parent of `id`, if it has one, is told. What runs stays and is
  // answered, as is what could not be removed; it is told that its children were removed, so it
  // does not wait for them. What came by the id of a child that is gone is no part of the tree. In
  // bounded calls; interrupted, it may be said again.
  // Errors: not_found (the root), invalid_name, fence, and those of the connection.
  Result<FlowRemoval> remove(std::string_view queue, std::string_view id);

  // Parents of a queue that wait for children and can no longer run by themselves, and why: a child
  // whose job is gone without a word (deleted by hand, its queue obliterated by an older version,
  // the server lost its last data). Looks at each waiting parent of the page, and at all of its
  // pending children until one is such, in bounded calls. To let one run: Queue::remove it and add
  // it anew. Errors: not_found (no such queue), invalid_argument, fence, and those of the
  // connection.
  Result<StuckPage> stuck(std::string_view queue, const PageOptions& options = {});

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace echomq::inline v2
