-- job/reschedule: gives delayed jobs another delay, counted from now. Those with a delay of 0 are made
-- ready at once, whatever their time was; they keep their priority and go behind what is ready.
-- KEYS    meta delayed wait prioritized crashed trash marker events
-- ITEM KEYS job
-- ARGV    revision now count
-- ITEM ARGV id delay
-- RETURNS one status for each job (`state`: it is not delayed)
-- STATUS  ok state gone
-- ERRORS  EMQFENCE
-- EMITS   promoted delayed
-- COST    O(batch log N): two calls a job, about twelve a batch
-- USES    fence run lanes places end_delay timers emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids = {}
for i = 1, count do ids[i] = ARGV[2 + 2 * i] end
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ids))
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
local trashed = redis.call('SMISMEMBER', KEYS[6], unpack(ids))
local statuses, jobs, leave, seen, to_place = {}, {}, {}, {}, 0
for i = 1, count do
  local id = ids[i]
  local job = redis.pcall('HMGET', KEYS[8 + i], 'head', 'place', 'run', 'lifo', 'priority')
  local there = not job.err and job[1] and trashed[i] == 0
  if not there then
    statuses[i] = 'gone'
    if scores[i] and trashed[i] == 0 then leave[#leave + 1] = id end
  elseif not scores[i] or seen[id] then
    statuses[i] = 'state'
  else
    seen[id] = true
    statuses[i] = 'ok'
    if ARGV[3 + 2 * i] == '0' then
      leave[#leave + 1] = id
      if not job[2] and job[5] then to_place = to_place + 1 end
    end
  end
  jobs[i] = job
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '', unpack(leave))
local lanes, timers, promoted, seq = new_lanes(), new_timers(), {}, 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
for i = 1, count do
  local delay = ARGV[3 + 2 * i]
  if statuses[i] == 'ok' and delay == '0' then
    local place
    place, seq = end_delay(KEYS[8 + i], jobs[i][2], jobs[i][5], seq)
    sort_into(lanes, ids[i], place, crashes_of(jobs[i][3]), jobs[i][4])
    promoted[#promoted + 1] = ids[i]
  elseif statuses[i] == 'ok' then
    redis.call('HSET', KEYS[8 + i], 'delay', delay)
    wait_until(timers, ids[i], tonumber(now) + tonumber(delay))
  end
end
put_timers(timers, KEYS[2], KEYS[7])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[7])
emit(KEYS[8], m, now, 'promoted', promoted, 'delayed', timers.ids)
return statuses
