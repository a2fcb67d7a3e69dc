// SPDX-License-Identifier: MIT
// Jobs that wait for others: a parent runs once its children are done (echomq/flow.h adds whole
// trees of them; a handler adds children to the job that it works, RawJob::add_children).
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "echomq/codec.h"
#include "echomq/options.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// What becomes of a parent when this child fails for good: its last attempt failed, it crashed too
// often, expired, or was removed before its end. Each child says so for itself.
enum class ChildFailure {
  // The parent fails too, unworked, with a reason that names the child; and so on, up the tree.
  // Other
  // children go on. When all children that failed it get another run (Queue::retry), it waits
  // again.
  fail_parent,
  // The parent goes on at once, although other children are not done: its handler sees that the
  // child
  // was not successful, and may wait for the others (Outcome::wait_for_children).
  continue_parent,
  // It counts as done; the parent's handler can read why it failed.
  ignore,
  // As if it had never been a child of that parent.
  remove_dependency,
};

// A job of a flow, with the children that it waits for. The same queue or another one: it makes no
// difference.
struct FlowJob {
  std::string queue{};
  std::string data{};
  // As of any add, but neither deduplication nor durability: a job of a flow is recorded before it
  // is added. `delay`, of a parent, counts from when its children are done.
  JobOptions options{};
  ChildFailure on_failure = ChildFailure::fail_parent;  // of a root: without meaning
  std::vector<FlowJob> children{};
};

// The same with typed data.
template <class T>
FlowJob flow_job(std::string queue, const T& data, JobOptions options = {},
                 std::vector<FlowJob> children = {}) {
  return {std::move(queue), Codec<T>::encode(data), std::move(options), ChildFailure::fail_parent,
          std::move(children)};
}

// A child that completed.
struct ChildResult {
  std::string queue{};
  std::string id{};
  // What its handler returned; nullopt: it is more than 64 KiB, and the job is not there any more.
  std::optional<std::string> result{};

  // Read as the type that the handler returned. Errors: not_found (there is none to read), decode.
  template <class R>
  [[nodiscard]] Result<R> as() const {
    if (!result)
      return Error{
          ErrorCode::not_found,
          "the result of child " + id + " is more than a parent keeps, and the job is gone",
          {{"queue", queue}, {"value", id}}};
    return Codec<R>::decode(*result);
  }
};

// A child that failed.
struct FailedChild {
  std::string queue{};
  std::string id{};
  std::string reason{};
};

// The children of a job, as a handler reads them. Those whose failure was to be forgotten are in
// none.
struct Children {
  std::vector<ChildResult> completed{};
  std::vector<FailedChild> ignored{};  // failed, and counted as done
  std::vector<FailedChild> failed{};   // failed, and failed this job or let it go on
  std::int64_t pending = 0;            // not done

  [[nodiscard]] bool empty() const noexcept {
    return completed.empty() && ignored.empty() && failed.empty() && pending == 0;
  }
};

}  // namespace echomq::inline v2
