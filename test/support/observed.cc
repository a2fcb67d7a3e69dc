// SPDX-License-Identifier: MIT
#include "support/observed.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>

#include "echomq_scripts.h"

namespace echomq::test {
namespace {

using Words = std::set<std::string, std::less<>>;

struct Replies {
  Words errors;
  Words statuses;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Replies, std::less<>> scripts;
};

Registry& registry() {
  static Registry all;
  return all;
}

const scripts::Contract* contract_of(std::string_view name) {
  const auto all = scripts::contracts();
  const auto it = std::find_if(all.begin(), all.end(),
                               [name](const auto& contract) { return contract.script == name; });
  return it == all.end() ? nullptr : &*it;
}

void compare(std::string_view script, std::string_view kind,
             std::span<const std::string_view> declared, const Words& seen,
             std::vector<std::string>& gaps) {
  const auto gap = [&](std::string_view word, std::string_view problem) {
    gaps.push_back(std::string(script) + ": " + std::string(kind) + " " + std::string(word) + " " +
                   std::string(problem));
  };
  for (const auto word : declared)
    if (!seen.contains(word)) gap(word, "is declared, and no test observed it");
  for (const auto& word : seen)
    if (std::find(declared.begin(), declared.end(), word) == declared.end())
      gap(word, "was observed, and is not declared");
}

}  // namespace

void observe(const Script& script, const wire::Reply& reply) {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  auto& seen = all.scripts[std::string(script.name)];
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

std::vector<std::string> contract_gaps() {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> gaps;
  for (const auto& contract : scripts::contracts()) {
    const auto& seen = all.scripts[std::string(contract.script)];
    compare(contract.script, "error", contract.errors, seen.errors, gaps);
    compare(contract.script, "status", contract.statuses, seen.statuses, gaps);
  }
  return gaps;
}

}  // namespace echomq::test
