// SPDX-License-Identifier: MIT
#include "migrate/v1_fence.h"

#include <utility>
#include <vector>

#include "migrate/v1_job.h"
#include "migrate/v1_options.h"
#include "migrate/walk.h"

namespace echomq::inline v2::migrate {
namespace {

// KEYS: meta wait paused marker kept_marker
constexpr const char* kPause = R"(
if redis.call('TYPE', KEYS[1]).ok == 'string' then return 0 end
if redis.call('HEXISTS', KEYS[1], 'paused') == 1 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then
  if redis.call('EXISTS', KEYS[3]) == 1 then return redis.error_reply('both wait and paused hold jobs') end
  redis.call('RENAME', KEYS[2], KEYS[3])
end
redis.call('HSET', KEYS[1], 'paused', 1)
if redis.call('EXISTS', KEYS[4]) == 1 then redis.call('RENAME', KEYS[4], KEYS[5]) end
return 1)";

// KEYS: active, then meta, id and repeat, each with the name under which it is kept; ARGV: the
// tombstone. What stood there keeps standing beside it, so that it comes back as it was, whoever
// dies in between. (An add with a repeat rule writes to `repeat` before it looks at the others.)
constexpr const char* kTombstones = R"(
if redis.call('TYPE', KEYS[2]).ok == 'string' then return 0 end
local running = redis.call('LLEN', KEYS[1])
if running > 0 then return running end
for i = 2, 6, 2 do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[i + 1]) end
  redis.call('SET', KEYS[i], ARGV[1])
end
return 0)";

// KEYS: meta, id and repeat, each with the name under which it is kept, then wait paused marker
// kept_marker; ARGV: whether v1 was paused itself.
constexpr const char* kGiveBack = R"(
if redis.call('TYPE', KEYS[1]).ok == 'string' then
  for i = 1, 5, 2 do
    redis.call('DEL', KEYS[i])
    if redis.call('EXISTS', KEYS[i + 1]) == 1 then redis.call('RENAME', KEYS[i + 1], KEYS[i]) end
  end
end
if ARGV[1] == '0' and redis.call('HDEL', KEYS[1], 'paused') == 1 then
  if redis.call('EXISTS', KEYS[8]) == 1 then redis.call('RENAME', KEYS[8], KEYS[7]) end
  if redis.call('EXISTS', KEYS[10]) == 1 then redis.call('RENAME', KEYS[10], KEYS[9]) end
end
return 1)";

Result<wire::Reply> run(Link& source, const char* script, const std::vector<std::string>& keys,
                        const std::vector<std::string>& args) {
  std::vector<std::string> words{"EVAL", script, std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), args.begin(), args.end());
  return source.ask(words);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<bool> stands_open(Link& source, const V1Keys& v1) {
  for (const auto* const word : {"meta", "id"}) {
    const auto type = source.ask({"TYPE", v1(word)});
    if (!type) return type.error();
    if (type->text != "string") continue;
    const auto text = source.ask({"GET", v1(word)});
    if (!text) return text.error();
    if (text->text.starts_with(kTombstone)) return false;
  }
  std::vector<std::string> words{"EXISTS", v1("meta"), v1("id"), v1("active")};
  for (const auto& stage : kStages) words.push_back(v1(stage.v1));
  const auto there = source.ask(words);
  if (!there) return there.error();
  return there->integer > 0;
}

Result<void> note_source(Link& source, const V1Keys& v1, Journal& journal) {
  const auto meta = source.ask({"HGETALL", v1("meta")});
  if (!meta) return meta.error();
  const auto id = source.ask({"GET", v1("id")});
  if (!id) return id.error();
  const auto fields = read_hash(*meta);
  Json noted = Json::object();
  for (const auto& [field, value] : fields) noted[field] = value;
  journal.was_paused = fields.contains("paused");
  journal.meta = dumped(noted);
  journal.id = id->text;
  return {};
}

Result<void> pause_source(Link& source, const V1Keys& v1) {
  const auto reply = run(source, kPause,
                         {v1("meta"), v1("wait"), v1("paused"), v1("marker"), v1(kKeptMarker)}, {});
  if (!reply) return reply.error();
  return {};
}

Result<std::int64_t> count_active(Link& source, const V1Keys& v1) {
  const auto reply = source.ask({"LLEN", v1("active")});
  if (!reply) return reply.error();
  return reply->integer;
}

Result<std::int64_t> put_tombstones(Link& source, const V1Keys& v1, const std::string& target) {
  const auto reply = run(source, kTombstones,
                         {v1("active"), v1("meta"), v1(kKeptMeta), v1("id"), v1(kKeptId),
                          v1("repeat"), v1(kKeptRepeat)},
                         {tombstone(target)});
  if (!reply) return reply.error();
  return reply->integer;
}

Result<void> give_back(Link& source, const V1Keys& v1, const Journal& journal) {
  const auto reply = run(source, kGiveBack,
                         {v1("meta"), v1(kKeptMeta), v1("id"), v1(kKeptId), v1("repeat"),
                          v1(kKeptRepeat), v1("wait"), v1("paused"), v1("marker"), v1(kKeptMarker)},
                         {journal.was_paused ? "1" : "0"});
  if (!reply) return reply.error();
  return {};
}

}  // namespace echomq::inline v2::migrate
