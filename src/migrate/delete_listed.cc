// SPDX-License-Identifier: MIT
#include "migrate/delete_listed.h"

#include <utility>

#include "wire/command.h"

namespace echomq::inline v2::migrate {

Result<void> delete_listed(Link& link, const std::string& key, bool list, const AddKeys& add_keys,
                           const OnChunk& on_chunk) {
  constexpr std::int64_t kAtOnce = 128;
  const auto last = std::to_string(kAtOnce - 1);
  while (true) {
    const auto ids = link.ask({list ? "LRANGE" : "ZRANGE", key, "0", last});
    if (!ids) return ids.error();
    if (ids->items.empty()) return {};
    std::vector<std::string> words{"UNLINK"};
    for (const auto& id : ids->items) add_keys(words, id.text);
    Commands commands;
    if (words.size() > 1) commands.push_back(command_of(words));
    if (list)
      wire::append_command(commands.emplace_back(), {"LTRIM", key, std::to_string(kAtOnce), "-1"});
    else
      wire::append_command(commands.emplace_back(), {"ZREMRANGEBYRANK", key, "0", last});
    if (const auto done = link.ask_all(std::move(commands)); !done) return done.error();
    if (!on_chunk) continue;
    if (auto on = on_chunk("deleting", static_cast<std::int64_t>(ids->items.size())); !on)
      return on;
  }
}

}  // namespace echomq::inline v2::migrate
