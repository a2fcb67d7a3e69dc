-- job/promote: makes delayed jobs ready whose time has come. The caller saw them due; what has moved
-- since is told so and left alone.
-- KEYS    meta delayed wait prioritized crashed marker events
-- ITEM KEYS job
-- ARGV    revision now count
-- ITEM ARGV id due
-- RETURNS the statuses, one for each job; the due ms of the next delayed job, 0 when there is none
-- STATUS  ok moved gone
-- ERRORS  EMQFENCE
-- EMITS   promoted
-- COST    O(batch log N): two calls a job, about ten a batch
-- USES    fence run lanes places end_delay emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids = {}
for i = 1, count do ids[i] = ARGV[2 + 2 * i] end
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local statuses, jobs, leave, seen, to_place = {}, {}, {}, {}, 0
for i = 1, count do
  if seen[ids[i]] or not scores[i] or scores[i] ~= ARGV[3 + 2 * i] or
    tonumber(scores[i]) > tonumber(now) then
    statuses[i] = 'moved'
  else
    seen[ids[i]] = true
    local job = redis.pcall('HMGET', KEYS[7 + i], 'head', 'place', 'run', 'lifo', 'priority')
    leave[#leave + 1] = ids[i]
    if job.err or not job[1] then
      statuses[i] = 'gone'
    else
      statuses[i] = 'ok'
      if not job[2] and job[5] then to_place = to_place + 1 end
    end
    jobs[i] = job
  end
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local lanes, promoted = new_lanes(), {}
local seq = 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
for i = 1, count do
  if statuses[i] == 'ok' then
    local place
    place, seq = end_delay(KEYS[7 + i], jobs[i][2], jobs[i][5], seq)
    sort_into(lanes, ids[i], place, crashes_of(jobs[i][3]), jobs[i][4])
    promoted[#promoted + 1] = ids[i]
  end
end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local next_due = redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2]
if next_due then redis.pcall('ZADD', KEYS[6], 'LT', next_due, '1') end
emit(KEYS[7], m, now, 'promoted', promoted)
return { statuses, next_due or '0' }
