-- job/claim: moves ready ids into `active` under one lease. It touches no job hash: the worker loads
-- those afterwards, by keys that it then knows. At most one job that has been through a crash is taken,
-- and only when the caller runs none. An id that is active already is dropped (NX), never run twice.
-- KEYS    meta active wait prioritized crashed marker delayed
-- ARGV    revision score count take_crashed
-- RETURNS gate (open|paused), ready left, crashed left, next due ms, oldest lease, then the ids; due and
--         lease are 0 when unknown, and looked up only when fewer jobs were ready than asked for
-- ERRORS  EMQFENCE
-- COST    O(count log N): at most twelve calls
-- USES    fence
local m = fence()
if m.err then return m end
local want, ids = tonumber(ARGV[3]), {}
local waiting, placed = redis.call('LLEN', KEYS[3]), redis.call('ZCARD', KEYS[4])
local crashed = redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[2])
redis.call('ZCARD', KEYS[7])
local take_crashed = ARGV[4] == '1'

if not m.paused and want > 0 then
  if take_crashed and crashed > 0 then
    ids[1] = redis.call('LPOP', KEYS[5])
    crashed = crashed - 1
  end
  if waiting > 0 and #ids < want then
    local taken = redis.call('LPOP', KEYS[3], string.format('%.0f', want - #ids))
    for _, id in ipairs(taken) do ids[#ids + 1] = id end
    waiting = waiting - #taken
  end
  if placed > 0 and #ids < want then
    local taken = redis.call('ZPOPMIN', KEYS[4], string.format('%.0f', want - #ids))
    for i = 1, #taken, 2 do ids[#ids + 1] = taken[i] end
    placed = placed - math.floor(#taken / 2)
  end
end

local short = #ids < want
if #ids > 0 then
  local leases = {}
  for i, id in ipairs(ids) do
    leases[2 * i - 1], leases[2 * i] = ARGV[2], id
  end
  if redis.call('ZADD', KEYS[2], 'NX', unpack(leases)) < #ids then
    local scores, mine, seen = redis.call('ZMSCORE', KEYS[2], unpack(ids)), {}, {}
    for i, id in ipairs(ids) do
      if scores[i] == ARGV[2] and not seen[id] then mine[#mine + 1] = id end
      seen[id] = true
    end
    ids = mine
  end
end
local left = waiting + placed
if not m.paused and (left > 0 or (take_crashed and crashed > 0)) then
  redis.pcall('ZADD', KEYS[6], '0', '0')
end

local due, oldest = '0', '0'
if short then
  due = redis.call('ZRANGE', KEYS[7], '0', '0', 'WITHSCORES')[2] or '0'
  oldest = redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2] or '0'
  if oldest == 'inf' then oldest = '0' end -- the sentinel
end
local answer = { m.paused and 'paused' or 'open', left, crashed, due, oldest }
for i, id in ipairs(ids) do answer[5 + i] = id end
return answer
