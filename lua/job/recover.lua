-- job/recover: takes claims back whose lease ran out without an extension. The caller saw each lease
-- expired and waited one renewal interval of unbroken contact; a lease that has changed since is left
-- alone. Counts the start and the crash; a job over `max_crashes` ends in `failed`, or goes at once where
-- `keep_failed` is 0.
-- KEYS    meta active wait prioritized crashed failed trash subkeys marker events metrics_failed
--         sizes_failed outbox
-- ITEM KEYS job
-- ARGV    revision now count max_crashes keep_failed age_failed bytes_failed
-- ITEM ARGV id lease
-- RETURNS the statuses, one for each job (`done`: it ended in failed); the ids moved to trash, joined by
--         blanks; those of them that have sub-keys; the deduplication ids and the jobs, in turn, of those
--         that ended; where any of these have parents, the messages to them, field and message in turn
-- STATUS  ok moved gone done
-- ERRORS  EMQFENCE
-- EMITS   recovered failed
-- COST    O(batch log N): two calls a job, about fourteen a batch
-- USES    fence run lanes limits slots sizes retain subkeys report emit metrics
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local epoch_s = math.floor(tonumber(now) / 1000) - 1704067200
local ids = {}
for i = 1, count do ids[i] = ARGV[6 + 2 * i] end
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
redis.call('SCARD', KEYS[7])
redis.call('SCARD', KEYS[8])
redis.call('HLEN', KEYS[12])
redis.call('HLEN', KEYS[13])
local leases = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local statuses, jobs, leave, seen = {}, {}, {}, {}
for i = 1, count do
  if seen[ids[i]] or leases[i] ~= ARGV[7 + 2 * i] or
    math.floor(tonumber(leases[i]) / 2097152) >= epoch_s then
    statuses[i] = 'moved'
  else
    seen[ids[i]] = true
    local job = redis.pcall('HMGET', KEYS[13 + i], 'head', 'place', 'run', 'deid',
      'edge')
    leave[#leave + 1] = ids[i]
    statuses[i] = (not job.err and job[1]) and 'ok' or 'gone'
    jobs[i] = job
  end
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local lanes, recovered, failed, ends, sizes, owners, sent = new_lanes(), {}, {}, {}, {}, {}, {}
for i = 1, count do
  if statuses[i] == 'ok' then
    local starts, atm, crashes_before, started, _, _, worker = read_run(jobs[i][3])
    local crashes = tonumber(crashes_before) + 1
    local stc, ats = string.format('%.0f', crashes), string.format('%.0f', tonumber(starts) + 1)
    if crashes > tonumber(ARGV[4]) then
      statuses[i] = 'done'
      local why = 'lease expired ' .. stc .. ' times: the process died or lost the server while the job ran'
      redis.call('HSET', KEYS[13 + i], 'run', run_text(ats, atm, stc, started, now, '', worker),
        'failedReason', why)
      report(ids[i], jobs[i][5], 'f', now, why, sent)
      ends[#ends + 1] = now
      ends[#ends + 1] = ids[i]
      failed[#failed + 1] = ids[i]
      if ARGV[7] ~= '0' then
        sizes[#sizes + 1] = ids[i]
        sizes[#sizes + 1] = redis.call('HSTRLEN', KEYS[13 + i], 'data')
      end
      if jobs[i][4] then
        owners[#owners + 1] = jobs[i][4]
        owners[#owners + 1] = ids[i]
      end
    else
      redis.call('HSET', KEYS[13 + i], 'run', run_text(ats, atm, stc, started, '0', '', worker))
      sort_into(lanes, ids[i], jobs[i][2], stc, false)
      recovered[#recovered + 1] = ids[i]
    end
  end
end
send(KEYS[13], sent)
local evicted = {}
if #ends > 0 and ARGV[5] == '0' then
  redis.call('SADD', KEYS[7], unpack(failed))
  evicted = failed
elseif #ends > 0 then
  redis.call('ZADD', KEYS[6], unpack(ends))
  note_sizes(KEYS[12], sizes)
  retain(KEYS[6], KEYS[12], KEYS[7], ARGV[5], ARGV[6], ARGV[7], now, evicted)
end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[9])
free_slots(m, KEYS[2], KEYS[9], #leave)
emit(KEYS[10], m, now, 'recovered', recovered, 'failed', failed)
count_ended(KEYS[11], m, now, #failed)
return { statuses, table.concat(evicted, ' '), with_subkeys(KEYS[8], evicted), owners,
  #sent > 0 and sent or nil }
