-- queue/line: the entries of `wait` or `crashed` behind one that the caller saw, in either direction.
-- The line moves while jobs are claimed and added, so that entry is looked for around the index at which
-- it stood; when it has left, the answer begins at that index.
-- KEYS    meta line
-- ARGV    revision descending seen id limit
-- RETURNS the index of the first entry answered, then entries in the order asked for, at most `limit`;
--         a ghost is an empty one. When `id` is empty they begin at `seen`, which below 0 is the end
-- ERRORS  EMQFENCE
-- COST    O(limit), no write
-- USES    fence
local m = fence()
if m.err then return m end
local descending, id, limit = ARGV[2] == '1', ARGV[4], tonumber(ARGV[5])
local length = redis.call('LLEN', KEYS[2])
local seen = tonumber(ARGV[3])
local first = seen < 0 and length - 1 or seen
if id ~= '' then
  local from = seen > 1000 and seen - 1000 or 0
  local near = redis.call('LRANGE', KEYS[2], string.format('%.0f', from),
    string.format('%.0f', from + 2000))
  first = descending and seen - 1 or seen
  for i, there in ipairs(near) do
    if there == id then
      local at = from + i - 1
      first = descending and at - 1 or at + 1
    end
  end
end
if descending and first >= length then first = length - 1 end
local answer = { string.format('%.0f', first) }
if first < 0 then return answer end
local from, to = first, first + limit - 1
if descending then
  from, to = first - limit + 1, first
  if from < 0 then from = 0 end
end
local entries = redis.call('LRANGE', KEYS[2], string.format('%.0f', from), string.format('%.0f', to))
for i = 1, #entries do
  answer[1 + i] = entries[descending and #entries + 1 - i or i]
end
return answer
