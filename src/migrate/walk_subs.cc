// SPDX-License-Identifier: MIT
// The sub-keys of the jobs of a walk: log lines, and the children of parents.
#include <algorithm>
#include <utility>

#include "echomq/keyspace.h"
#include "job/reference.h"
#include "migrate/page_size.h"
#include "migrate/walk.h"

namespace echomq::inline v2::migrate {
namespace {

std::size_t bytes_of(const Replies& items) {
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += item.text.size();
  return bytes;
}

// A key's entries, in parts that are no larger than a call may be.
class Parted {
 public:
  Parted(Sink& sink, std::string key, std::string_view type, std::string job) : sink_(sink) {
    part_.key = std::move(key);
    part_.type = type;
    part_.job = std::move(job);
  }

  Result<void> add(std::string name, std::string value) {
    const auto bytes = name.size() + value.size();
    if (!part_.entries.empty() &&
        (part_.entries.size() >= static_cast<std::size_t>(PageSize::kMost) ||
         bytes_ + bytes > static_cast<std::size_t>(PageSize::kBytes)))
      if (auto taken = flush(); !taken) return taken;
    bytes_ += bytes;
    part_.entries.emplace_back(std::move(name), std::move(value));
    return {};
  }
  Result<void> flush() {
    if (part_.entries.empty()) return {};
    if (auto taken = sink_.take(part_); !taken) return taken;
    part_.first = false;
    part_.entries.clear();
    bytes_ = 0;
    return {};
  }

 private:
  Sink& sink_;
  Part part_{};
  std::size_t bytes_ = 0;
};

}  // namespace

Result<void> Walk::logs(const std::string& v1_id, const std::string& id) {
  Parted lines(sink_, job_key(queue_.to, id, Sub::logs), "list", v1_id);
  PageSize size;
  for (std::int64_t from = 0;;) {
    const auto asked = size.next();
    const auto page = source_.ask(
        {"LRANGE", v1_.sub(v1_id, "logs"), std::to_string(from), std::to_string(from + asked - 1)});
    if (!page) return page.error();
    for (const auto& line : page->items)
      if (auto added = lines.add({}, line.text); !added) return added;
    if (page->items.size() < static_cast<std::size_t>(asked)) return lines.flush();
    size.saw(page->items.size(), bytes_of(page->items));
    from += asked;
  }
}

// A child that is not done must move too; of one that is, its name will do.
std::optional<std::string> Walk::reference_of(const std::string& child, bool pending) const {
  if (const auto known = unit_.reference(child)) return job::reference(known->queue, known->id);
  const auto done = unit_.read(child);
  if (pending || !done) return std::nullopt;
  const auto queue = queue_name(done->queue);
  if (!queue) return std::nullopt;
  return job::reference(*queue, map_id(done->id));
}

Result<void> Walk::children(const std::string& v1_id, const std::string& id, std::string_view word,
                            std::int64_t& count, std::string& last, std::string& refusal) {
  const bool pending = word == "dependencies";
  const bool is_zset = word == "unsuccessful";
  const auto* const scan = pending ? "SSCAN" : is_zset ? "ZSCAN" : "HSCAN";
  Parted edges(sink_, std::string(job_key(queue_.to, id)).append(1, ':').append(word), "hash",
               v1_id);
  PageSize size;
  std::string at = "0";
  do {
    const auto found =
        source_.page({scan, v1_.sub(v1_id, word), at, "COUNT", std::to_string(size.next())}, at);
    if (!found) return found.error();
    size.saw(found->size() / (pending ? 1 : 2), bytes_of(*found));
    for (std::size_t i = 0; i < found->size(); i += pending ? 1 : 2) {
      const auto& child = (*found)[i].text;
      auto ref = reference_of(child, pending);
      if (!ref) {
        refusal = "its child \"" + child + "\" is of a queue that is not migrated with it";
        return {};
      }
      std::string value(kMovedEpoch);
      if (is_zset) {
        // v1 noted no reason here; the child has it, where it is there still.
        const auto reason = source_.ask({"HGET", child, "failedReason"});
        if (!reason) return reason.error();
        value += ":f:" + reason->text;
      } else if (!pending) {
        value.append(word == "processed" ? ":+" : ":").append((*found)[i + 1].text);
      }
      ++count;
      last = *ref;
      if (auto added = edges.add(*std::move(ref), std::move(value)); !added) return added;
    }
  } while (at != "0");
  return edges.flush();
}

Result<void> Walk::subs(const std::string& v1_id, const std::string& id, Fields& fields,
                        JobState state, std::string& refusal) {
  if (auto read = logs(v1_id, id); !read) return read;
  std::int64_t failures = 0;
  std::string failed;
  for (const auto& [word, type] : kV1Subs) {
    if (word == "logs") continue;
    std::int64_t count = 0;
    std::string last;
    if (auto read = children(v1_id, id, word, count, last, refusal); !read) return read;
    if (!refusal.empty()) return {};
    if (word == "unsuccessful" && count > 0) {
      failures = count;
      failed = last;
    }
  }
  if (failures > 0) {
    fields.emplace_back("fails", std::to_string(failures) + ":" + failed);
    // So that it waits again once they get another run.
    if (state == JobState::failed) fields.emplace_back("failedBy", failed);
  }
  return sink_.take(Part{.key = key(queue_.to, Structure::subkeys),
                         .type = "set",
                         .first = false,
                         .job = v1_id,
                         .entries = {{id, {}}}});
}

}  // namespace echomq::inline v2::migrate
