-- schedule/pause: a scheduler makes no more jobs, or goes on. It goes on with `next`, which follows from what
-- the caller saw of it (`def`, and `seen`, what its ticks left behind); who saw something else is told so.
-- KEYS    meta schedules marker schedule
-- ARGV    revision id paused def seen next
-- RETURNS one status (`done`: it is so already); its def; what its ticks left behind; its next tick, empty
--         where there is none
-- STATUS  ok done moved gone
-- ERRORS  EMQFENCE
-- COST    O(log N): at most seven calls
-- USES    fence
local m = fence()
if m.err then return m end
local id, at = ARGV[2], ARGV[6]
local score = redis.call('ZSCORE', KEYS[2], id)
local h = redis.call('HMGET', KEYS[4], 'def', 'ran', 'paused')
local def, ran = h[1] or '', h[2] or ''
if def == '' then return { { 'gone' }, '', '', '' } end
local pause = ARGV[3] == '1'
if pause == (h[3] and true or false) then
  return { { 'done' }, def, ran, score and score ~= 'inf' and score or '' }
end
if not pause and (def ~= ARGV[4] or ran ~= ARGV[5]) then return { { 'moved' }, def, ran, '' } end

-- A full server allows this write, and after it the rest.
redis.call('HDEL', KEYS[4], 'paused')
if pause then
  redis.call('HSET', KEYS[4], 'paused', '1')
  at = ''
end
redis.call('ZADD', KEYS[2], at ~= '' and at or '+inf', id)
if at ~= '' then redis.pcall('ZADD', KEYS[3], 'LT', at, '3') end
return { { 'ok' }, def, ran, at }
