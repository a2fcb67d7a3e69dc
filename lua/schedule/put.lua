-- schedule/put: makes a scheduler, or makes the one of that id so. Whoever says again what it is changes
-- nothing. `next` is the tick that follows from `seen`, what the caller knows that its ticks left behind
-- (empty: nothing): where that is something else, it is told so. With another template alone the next tick
-- stays. What was made does not count any more once start or limit (the first and third part of `def`) are
-- others. `shape` is `<priority>:<lifo>:<bytes of name>:<name><opts>`.
-- KEYS    meta schedules marker schedule
-- ARGV    revision id def seen next shape data
-- RETURNS one status (`done`: it is so already); def and what its ticks left behind, as they were; the next
--         tick, empty where there is none (paused, or ended)
-- STATUS  ok done moved
-- ERRORS  EMQFENCE EMQFULL
-- COST    O(log N): at most seven calls
-- USES    fence full ran
local m = fence()
if m.err then return m end
local id, def, at = ARGV[2], ARGV[3], ARGV[5]
local score = redis.call('ZSCORE', KEYS[2], id)
local h = redis.call('HMGET', KEYS[4], 'def', 'ran', 'paused', 'shape', 'data')
local old_def, ran = h[1] or '', h[2] or ''
local stays = score and old_def == def
if stays and h[4] == ARGV[6] and h[5] == ARGV[7] then
  return { { 'done' }, old_def, ran, score ~= 'inf' and score or '' }
end
if not stays and ran ~= ARGV[4] then return { { 'moved' }, old_def, ran, '' } end

local first = redis.pcall('HSET', KEYS[4], 'def', def, 'shape', ARGV[6], 'data', ARGV[7])
if refused(first) then return refused(first) end
if stays then return { { 'ok' }, old_def, ran, score ~= 'inf' and score or '' } end
local old_start, old_limit = string.match(old_def, '^(%d+):%d+:(%d+):')
local start, limit = string.match(def, '^(%d+):%d+:(%d+):')
if ran ~= '' and (old_start ~= start or old_limit ~= limit) then
  local r = read_ran(ran)
  r.made = 0
  redis.call('HSET', KEYS[4], 'ran', ran_text(r))
end
if h[3] then at = '' end
redis.call('ZADD', KEYS[2], at ~= '' and at or '+inf', id)
if at ~= '' then redis.pcall('ZADD', KEYS[3], 'LT', at, '3') end
return { { 'ok' }, old_def, ran, at }
