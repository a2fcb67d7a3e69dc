// SPDX-License-Identifier: MIT
#include "queue/entries.h"

#include <utility>

#include "echomq_scripts.h"
#include "queue/ask.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

const std::string* set_of(const QueueKeys& keys, JobState state) {
  switch (state) {
    case JobState::prioritized: return &keys.prioritized;
    case JobState::delayed: return &keys.delayed;
    case JobState::active: return &keys.active;
    case JobState::completed: return &keys.completed;
    case JobState::failed: return &keys.failed;
    case JobState::waiting_children: return &keys.waiting_children;
    case JobState::waiting: return nullptr;
  }
  return nullptr;
}

Result<std::vector<SetEntry>> read_set(QueueCore& queue, const std::string& set, PageOrder order,
                                       const SetEntry& from, std::size_t limit) {
  auto reply =
      ask(queue, ScriptCall::of<scripts::QueuePage>({.meta = queue.keys().meta, .set = set},
                                                    {.revision = scripts::kRevision,
                                                     .descending = order == PageOrder::descending,
                                                     .score = from.score,
                                                     .id = from.id,
                                                     .limit = limit}));
  if (!reply) return reply.error();
  std::vector<SetEntry> entries;
  for (std::size_t i = 0; i + 1 < reply->items.size(); i += 2)
    entries.push_back({std::move(reply->items[i].text), std::move(reply->items[i + 1].text)});
  return entries;
}

Result<LineRead> read_line(QueueCore& queue, const std::string& line, PageOrder order,
                           const LineStart& from, std::size_t limit) {
  using Transition = scripts::QueueLine;
  const bool descending = order == PageOrder::descending;
  auto call = ScriptCall::of<Transition>({.meta = queue.keys().meta, .line = line},
                                         {.revision = scripts::kRevision,
                                          .descending = descending,
                                          .seen = from.index,
                                          .limit = limit,
                                          .count = from.behind.size()});
  for (const auto& id : from.behind) call.put_args(Transition::ItemArgs{.id = id});
  auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  LineRead read;
  auto& items = reply->items;
  if (items.size() < 3) return read;
  read.next = wire::number_of(items[0]);
  read.behind = std::move(items[1].text);
  read.more = items[2].text == "1";
  for (std::size_t i = 3; i < items.size(); ++i) {
    if (!items[i].text.empty()) read.jobs.push_back({std::move(items[i].text), read.next});
    read.next += descending ? -1 : 1;
  }
  return read;
}

}  // namespace echomq::inline v2
