-- job/retry: ends claims whose attempt failed and gives the jobs another one, at once or after a delay.
-- KEYS    meta active wait prioritized crashed delayed marker events
-- ITEM KEYS job
-- ARGV    revision now count
-- ITEM ARGV id token delay reason started ats atm by
-- RETURNS one status for each job
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- EMITS   retried delayed
-- COST    O(batch log N): two calls a job, about ten a batch
-- USES    fence held give_up run lanes timers limits slots emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids, tokens = {}, {}
for i = 1, count do
  local a = 3 + (i - 1) * 8
  ids[i], tokens[i] = ARGV[a + 1], ARGV[a + 2]
end
local mine = held(KEYS[2], ids, tokens)
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
local statuses, jobs, leave = {}, {}, {}
for i = 1, count do
  local job = redis.pcall('HMGET', KEYS[8 + i], 'head', 'place', 'run', 'lifo')
  statuses[i] = give_up(job, mine[i], ids[i], leave)
  jobs[i] = job
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local lanes, timers, retried = new_lanes(), new_timers(), {}
for i = 1, count do
  if statuses[i] == 'ok' then
    local a = 3 + (i - 1) * 8
    local delay = tonumber(ARGV[a + 3])
    local crashes = crashes_of(jobs[i][3])
    redis.call('HSET', KEYS[8 + i], 'run', run_text(ARGV[a + 6], ARGV[a + 7], crashes, ARGV[a + 5], '0',
      '', ARGV[a + 8]), 'failedReason', ARGV[a + 4], 'delay', ARGV[a + 3])
    retried[#retried + 1] = ids[i]
    if delay > 0 then
      wait_until(timers, ids[i], tonumber(now) + delay)
    else
      sort_into(lanes, ids[i], jobs[i][2], crashes, jobs[i][4])
    end
  end
end
put_timers(timers, KEYS[6], KEYS[7])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[7])
free_slots(m, KEYS[2], KEYS[7], #leave)
emit(KEYS[8], m, now, 'retried', retried, 'delayed', timers.ids)
return statuses
