-- job/claim: moves ready ids into `active` under one lease. It touches no job hash: the worker loads
-- those afterwards, by keys that it then knows. At most one job that has been through a crash is taken,
-- and only when the caller runs none. An id that is active already is dropped (NX), never run twice.
-- Ghosts, the empty entries of a line, are dropped too, at most 256 beyond those asked for. No more are taken
-- than the limits of the queue let through; every job that is taken counts, whatever becomes of it.
-- KEYS    meta active wait prioritized crashed marker delayed ghosts limiter
-- ARGV    revision score count take_crashed now
-- RETURNS gate (open|paused|held|concurrency|rate) as this claim leaves it, ready left, crashed left, next
--         due ms, oldest lease, when the gate opens by itself (ms), the ids joined by blanks; due and lease
--         are 0 when unknown, and looked up only when fewer jobs were taken than asked for
-- ERRORS  EMQFENCE
-- COST    O(count log N): at most twelve calls, three more for each line with ghosts, eight when there are
--         limits
-- USES    fence limits gates pass
local m = fence()
if m.err then return m end
local asked, ids = tonumber(ARGV[3]), {}
local waiting, placed = redis.call('LLEN', KEYS[3]), redis.call('ZCARD', KEYS[4])
local crashed = redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[2])
redis.call('ZCARD', KEYS[7])
local take_crashed = ARGV[4] == '1'
local g = m.limits and not m.paused and look_at_gates(m, KEYS[2], KEYS[9], tonumber(ARGV[5]))
local want = g and math.min(asked, g.room) or asked

-- Appends what is no ghost; answers how many were.
local function take_live(entries, out)
  local dead = 0
  for _, id in ipairs(entries) do
    if id == '' then
      dead = dead + 1
    else
      out[#out + 1] = id
    end
  end
  return dead
end

-- Takes from the front of a line until `most` ids are there; answers how many entries it lost.
local function take_from_line(line, name, most)
  local taken = redis.call('LPOP', line, string.format('%.0f', most - #ids))
  local dead, lost = take_live(taken, ids), #taken
  if dead > 0 then
    local ahead, run = redis.call('LRANGE', line, '0', '255'), 0
    for i, id in ipairs(ahead) do
      if id == '' and run == i - 1 then run = i end
    end
    local more = redis.call('LPOP', line, string.format('%.0f', run + most - #ids)) or {}
    dead, lost = dead + take_live(more, ids), lost + #more
    redis.pcall('HINCRBY', KEYS[8], name, string.format('%.0f', -dead))
  end
  return lost
end

if not m.paused and want > 0 then
  if take_crashed and crashed > 0 then crashed = crashed - take_from_line(KEYS[5], 'crashed', 1) end
  if waiting > 0 and #ids < want then waiting = waiting - take_from_line(KEYS[3], 'wait', want) end
  if placed > 0 and #ids < want then
    local taken = redis.call('ZPOPMIN', KEYS[4], string.format('%.0f', want - #ids))
    for i = 1, #taken, 2 do ids[#ids + 1] = taken[i] end
    placed = placed - math.floor(#taken / 2)
  end
end

local short = #ids < asked
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
local gate, opens = m.paused and 'paused' or 'open', 0
if g then
  pass(g, KEYS[9], #ids)
  gate, opens = closed_gate(g, #ids)
  if opens > 0 and left + crashed > 0 then arm(g, KEYS[2], KEYS[9], KEYS[6], opens) end
end
if gate == 'open' and (left > 0 or (take_crashed and crashed > 0)) then
  redis.pcall('ZADD', KEYS[6], '0', '0')
end

local due, oldest = '0', '0'
if short then
  due = redis.call('ZRANGE', KEYS[7], '0', '0', 'WITHSCORES')[2] or '0'
  oldest = redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2] or '0'
  if oldest == 'inf' then oldest = '0' end -- the sentinel
end
return { gate, left, crashed, due, oldest, opens, table.concat(ids, ' ') }
