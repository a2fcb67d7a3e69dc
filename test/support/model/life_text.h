// SPDX-License-Identifier: MIT
// How the steps of a life are made and told: what the files of Life share.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/model/life.h"
#include "wire/command.h"

namespace echomq::test {

inline std::string answer(const Reply& reply) {
  return reply.is_error() ? reply.text.substr(0, reply.text.find(' ')) : show(reply);
}
inline std::string answer(const Claimed& claimed) { return answer(claimed.reply); }

// Fields of a hash come in no order.
inline std::string answer_of_read(const Reply& reply, std::ptrdiff_t before = 2) {
  const auto flat = texts(reply);
  std::map<std::string, std::string> fields;
  for (auto i = static_cast<std::size_t>(before); i + 1 < flat.size(); i += 2)
    fields[flat[i]] = flat[i + 1];
  Ids sorted(flat.begin(), flat.begin() + std::min(before, std::ssize(flat)));
  for (const auto& [field, value] : fields) sorted.insert(sorted.end(), {field, value});
  return bracketed(sorted);
}

inline std::string by_hand(ScriptQueue& q, const std::vector<std::string>& words) {
  const auto command = wire::command(words);
  if (q.journal != nullptr) q.journal->push_back(command);
  return show(q.redis()(words));
}

inline std::string described(const JobToAdd& job) {
  std::string all = " " + job.id;
  if (job.delay != 0) all += " delay=" + std::to_string(job.delay);
  if (job.priority != 0) all += " priority=" + std::to_string(job.priority);
  if (job.lifo) all += " lifo";
  if (!job.de.empty())
    all += " de=" + job.de + " how='" + job.how + "' ttl=" + std::to_string(job.ttl) + " seen='" +
           job.seen.value_or("") + "'";
  return all + ";";
}

inline std::string described(const Flush& flush) {
  return " flush " + flush.lane + " " + std::to_string(flush.grant) + ":" +
         std::to_string(flush.number.value_or(0));
}

inline std::string described(const JobRun& run) {
  return " " + run.id + "/" + std::to_string(run.token);
}
inline std::string described(const Seen& seen) { return " " + seen.id + "=" + seen.score; }
inline std::string described(const OwnedSeen& seen) {
  return " " + seen.de + " of " + seen.owner + " kept '" + seen.kept + "'";
}
inline std::string described(const std::string& id) { return " " + id; }
inline std::string described(const FireStep& step) {
  return " " + step.id + " from " + *step.seen + " by " + step.tick + " to '" + step.next +
         "' after '" + step.last_job + "';";
}

template <class Item>
std::string all_of(const std::vector<Item>& items) {
  std::string all;
  for (const auto& item : items) all += described(item);
  return all;
}

template <class Item>
std::string runs_of(const std::vector<Item>& items) {
  std::string all;
  for (const auto& item : items) all += described(item.run);
  return all;
}

inline std::string described(const Retention& keep) {
  return " keep " + std::to_string(keep.count) + " for " + std::to_string(keep.age_ms) + " bytes " +
         std::to_string(keep.bytes);
}

template <class Call>
Step Life::step(std::string text, Call call) {
  return {.text = std::move(text),
          .client = client_,
          .now = now(),
          .of_model = [call](QueueModel& q) { return q.is_open ? call(q) : "EMQFENCE"; },
          .of_scripts = [call](ScriptQueue& q) { return answer(call(q)); }};
}

template <class Item>
void Life::maybe_twice(std::vector<Item>& items) {
  if (!items.empty() && one_in(8)) items.push_back(items[below(items.size())]);
}

}  // namespace echomq::test
