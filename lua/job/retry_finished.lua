-- job/retry_finished: makes jobs that ended ready once more. What their last run left is cleared; what
-- they are stays: data, options, priority, crashes, and claims so far. A job goes behind those that are
-- ready with its priority; one that has been through a crash goes back to the crashed lane.
-- It owns its deduplication id no more, as from its end on. Its parent is told that it runs once more.
-- KEYS    meta completed failed wait prioritized crashed trash marker events de de_due sizes_completed
--         sizes_failed outbox
-- ITEM KEYS job
-- ARGV    revision now count take_completed take_failed reset_attempts
-- ITEM ARGV id
-- RETURNS one status for each job (`state`: it is in neither of the sets that the caller takes from); where
--         any has a parent, the statuses, and the messages, field and message in turn
-- STATUS  ok state gone
-- ERRORS  EMQFENCE
-- EMITS   retried
-- COST    O(batch log N): three calls a job, up to six with a deduplication id, one more with a parent, about
--         fourteen a batch
-- USES    fence run lanes places sizes dedup report reopen emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids = {}
for i = 1, count do ids[i] = ARGV[6 + i] end
local completed = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[3], unpack(ids))
redis.call('LLEN', KEYS[4])
redis.call('ZCARD', KEYS[5])
redis.call('LLEN', KEYS[6])
redis.call('HLEN', KEYS[10])
redis.call('ZCARD', KEYS[11])
redis.call('HLEN', KEYS[12])
redis.call('HLEN', KEYS[13])
redis.call('HLEN', KEYS[14])
local trashed = redis.call('SMISMEMBER', KEYS[7], unpack(ids))
local statuses, jobs, seen, to_place = {}, {}, {}, 0
local from_completed, from_failed = {}, {}
for i = 1, count do
  local id = ids[i]
  local job = redis.pcall('HMGET', KEYS[14 + i], 'head', 'run', 'lifo', 'priority', 'deid',
    'edge')
  local take = (completed[i] and ARGV[4] == '1') or (failed[i] and ARGV[5] == '1')
  if trashed[i] == 1 then
    statuses[i] = 'gone'
  elseif job.err or not job[1] then
    statuses[i] = 'gone'
    if completed[i] then from_completed[#from_completed + 1] = id end
    if failed[i] then from_failed[#from_failed + 1] = id end
  elseif not take or seen[id] then
    statuses[i] = 'state'
  else
    seen[id] = true
    statuses[i] = 'ok'
    if completed[i] then
      from_completed[#from_completed + 1] = id
    else
      from_failed[#from_failed + 1] = id
    end
    if job[4] then to_place = to_place + 1 end
  end
  jobs[i] = job
end

-- A full server allows these writes, and after them the rest.
redis.call('ZREM', KEYS[2], '', unpack(from_completed))
redis.call('ZREM', KEYS[3], '', unpack(from_failed))
forget_sizes(KEYS[12], from_completed)
forget_sizes(KEYS[13], from_failed)
local lanes, retried, sent, seq = new_lanes(), {}, {}, 0
if to_place > 0 then seq = take_places(KEYS[5], to_place) end
for i = 1, count do
  if statuses[i] == 'ok' then
    local ats, atm, stc = read_run(jobs[i][2])
    if ARGV[6] == '1' then atm = '0' end
    redis.call('HDEL', KEYS[14 + i], 'returnvalue', 'failedReason', 'progress', 'delay', 'failedBy',
      'fails')
    redis.call('HSET', KEYS[14 + i], 'run', run_text(ats, atm, stc, '0', '0', '', ''))
    local place
    if jobs[i][4] then
      place = place_of(jobs[i][4], seq)
      seq = seq + 1
      redis.call('HSET', KEYS[14 + i], 'place', place)
    end
    sort_into(lanes, ids[i], place, stc, jobs[i][3])
    local de = jobs[i][5]
    local e = de and read_entry(redis.call('HGET', KEYS[10], de))
    if e and e.owner == ids[i] and e.expiry == 0 and e.kept == '' then
      redis.call('HDEL', KEYS[10], de)
      redis.call('ZREM', KEYS[11], de)
    end
    reopen(KEYS[14 + i], ids[i], jobs[i][6], now, sent)
    retried[#retried + 1] = ids[i]
  end
end
send(KEYS[14], sent)
put_ready(lanes, m, KEYS[4], KEYS[5], KEYS[6], KEYS[8])
emit(KEYS[9], m, now, 'retried', retried)
if #sent > 0 then return { statuses, sent } end
return statuses
