-- flow/wait: ends claims whose handlers wait for the children of their jobs. A job that has any that have not
-- ended waits in `waiting-children`; one that has none is ready again at once. Costs no attempt. Where a
-- child failed meanwhile that fails its parent, the job ends in `failed`, as if it had waited already.
-- KEYS    meta active waiting_children wait prioritized crashed failed trash outbox marker events
--         metrics_failed sizes_failed
-- ITEM KEYS job dependencies unsuccessful
-- ARGV    revision now count keep age
-- ITEM ARGV id token ats
-- RETURNS one status for each job; what they tell their own parents, field and message in turn
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- EMITS   waiting-children ready failed
-- COST    O(batch log N): up to six calls a job, about fifteen a batch
-- USES    fence held give_up run lanes limits slots sizes retain report fall emit metrics
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids, tokens = {}, {}
for i = 1, count do ids[i], tokens[i] = ARGV[3 + 3 * i], ARGV[4 + 3 * i] end
local mine = held(KEYS[2], ids, tokens)
redis.call('ZCARD', KEYS[3])
redis.call('LLEN', KEYS[4])
redis.call('ZCARD', KEYS[5])
redis.call('LLEN', KEYS[6])
redis.call('ZCARD', KEYS[7])
redis.call('SCARD', KEYS[8])
redis.call('HLEN', KEYS[9])
redis.call('HLEN', KEYS[13])
local statuses, jobs, pending, leave = {}, {}, {}, {}
for i = 1, count do
  local k = 11 + 3 * i
  local job = redis.pcall('HMGET', KEYS[k], 'head', 'place', 'run', 'edge', 'fails')
  statuses[i] = give_up(job, mine[i], ids[i], leave)
  jobs[i] = job
  if statuses[i] == 'ok' then
    pending[i] = redis.call('HLEN', KEYS[k + 1])
    redis.call('HLEN', KEYS[k + 2])
  end
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local lanes, waits, waiting, ready, failed, sent = new_lanes(), {}, {}, {}, {}, {}
for i = 1, count do
  if statuses[i] == 'ok' then
    local k, id, job = 11 + 3 * i, ids[i], jobs[i]
    local _, atm, stc, started, ended, token, worker = read_run(job[3])
    local run = run_text(ARGV[5 + 3 * i], atm, stc, started, ended, token, worker)
    redis.call('HSET', KEYS[k], 'run', run)
    local fails, ref = string.match(job[5] or '', '^(%d+):(.*)$')
    if fails and fails ~= '0' then
      local why = string.match(redis.call('HGET', KEYS[k + 2], ref) or '', '^%d+:%a:(.*)$') or ''
      fall(KEYS[k], KEYS[7], id, run, job[4], ref, why, now, sent)
      failed[#failed + 1] = id
    elseif pending[i] > 0 then
      waits[#waits + 1] = now
      waits[#waits + 1] = id
      waiting[#waiting + 1] = id
    else
      sort_into(lanes, id, job[2], stc, true)
      ready[#ready + 1] = id
    end
  end
end
send(KEYS[9], sent)
if #waits > 0 then redis.call('ZADD', KEYS[3], unpack(waits)) end
put_ready(lanes, m, KEYS[4], KEYS[5], KEYS[6], KEYS[10])
free_slots(m, KEYS[2], KEYS[10], #leave)
if #failed > 0 then retain(KEYS[7], KEYS[13], KEYS[8], ARGV[4], ARGV[5], '0', now, {}) end
emit(KEYS[11], m, now, 'waiting-children', waiting, 'ready', ready)
emit(KEYS[11], m, now, 'failed', failed)
count_ended(KEYS[12], m, now, #failed)
return { statuses, sent }
