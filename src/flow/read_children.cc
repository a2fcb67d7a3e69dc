// SPDX-License-Identifier: MIT
#include "flow/read_children.h"

#include <array>
#include <unordered_set>
#include <utility>

#include "base/bad_option.h"
#include "job/reference.h"
#include "queue/ask.h"
#include "queue/page_cursor.h"
#include "wire/command.h"

namespace echomq::inline v2 {

std::string_view name(ChildState state) noexcept {
  switch (state) {
    case ChildState::pending: return "pending";
    case ChildState::completed: return "completed";
    case ChildState::ignored: return "ignored";
    case ChildState::failed: return "failed";
  }
  return "unknown";
}

namespace flow {
namespace {

constexpr std::size_t kMostOfPage = 256;

std::string key_of(const QueueCore& queue, const std::string& id, ChildState state) {
  switch (state) {
    case ChildState::pending: return job_key(queue.name(), id, Sub::dependencies);
    case ChildState::completed: return job_key(queue.name(), id, Sub::processed);
    case ChildState::ignored: return job_key(queue.name(), id, Sub::failed);
    case ChildState::failed: return job_key(queue.name(), id, Sub::unsuccessful);
  }
  return {};
}

// What follows the first `parts` colons.
std::string_view after_colons(std::string_view text, int parts) {
  for (; parts > 0; --parts) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return {};
    text.remove_prefix(colon + 1);
  }
  return text;
}

// `<epoch>`, `<epoch>:+<result>`, `<epoch>:>`, `<epoch>:<reason>`, `<epoch>:<policy>:<reason>`
Child read_child(std::string_view reference, std::string_view text, ChildState state) {
  auto [queue, id] = job::read_reference(reference);
  Child child{.queue = std::move(queue), .id = std::move(id), .state = state};
  if (state == ChildState::ignored) child.text = after_colons(text, 1);
  if (state == ChildState::failed) child.text = after_colons(text, 2);
  if (state != ChildState::completed) return child;
  const auto value = after_colons(text, 1);
  child.large = value.starts_with('>');
  if (!child.large && !value.empty()) child.text = value.substr(1);
  return child;
}

// The results that are too large to be kept twice, from the children, where those are there still.
Result<void> load_large(QueueCore& queue, std::vector<ChildResult>& results,
                        const std::vector<std::size_t>& large) {
  for (const auto i : large) {
    auto& child = results[i];
    auto reply =
        ask_plainly(queue, wire::command({"HGET", job_key(child.queue, child.id), "returnvalue"}));
    if (!reply) return reply.error();
    if (!reply->is_null()) child.result = std::move(reply->text);
  }
  return {};
}

}  // namespace

Result<ChildPage> read_page(QueueCore& queue, const std::string& id, ChildState state,
                            const ChildPageOptions& options) {
  if (options.limit == 0 || options.limit > kMostOfPage)
    return bad_option("limit", std::to_string(options.limit),
                      "1 to " + std::to_string(kMostOfPage));
  const auto cursor = scan_cursor(options.cursor);
  if (!cursor) return cursor.error();
  const auto reply = ask_plainly(queue, wire::command({"HSCAN", key_of(queue, id, state), *cursor,
                                                       "COUNT", std::to_string(options.limit)}));
  if (!reply) return reply.error();
  ChildPage page;
  if (reply->items.size() < 2) return page;
  if (reply->items[0].text != "0") page.next = reply->items[0].text;
  const auto& pairs = reply->items[1].items;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    page.children.push_back(read_child(pairs[i].text, pairs[i + 1].text, state));
  return page;
}

Result<void> each_child(QueueCore& queue, const std::string& id, std::span<const ChildState> states,
                        const std::function<bool(Child)>& take) {
  std::unordered_set<std::string> seen;
  for (const auto state : states) {
    ChildPageOptions options{.limit = kMostOfPage};
    do {
      auto page = read_page(queue, id, state, options);
      if (!page) return page.error();
      for (auto& child : page->children)
        if (seen.insert(job::reference(child.queue, child.id)).second && !take(std::move(child)))
          return {};
      options.cursor = std::move(page->next);
    } while (!options.cursor.empty());
  }
  return {};
}

Result<ChildCounts> read_counts(QueueCore& queue, const std::string& id) {
  std::vector<std::string> commands;
  commands.reserve(kChildStates.size());
  for (const auto state : kChildStates)
    commands.push_back(wire::command({"HLEN", key_of(queue, id, state)}));
  const auto replies = ask_plainly(queue, std::move(commands));
  if (!replies) return replies.error();
  const auto at = [&](std::size_t i) { return (*replies)[i].integer; };
  return ChildCounts{.pending = at(0), .completed = at(1), .ignored = at(2), .failed = at(3)};
}

Result<Children> read_children(QueueCore& queue, const std::string& id) {
  const auto there = ask_plainly(queue, wire::command({"EXISTS", job_key(queue.name(), id)}));
  if (!there) return there.error();
  if (there->integer == 0) return no_such_job(queue.name(), id);
  Children children;
  std::vector<std::size_t> large;
  constexpr std::array kSettled{ChildState::completed, ChildState::ignored, ChildState::failed};
  auto ok = each_child(queue, id, kSettled, [&](Child child) {
    if (child.state != ChildState::completed) {
      auto& failures = child.state == ChildState::ignored ? children.ignored : children.failed;
      failures.push_back({std::move(child.queue), std::move(child.id), std::move(child.text)});
      return true;
    }
    if (child.large) large.push_back(children.completed.size());
    children.completed.push_back(
        {std::move(child.queue), std::move(child.id),
         child.large ? std::nullopt : std::optional(std::move(child.text))});
    return true;
  });
  if (ok) ok = load_large(queue, children.completed, large);
  if (!ok) return ok.error();
  const auto counts = read_counts(queue, id);
  if (!counts) return counts.error();
  children.pending = counts->pending;
  return children;
}

}  // namespace flow
}  // namespace echomq::inline v2
