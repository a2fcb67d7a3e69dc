// SPDX-License-Identifier: MIT
#include "flow/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.h"
#include "base/parts.h"
#include "echomq/id.h"
#include "job/reference.h"

namespace echomq::inline v2::flow {
namespace {

char letter_of(ChildFailure policy) {
  switch (policy) {
    case ChildFailure::fail_parent: return 'f';
    case ChildFailure::continue_parent: return 'c';
    case ChildFailure::ignore: return 'i';
    case ChildFailure::remove_dependency: return 'r';
  }
  return 'f';
}

// An empty word would not be one.
std::string word_or_dash(const std::string& word) { return word.empty() ? "-" : word; }
std::string empty_if_dash(std::string_view word) {
  return word == "-" ? std::string() : std::string(word);
}

// Puts a plan together.
class Writer {
 public:
  Writer(std::string_view plan, std::int64_t now_ms)
      : plan_(plan), epoch_(std::to_string(now_ms)) {}

  // The entries that name `children` as those of a job; answers the first.
  std::int64_t put_edges(std::string_view queue, std::string_view id, std::int64_t job,
                         unsigned level, const std::vector<const PlannedJob*>& children) {
    const auto first = static_cast<std::int64_t>(entries_.size());
    for (std::size_t from = 0; from < children.size(); from += kEdgesPerEntry) {
      PlanEntry entry;
      entry.kind = PlanEntry::Kind::edges;
      entry.level = level;
      entry.above = job;
      entry.queue = queue;
      entry.id = id;
      entry.epoch = epoch_;
      entry.owner = job < 0 ? "-" : plan_;
      const auto end = std::min(children.size(), from + kEdgesPerEntry);
      for (auto i = from; i < end; ++i) {
        if (!entry.refs.empty()) entry.refs += ' ';
        entry.refs += job::reference(children[i]->queue, children[i]->id);
        ++entry.count;
      }
      entries_.push_back(std::move(entry));
    }
    return first;
  }

  // Answers its index.
  std::int64_t put_job(const PlannedJob& planned, std::int64_t above, unsigned level, bool waits,
                       const std::string& parent) {
    PlanEntry entry;
    entry.level = level;
    entry.above = above;
    entry.queue = planned.queue;
    entry.id = planned.id;
    entry.delay_ms = planned.job.delay_ms;
    entry.priority = planned.job.priority;
    entry.lifo = planned.job.lifo;
    entry.waits = waits;
    entry.name = planned.job.name;
    entry.opts = planned.job.opts;
    entry.data = planned.job.data;
    if (!parent.empty()) {
      entry.edge = epoch_ + ":" + letter_of(planned.on_failure) + ":" + parent;
      entry.opts = job::with_parent(std::move(entry.opts), parent);
    }
    entries_.push_back(std::move(entry));
    return static_cast<std::int64_t>(entries_.size()) - 1;
  }

  Plan take() { return std::move(entries_); }

 private:
  std::string plan_;
  std::string epoch_;
  Plan entries_;
};

// The jobs of a tree below the one at `index` (-1: the roots), in their order.
using ChildrenOf = std::vector<std::vector<const PlannedJob*>>;

ChildrenOf children_of(const std::vector<PlannedJob>& jobs) {
  ChildrenOf all(jobs.size());
  for (const auto& job : jobs)
    if (job.parent >= 0) all[static_cast<std::size_t>(job.parent)].push_back(&job);
  return all;
}

// `above`: the first edges of roots that are children of a job that is there, whose reference is
// `parent`.
void put_jobs(Writer& writer, const std::vector<PlannedJob>& jobs, std::int64_t above,
              const std::string& parent, unsigned first_level) {
  const auto children = children_of(jobs);
  std::vector<std::int64_t> edges(jobs.size(), -1);
  std::vector<unsigned> levels(jobs.size(), first_level);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& job = jobs[i];
    auto under = above;
    auto parent_ref = parent;
    if (job.parent >= 0) {
      const auto up = static_cast<std::size_t>(job.parent);
      levels[i] = levels[up] + 1;
      under = edges[up];
      parent_ref = job::reference(jobs[up].queue, jobs[up].id);
    }
    const auto at = writer.put_job(job, under, levels[i], !children[i].empty(), parent_ref);
    if (!children[i].empty())
      edges[i] = writer.put_edges(job.queue, job.id, at, levels[i], children[i]);
  }
}

}  // namespace

bool PlanEntry::custom() const { return !is_minted_id(id); }

std::string PlanEntry::shape() const {
  if (kind == Kind::edges) return "e:" + epoch + ":" + std::to_string(count) + ":" + owner;
  std::string out = "j";
  for (const auto number :
       {static_cast<std::int64_t>(custom()), delay_ms, static_cast<std::int64_t>(priority),
        static_cast<std::int64_t>(lifo), static_cast<std::int64_t>(waits),
        static_cast<std::int64_t>(edge.size()), static_cast<std::int64_t>(name.size()),
        static_cast<std::int64_t>(opts.size())})
    out += ":" + std::to_string(number);
  return out + ":" + edge + name + opts;
}

std::string PlanEntry::encode() const {
  std::string out = kind == Kind::job ? "j" : "e";
  const auto put = [&out](const std::string& word) { out.append(1, ' ').append(word); };
  put(std::to_string(level));
  put(std::to_string(above));
  put(queue);
  put(id);
  if (kind == Kind::edges) {
    put(epoch);
    put(owner);
    put(std::to_string(count));
    return out + "\n" + refs;
  }
  put(std::to_string(delay_ms));
  put(std::to_string(priority));
  put(lifo ? "1" : "0");
  put(waits ? "1" : "0");
  put(word_or_dash(edge));
  put(std::to_string(name.size()));
  put(std::to_string(opts.size()));
  return out + "\n" + name + opts + data;
}

std::optional<PlanEntry> PlanEntry::decode(std::string_view text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  Parts words(text.substr(0, end), ' ');
  auto rest = text.substr(end + 1);
  PlanEntry entry;
  const auto kind = words.word();
  if (kind != "j" && kind != "e") return std::nullopt;
  entry.kind = kind == "j" ? Kind::job : Kind::edges;
  entry.level = to_number<unsigned>(words.word());
  entry.above = to_number<std::int64_t>(words.word());
  entry.queue = words.word();
  entry.id = words.word();
  if (entry.queue.empty() || entry.id.empty()) return std::nullopt;
  if (entry.kind == Kind::edges) {
    entry.epoch = words.word();
    entry.owner = words.word();
    entry.count = to_number<unsigned>(words.word());
    entry.refs = rest;
    return entry;
  }
  entry.delay_ms = to_number<std::int64_t>(words.word());
  entry.priority = to_number<unsigned>(words.word());
  entry.lifo = words.word() == "1";
  entry.waits = words.word() == "1";
  entry.edge = empty_if_dash(words.word());
  const auto name_bytes = to_number<std::size_t>(words.word());
  const auto opts_bytes = to_number<std::size_t>(words.word());
  if (name_bytes > rest.size() || opts_bytes > rest.size() - name_bytes) return std::nullopt;
  entry.name = rest.substr(0, name_bytes);
  entry.opts = rest.substr(name_bytes, opts_bytes);
  entry.data = rest.substr(name_bytes + opts_bytes);
  return entry;
}

Plan make_plan(std::string_view plan, const std::vector<PlannedJob>& jobs, std::int64_t now_ms) {
  Writer writer(plan, now_ms);
  put_jobs(writer, jobs, -1, {}, 0);
  return writer.take();
}

Plan make_plan(std::string_view plan, std::string_view queue, std::string_view id,
               const std::vector<PlannedJob>& children, std::int64_t now_ms) {
  Writer writer(plan, now_ms);
  std::vector<const PlannedJob*> own;
  for (const auto& child : children)
    if (child.parent < 0) own.push_back(&child);
  const auto edges = writer.put_edges(queue, id, -1, 0, own);
  put_jobs(writer, children, edges, job::reference(queue, id), 1);
  return writer.take();
}

}  // namespace echomq::inline v2::flow
