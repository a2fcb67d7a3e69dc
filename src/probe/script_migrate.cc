// SPDX-License-Identifier: MIT
// The calls of a migration.
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

Reply ScriptQueue::open_target(const migrate::Fields& settings) {
  const auto text = migrate::packed(settings);
  return call(ScriptCall::of<scripts::MigrateOpen>(
      keys, {.revision = revision, .now = now, .settings = text}));
}

Reply ScriptQueue::put(const std::string& from, const std::string& to, Structure place,
                       const std::vector<migrate::MovedJob>& jobs) {
  const auto where = key(name(), place);
  auto out = ScriptCall::of<scripts::MigratePut>(
      scripts::MigratePut::Keys{.meta = keys.meta, .place = where},
      {.revision = revision,
       .from = from,
       .to = to,
       .kind = place == Structure::wait ? "list" : "zset",
       .count = jobs.size()});
  for (const auto& moved : jobs) {
    const auto hash = job(moved.id);
    const auto fields = migrate::packed(moved.fields);
    out.put_keys(scripts::MigratePut::ItemKeys{.job = hash});
    out.put_args(
        scripts::MigratePut::ItemArgs{.id = moved.id, .score = moved.score, .fields = fields});
  }
  return call(out);
}

Reply ScriptQueue::append(const std::string& key, std::string_view type, bool replace,
                          const migrate::Fields& entries) {
  auto out = ScriptCall::of<scripts::MigrateAppend>(
      scripts::MigrateAppend::Keys{.meta = keys.meta, .target = key},
      {.revision = revision, .type = type, .replace = replace, .count = entries.size()});
  for (const auto& [entry, value] : entries)
    out.put_args(scripts::MigrateAppend::ItemArgs{.name = entry, .value = value});
  return call(out);
}

Reply ScriptQueue::close_target(std::string_view how) {
  return call(ScriptCall::of<scripts::MigrateClose>(keys, {.revision = revision, .how = how}));
}

}  // namespace echomq::inline v2::probe
