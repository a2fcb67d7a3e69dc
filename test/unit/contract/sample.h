// SPDX-License-Identifier: MIT
// A small script set that obeys every rule; the tests break one thing of it at a time.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "contract/rules.h"

namespace echomq::inline v2::contract {

inline const std::string kFenceLib = R"(-- The fence of a queue's keys.
local function fence()
  local m = redis.pcall('HMGET', KEYS[1], 'version')
  if m.err or m[1] ~= 'echomq:2.0.0' then return redis.error_reply('EMQFENCE found=another wire') end
  return { revision = ARGV[1] }
end
)";

inline const std::string kFenceReserveLib = R"(-- The fence of the deployment's keys.
local function fence()
  local v = redis.pcall('GET', KEYS[1])
  if v ~= 'echomq:2.0.0' then return redis.error_reply('EMQFENCE found=another wire') end
  return { revision = ARGV[1] }
end
)";

inline const std::string kEmitLib = R"(-- One entry of the event stream.
local function emit(stream, now, event, ids)
  redis.pcall('XADD', stream, now .. '-0', event, table.concat(ids, ' '))
end
)";

inline const std::string kJobSample = R"(-- job/sample: a script for the tests of the contract.
-- It checks that jobs are there.
-- KEYS      meta wait
--           events
-- ITEM KEYS job
-- ARGV      revision now count
-- ITEM ARGV id name
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone
-- ERRORS    EMQFENCE
-- EMITS     touched
-- COST      O(batch)
-- USES      fence emit
local m = fence()
if m.err then return m end

-- A comment, and a trailing one.
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])  -- the type is right
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
)";

inline const std::string kNodeSample = R"(-- node/sample: a script of the deployment's own keys.
-- KEYS    version nodes
-- ARGV    revision
-- RETURNS how many nodes there are
-- ERRORS  EMQFENCE
-- COST    O(1)
-- USES    fence_reserve
local m = fence()
if m.err then return m end
return redis.call('HLEN', KEYS[2])
)";

// `text` with its one occurrence of `from` replaced.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no such text in the sample: " + std::string(from)
                                 : text.replace(at, from.size(), to);
}

inline std::vector<SourceFile> sample_set() {
  return {{"job/sample.lua", kJobSample},
          {"lib/emit.lua", kEmitLib},
          {"lib/fence.lua", kFenceLib},
          {"lib/fence_reserve.lua", kFenceReserveLib},
          {"node/sample.lua", kNodeSample},
          {"queue/sample.lua", with(kJobSample, "job/sample:", "queue/sample:")}};
}

// The sample set with one file replaced or added.
inline std::vector<SourceFile> sample_set_with(const std::string& path, const std::string& text) {
  std::vector<SourceFile> files = sample_set();
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const SourceFile& file) { return file.path == path; });
  if (at == files.end())
    files.push_back({path, text});
  else
    at->text = text;
  return files;
}

inline Problems problems_of(const std::vector<SourceFile>& files) {
  Bundle bundle;
  return check(files, bundle);
}

inline std::string listing(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_string(problem) + "\n";
  return text;
}

}  // namespace echomq::inline v2::contract
