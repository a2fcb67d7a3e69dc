-- queue/open: makes a queue, or proves that the one there is ours. The only script that writes meta
-- where there was none, and only when every other fixed key of the queue is absent too.
-- KEYS    meta id repeat wait ghosts prioritized crashed active delayed completed failed
--         waiting_children marker events limiter producers outbox trash subkeys schedules de de_due
--         de_next
-- ARGV    revision now event_cap
-- RETURNS 1 when the queue was made by this call, 0 when it was there
-- ERRORS  EMQFENCE EMQFULL
-- COST    O(1): at most 7 calls
-- USES    fence full sentinel

local meta = redis.pcall('EXISTS', KEYS[1])
if meta == 0 then
  if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9],
    KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18],
    KEYS[19], KEYS[20], KEYS[21], KEYS[22], KEYS[23]) > 0 then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=keys of the queue without a meta')
  end
  local made = redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0', 'min_revision', '1',
    'created', ARGV[2], 'event_cap', ARGV[3], 'concurrency', 'echomq:2.0.0')
  if refused(made) then return refused(made) end
  redis.call('SET', KEYS[2], 'echomq:2.0.0')
  redis.call('SET', KEYS[3], 'echomq:2.0.0')
  redis.call('ZADD', KEYS[8], 'inf', sentinel())
  return 1
end
local m = fence()
if m.err then return m end
-- The sentinels stop a v1 client at its first act. A number in `id` or a set in `repeat` shows that one
-- has written here while they were missing.
local id, rep = redis.pcall('GET', KEYS[2]), redis.pcall('GET', KEYS[3])
local third = redis.call('ZSCORE', KEYS[8], sentinel())
if (id and id ~= 'echomq:2.0.0') or (rep and rep ~= 'echomq:2.0.0') then
  return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=a sentinel overwritten by another wire')
end
-- Where a v1 worker finds this field it counts `active` first, which is no list, and does nothing more.
local fourth = redis.call('HGET', KEYS[1], 'concurrency')
if not id or not rep or not third or fourth ~= 'echomq:2.0.0' then
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], 'concurrency', 'echomq:2.0.0')
  redis.call('SET', KEYS[2], 'echomq:2.0.0')
  redis.call('SET', KEYS[3], 'echomq:2.0.0')
  redis.call('ZADD', KEYS[8], 'inf', sentinel())
end
return 0
