-- queue/page: the entries of a state that is a sorted set, behind one that the caller saw, in either
-- direction. That entry may have left since: what counts is where it stood. The sentinel of `active`, of
-- an infinite score, is none of them.
-- KEYS    meta set
-- ARGV    revision descending score id limit
-- RETURNS ids and scores in turn, at most `limit` of them; from the beginning when `id` is empty
-- ERRORS  EMQFENCE
-- COST    O(limit + log N log M) for M entries of that score, no write
-- USES    fence
local m = fence()
if m.err then return m end

-- Sorted sets compare bytes; the comparison of strings in Lua asks the server's locale.
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local descending, id = ARGV[2] == '1', ARGV[4]
local total = redis.call('ZCOUNT', KEYS[2], '-inf', '(inf')
local low = descending and total or 0
if id ~= '' then
  -- How many entries stand before it, or up to it when the way leads on from there.
  low = redis.call('ZCOUNT', KEYS[2], '-inf', '(' .. ARGV[3])
  local high = redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[3])
  for _ = 1, 53 do
    if low < high then
      local middle = math.floor((low + high) / 2)
      local at = string.format('%.0f', middle)
      local there = redis.call('ZRANGE', KEYS[2], at, at)[1]
      if before(there, id) or (not descending and there == id) then
        low = middle + 1
      else
        high = middle
      end
    end
  end
end
local limit = tonumber(ARGV[5])
if descending then
  if low < limit then limit = low end
  if limit == 0 then return {} end
  local behind = redis.call('ZCARD', KEYS[2]) - low
  return redis.call('ZREVRANGE', KEYS[2], string.format('%.0f', behind),
    string.format('%.0f', behind + limit - 1), 'WITHSCORES')
end
if total - low < limit then limit = total - low end
if limit <= 0 then return {} end
return redis.call('ZRANGE', KEYS[2], string.format('%.0f', low), string.format('%.0f', low + limit - 1),
  'WITHSCORES')
