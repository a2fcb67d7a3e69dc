-- job/release: gives claims back that were not worked to an end (shutdown, a claim that came back too
-- late, a lost claim, a handler that asks for a hold). Costs no attempt; a job goes back to the place it was
-- taken from. With `hold` the queue gives no jobs for so many ms, from the moment that these are back.
-- KEYS    meta active wait prioritized crashed marker events limiter
-- ITEM KEYS job
-- ARGV    revision now count hold
-- ITEM ARGV id token ats
-- RETURNS one status for each job
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- EMITS   released
-- COST    O(batch log N): two calls a job, about ten a batch, four more with a hold
-- USES    fence held give_up run lanes limits slots hold emit
local m = fence()
if m.err then return m end
local now, count, hold = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ids, tokens = {}, {}
for i = 1, count do
  local a = 4 + (i - 1) * 3
  ids[i], tokens[i] = ARGV[a + 1], ARGV[a + 2]
end
local mine = held(KEYS[2], ids, tokens)
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
if hold > 0 then redis.call('HLEN', KEYS[8]) end
local statuses, jobs, leave = {}, {}, {}
for i = 1, count do
  local job = redis.pcall('HMGET', KEYS[8 + i], 'head', 'place', 'run')
  statuses[i] = give_up(job, mine[i], ids[i], leave)
  jobs[i] = job
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local lanes, released = new_lanes(), {}
for i = 1, count do
  if statuses[i] == 'ok' then
    local ats = ARGV[4 + (i - 1) * 3 + 3]
    local _, atm, stc, started, ended, token, worker = read_run(jobs[i][3])
    if ats ~= '0' then
      redis.call('HSET', KEYS[8 + i], 'run', run_text(ats, atm, stc, started, ended, token, worker))
    end
    sort_into(lanes, ids[i], jobs[i][2], stc, true)
    released[#released + 1] = ids[i]
  end
end
-- The last is put to the front first, so that they stand there in their order.
local last = #lanes.front + 1
for i = 1, math.floor(#lanes.front / 2) do
  lanes.front[i], lanes.front[last - i] = lanes.front[last - i], lanes.front[i]
end
if hold > 0 and #leave > 0 then hold_queue(m, KEYS[8], tonumber(now), hold) end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[6])
free_slots(m, KEYS[2], KEYS[6], #leave)
emit(KEYS[7], m, now, 'released', released)
return statuses
