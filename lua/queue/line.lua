-- queue/line: the entries of `wait` or `crashed` behind those that the caller has passed, in either
-- direction. The line moves while jobs are claimed and added, and any job may leave it, so the caller names
-- several that it passed, the last one first, and the answer begins behind the first of them that stands
-- around the index `seen`, at which the last one stood. Ghosts between the jobs are answered too.
-- KEYS    meta line
-- ARGV    revision descending seen limit count
-- ITEM ARGV id
-- RETURNS the index of the first entry answered, the id behind which it stands, `1` when the line goes on
--         behind the last one (else `0`), then entries in the order asked for with at most `limit` jobs among
--         them; a ghost is an empty one. Nothing when none of the named ids stands there. When none is named
--         they begin at `seen`, which below 0 is the end
-- ERRORS  EMQFENCE
-- COST    O(limit): at most four calls, which read at most 2,001 entries around `seen` and, where there are
--         ghosts, 4,096 beyond the limit; no write
-- USES    fence
local m = fence()
if m.err then return m end
local descending, limit, count = ARGV[2] == '1', tonumber(ARGV[4]), tonumber(ARGV[5])
local step = descending and -1 or 1
local length = redis.call('LLEN', KEYS[2])
local seen = tonumber(ARGV[3])
local first, behind = seen < 0 and length - 1 or seen, ''
if count > 0 then
  local from, places = seen > 1000 and seen - 1000 or 0, {}
  local near = redis.call('LRANGE', KEYS[2], string.format('%.0f', from),
    string.format('%.0f', from + 2000))
  for i, id in ipairs(near) do places[id] = from + i - 1 end
  for i = 1, count do
    local id = ARGV[5 + i]
    if behind == '' and places[id] then
      behind = id
      first = places[id] + step
    end
  end
  if behind == '' then return {} end
end
if descending and first >= length then first = length - 1 end
local answer, jobs, at = { string.format('%.0f', first), behind, '0' }, 0, first

-- Reads so many entries from `at` on, and takes them until there are enough jobs.
local function take(size)
  local from, to = at, at + size - 1
  if descending then
    from, to = at - size + 1, at
    if from < 0 then from = 0 end
  end
  local entries = redis.call('LRANGE', KEYS[2], string.format('%.0f', from), string.format('%.0f', to))
  for i = 1, #entries do
    local id = entries[descending and #entries + 1 - i or i]
    if jobs < limit then
      answer[#answer + 1] = id
      at = at + step
      if id ~= '' then jobs = jobs + 1 end
    end
  end
end

if at >= 0 then take(limit) end
if jobs < limit and at >= 0 and at < length then take(4096) end
if at >= 0 and at < length then answer[3] = '1' end
return answer
