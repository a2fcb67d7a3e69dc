-- queue/open: makes a queue, or proves that the one there is ours. The only script that writes meta
-- where there was none, and only when every other fixed key of the queue is absent too.
-- KEYS    meta id repeat wait ghosts prioritized crashed active delayed completed failed
--         waiting_children marker events limiter producers outbox trash subkeys schedules de de_due
--         de_next
-- ARGV    revision now event_cap
-- RETURNS 1 when the queue was made by this call, 0 when it was there
-- ERRORS  EMQFENCE EMQFULL
-- COST    O(1): at most 7 calls
-- USES    fence full sentinel make

local meta = redis.pcall('EXISTS', KEYS[1])
if meta == 0 then return make('echomq:2.0.0', { 'event_cap', ARGV[3] }) end
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
  put_sentinels()
end
return 0
