-- job/finish: ends claims whose handlers are done, for good. The lease's token is stored with the job,
-- so that a repeated finish is told `done`, not `stale`. All jobs of a call end alike and under one rule
-- of retention. With `drop` nothing is kept of them; one that has sub-keys goes to trash for that,
-- because they are not declared here. `finished` is the set `completed` or `failed`, as `outcome` tells,
-- and `metrics` belongs to it.
-- How jobs ended is told once for each run of them that are alike in it. `ends` is such runs, one behind the
-- other: `<jobs>:<lease>:<ats>:<atm>:<stc>:<started>:<bytes of value>:<value>`; the lease is as the caller
-- knows it, and may have been extended since.
-- KEYS    meta active finished trash subkeys events metrics marker
-- ITEM KEYS job
-- ARGV    revision now count outcome by drop keep age ends
-- ITEM ARGV id
-- RETURNS one status for each job, or one `ok` for all; the ids that went to trash, joined by blanks;
--         those of them that have sub-keys
-- STATUS  ok stale gone done
-- ERRORS  EMQFENCE EMQARG
-- EMITS   completed failed
-- COST    O(batch log N): one HSET or DEL a job, about thirteen calls a batch
-- USES    fence held held_together run limits slots retain subkeys emit metrics
local m = fence()
if m.err then return m end
local now, count, drop = ARGV[2], tonumber(ARGV[3]), ARGV[6] == '1'
local done = ARGV[4] == 'completed'
local ids, runs, told_of, at = {}, {}, 0, 1
for i = 1, count do
  ids[i] = ARGV[9 + i]
  if told_of < i then
    local jobs, lease, ats, atm, stc, started, bytes, from =
      string.match(ARGV[9], '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):()', at)
    if not jobs then return redis.error_reply('EMQARG ends tells of fewer jobs than there are') end
    at = from + tonumber(bytes)
    told_of = told_of + tonumber(jobs)
    local token = string.format('%.0f', tonumber(lease) % 2097152)
    runs[#runs + 1] = { first = i, last = math.min(told_of, count), lease = lease, token = token,
      text = run_text(ats, atm, stc, started, now, token, ARGV[5]),
      value = string.sub(ARGV[9], from, at - 1) }
  end
end
local mine = held_together(KEYS[2], ids, runs)
redis.call('ZCARD', KEYS[3])
redis.call('SCARD', KEYS[4])
local all_there = not drop and redis.call('EXISTS', unpack(KEYS, 9, #KEYS)) == count
local has_more = {}
if drop then
  for _, id in ipairs(with_subkeys(KEYS[5], ids)) do has_more[id] = true end
else
  redis.call('SCARD', KEYS[5])
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')
local statuses, leave, ended, told, evicted = {}, {}, {}, {}, {}
local all_ok, said = true, done and 'returnvalue' or 'failedReason'
for _, run in ipairs(runs) do
  local bare = done and run.value == ''
  for i = run.first, run.last do
    local there = all_there or redis.pcall('HEXISTS', KEYS[8 + i], 'head') == 1
    local status = 'ok'
    if not mine[i] then
      if not there then
        status = 'gone'
      else
        local text = redis.pcall('HGET', KEYS[8 + i], 'run')
        local _, _, _, _, _, token = read_run(type(text) == 'string' and text or '')
        status = token == run.token and 'done' or 'stale'
      end
    else
      leave[#leave + 1] = ids[i]
      local wrote
      if there and drop then
        if has_more[ids[i]] then
          wrote = redis.call('SADD', KEYS[4], ids[i])
          evicted[#evicted + 1] = ids[i]
        else
          wrote = redis.call('DEL', KEYS[8 + i])
        end
      elseif there and bare then
        wrote = redis.pcall('HSET', KEYS[8 + i], 'run', run.text)
      elseif there then
        wrote = redis.pcall('HSET', KEYS[8 + i], 'run', run.text, said, run.value)
      end
      if type(wrote) ~= 'number' then
        -- The hash was deleted by hand, or something else stands in its place: there is no job.
        status = 'gone'
      else
        told[#told + 1] = ids[i]
        if not drop then
          ended[#ended + 1] = now
          ended[#ended + 1] = ids[i]
        end
      end
    end
    statuses[i] = status
    all_ok = all_ok and status == 'ok'
  end
end
if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
if #ended > 0 then
  redis.call('ZADD', KEYS[3], unpack(ended))
  retain(KEYS[3], KEYS[4], ARGV[7], ARGV[8], now, evicted)
end
free_slots(m, KEYS[2], KEYS[8], #leave)
emit(KEYS[6], m, now, done and 'completed' or 'failed', told)
count_ended(KEYS[7], m, now, #told)
return { all_ok and 'ok' or statuses, table.concat(evicted, ' '), with_subkeys(KEYS[5], evicted) }
