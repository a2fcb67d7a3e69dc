// SPDX-License-Identifier: MIT
#include "probe/observed.h"

#include <algorithm>
#include <string_view>

#include "echomq_scripts.h"

namespace echomq::inline v2::probe {
namespace {

const scripts::Contract* contract_of(std::string_view name) {
  const auto all = scripts::contracts();
  const auto it = std::find_if(all.begin(), all.end(),
                               [name](const auto& contract) { return contract.script == name; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

void Observed::note(const Script& script, const wire::Reply& reply) {
  const std::lock_guard lock(mutex_);
  auto& seen = scripts_[std::string(script.name)];
  if (reply.is_error()) {
    // The server's own errors (WRONGTYPE, NOSCRIPT) are no words of a script.
    if (reply.text.starts_with("EMQ"))
      seen.errors.insert(reply.text.substr(0, reply.text.find(' ')));
    return;
  }
  const auto* const contract = contract_of(script.name);
  if (contract == nullptr || contract->statuses.empty()) return;
  // The statuses are the answer, or the first of its parts, some of which are lists; and one word
  // may stand for all of them.
  const auto is_list = [](const wire::Reply& part) {
    return part.kind == wire::Reply::Kind::array;
  };
  const bool parts = std::any_of(reply.items.begin(), reply.items.end(), is_list);
  const auto& statuses = parts ? reply.items[0] : reply;
  if (!is_list(statuses)) seen.statuses.insert(statuses.text);
  for (const auto& item : statuses.items) seen.statuses.insert(item.text);
}

void Observed::compare(std::string_view script, std::string_view kind,
                       std::span<const std::string_view> declared, const Words& seen,
                       std::vector<std::string>& gaps) {
  const auto gap = [&](std::string_view word, std::string_view problem) {
    gaps.push_back(std::string(script) + ": " + std::string(kind) + " " + std::string(word) + " " +
                   std::string(problem));
  };
  for (const auto word : declared)
    if (!seen.contains(word)) gap(word, "is declared, and was not observed");
  for (const auto& word : seen)
    if (std::find(declared.begin(), declared.end(), word) == declared.end())
      gap(word, "was observed, and is not declared");
}

std::vector<std::string> Observed::gaps() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> gaps;
  for (const auto& contract : scripts::contracts()) {
    const auto seen = scripts_.find(contract.script);
    const auto& replies = seen == scripts_.end() ? Replies() : seen->second;
    compare(contract.script, "error", contract.errors, replies.errors, gaps);
    compare(contract.script, "status", contract.statuses, replies.statuses, gaps);
  }
  return gaps;
}

Observed& Observed::of_process() {
  static Observed all;
  return all;
}

}  // namespace echomq::inline v2::probe
