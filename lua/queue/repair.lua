-- queue/repair: brings back a queue in which a v1 client has written, as far as it is still there. What
-- queue/open wrote into `meta` tells whose queue it was; a v1 client overwrites the version and adds fields,
-- and removes none of these. `echomq:2.0.0:damaged` is what a script of ours wrote that met v1's events. A
-- pause of ours stays. The target of a migration, which `cursor` tells, is left to the migration.
-- The jobs that v1's pause moved to `paused` go back in front of those that were added since, in their order.
-- A time in `delayed` that v1 has set is 4,096 times as great; such times are put right.
-- KEYS    meta id repeat wait ghosts active prioritized crashed marker events limiter delayed paused
--         stalled stalled_check pc
-- ARGV    revision now
-- RETURNS version(0|1) v1-fields sentinels jobs delayed events limiter(0|1) ghosts(0|1) leftovers
--         paused(0|1) more(0|1: some are left, say it again): what was put right, how often
-- ERRORS  EMQFENCE
-- EMITS   repaired
-- COST    O(batch log N): at most 256 jobs, 256 delayed ones, 256 events and 300 calls
-- USES    fence sentinel emit v1_fields
local chunk = 256

-- Whatever is of a type that stops this, stops it here, before the first write.
local function look()
  redis.call('LLEN', KEYS[4])
  redis.call('HLEN', KEYS[5])
  redis.call('ZCARD', KEYS[7])
  redis.call('LLEN', KEYS[8])
  redis.call('ZCARD', KEYS[12])
  return redis.call('ZSCORE', KEYS[6], sentinel())
end

local restored, fields, third = 0, 0, nil
local seen = redis.pcall('HMGET', KEYS[1], 'version', 'min_revision', 'created', 'cursor')
local ours = not seen.err and seen[1] == 'echomq:2.0.0'
local noticed = not seen.err and seen[1] == 'echomq:2.0.0:damaged'
local overwritten = noticed or
  (not seen.err and seen[1] and string.sub(seen[1], 1, 6) == 'bullmq' and not seen[4])
if (ours or overwritten) and seen[3] and seen[2] and tonumber(seen[2]) <= tonumber(ARGV[1]) then
  third = look()
  fields = drop_v1_fields()
  if overwritten then
    redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0')
    restored = 1
  end
end
local m = fence()
if m.err then return m end
third = third or look()

local sentinels = 0
if redis.call('HGET', KEYS[1], 'concurrency') ~= 'echomq:2.0.0' then
  redis.call('HSET', KEYS[1], 'concurrency', 'echomq:2.0.0')
  sentinels = 1
end
if redis.pcall('GET', KEYS[2]) ~= 'echomq:2.0.0' then
  redis.call('UNLINK', KEYS[2])
  redis.call('SET', KEYS[2], 'echomq:2.0.0')
  sentinels = sentinels + 1
end
if redis.pcall('GET', KEYS[3]) ~= 'echomq:2.0.0' then
  redis.call('UNLINK', KEYS[3])
  redis.call('SET', KEYS[3], 'echomq:2.0.0')
  sentinels = sentinels + 1
end
if not third then
  redis.call('ZADD', KEYS[6], 'inf', sentinel())
  sentinels = sentinels + 1
end

-- The back of `paused` goes first, each in front of the one before.
local jobs, more = 0, 0
if redis.call('TYPE', KEYS[13]).ok == 'list' then
  local ids = redis.call('RPOP', KEYS[13], '256')
  redis.call('LPUSH', KEYS[4], unpack(ids))
  for _, id in ipairs(ids) do
    if id ~= '' then jobs = jobs + 1 end
  end
  more = redis.call('EXISTS', KEYS[13])
end
local leftovers = redis.call('UNLINK', KEYS[14], KEYS[15], KEYS[16])
if more == 0 then leftovers = leftovers + redis.call('UNLINK', KEYS[13]) end

-- 2^52 and more: no time of ours is that far away, and each that v1 multiplied since 2004 is.
local far = redis.call('ZRANGEBYSCORE', KEYS[12], '4503599627370496', '(inf', 'WITHSCORES', 'LIMIT', '0',
  '256')
local delayed = math.floor(#far / 2)
if delayed > 0 then
  local near = {}
  for i = 1, #far, 2 do
    near[i], near[i + 1] = string.format('%.0f', math.floor(tonumber(far[i + 1]) / 4096)), far[i]
  end
  redis.call('ZADD', KEYS[12], unpack(near))
  redis.pcall('ZADD', KEYS[9], redis.call('ZRANGE', KEYS[12], '0', '0', 'WITHSCORES')[2], '1')
  if delayed == chunk then more = 1 end
end

-- A v1 client removes empty entries and does not count them. A longer list is left to the claims.
local ghosts = 0
local noted = redis.call('HGET', KEYS[5], 'wait')
if noted and more == 0 and redis.call('LLEN', KEYS[4]) <= chunk then
  local empty = 0
  for _, id in ipairs(redis.call('LRANGE', KEYS[4], '0', '255')) do
    if id == '' then empty = empty + 1 end
  end
  if empty ~= tonumber(noted) then
    redis.call('HDEL', KEYS[5], 'wait')
    if empty > 0 then redis.call('HSET', KEYS[5], 'wait', string.format('%.0f', empty)) end
    ghosts = 1
  end
end

local limiter = 0
local limits = redis.call('TYPE', KEYS[11]).ok
if limits ~= 'none' and limits ~= 'hash' then limiter = redis.call('UNLINK', KEYS[11]) end

-- Events of a v1 client have times for numbers, and the server takes none of ours behind them. They go, and
-- ours go on behind the last of them, so that a listener sees that it missed some.
local last = redis.call('HGET', KEYS[1], 'event_seq') or '0'
local foreign = redis.pcall('XRANGE', KEYS[10], '(' .. last .. '-0', '+', 'COUNT', '256')
local events = 0
if not foreign.err and #foreign > 0 then
  for _, entry in ipairs(foreign) do
    events = events + redis.call('XDEL', KEYS[10], entry[1])
  end
  redis.call('HSET', KEYS[1], 'event_seq', string.match(foreign[#foreign][1], '^%d+'))
  if events == chunk then more = 1 end
elseif noticed then
  -- Those that v1 has trimmed since leave nothing but their numbers, which are times.
  local latest = math.max(tonumber(ARGV[2]), tonumber(last))
  redis.call('HSET', KEYS[1], 'event_seq', string.format('%.0f', latest + 60000))
end

if not m.paused and redis.call('LLEN', KEYS[4]) + redis.call('ZCARD', KEYS[7]) +
  redis.call('LLEN', KEYS[8]) > 0 then
  redis.pcall('ZADD', KEYS[9], '0', '0')
end
local sum = restored + fields + sentinels + jobs + delayed + events + limiter + ghosts + leftovers
if sum > 0 and more == 0 then emit(KEYS[10], m, ARGV[2], 'repaired', { '' }) end
return { restored, fields, sentinels, jobs, delayed, events, limiter, ghosts, leftovers, m.paused and 1 or 0,
  more }
