-- job/finish: ends claims whose handlers are done, for good. The lease's token is stored with the job,
-- so that a repeated finish is told `done`, not `stale`. All jobs of a call end alike and under one rule
-- of retention. With `drop` nothing is kept of them; one that has sub-keys goes to trash for that,
-- because they are not declared here. `finished` is the set `completed` or `failed`, as `outcome` tells,
-- and `metrics` belongs to it.
-- KEYS    meta active finished trash subkeys events metrics marker
-- ITEM KEYS job
-- ARGV    revision now count outcome by drop keep age
-- ITEM ARGV id token value started ats atm
-- RETURNS one status for each job, or one `ok` for all; the ids that went to trash; those of them that
--         have sub-keys
-- STATUS  ok stale gone done
-- ERRORS  EMQFENCE
-- EMITS   completed failed
-- COST    O(batch log N): one HSET or DEL a job, about thirteen calls a batch
-- USES    fence held limits slots retain subkeys emit metrics
local m = fence()
if m.err then return m end
local now, count, drop = ARGV[2], tonumber(ARGV[3]), ARGV[6] == '1'
local done = ARGV[4] == 'completed'
local ids, tokens = {}, {}
for i = 1, count do
  ids[i], tokens[i] = ARGV[3 + 6 * i], ARGV[4 + 6 * i]
end
local mine = held(KEYS[2], ids, tokens)
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
local all_ok = true
for i = 1, count do
  local a = 2 + 6 * i
  local there = all_there or redis.pcall('HEXISTS', KEYS[8 + i], 'name') == 1
  local status = 'ok'
  if not mine[i] then
    if not there then
      status = 'gone'
    elseif redis.pcall('HGET', KEYS[8 + i], 'tok') == tokens[i] then
      status = 'done'
    else
      status = 'stale'
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
    elseif there then
      if done and ARGV[a + 3] == '' then
        wrote = redis.pcall('HSET', KEYS[8 + i], 'processedOn', ARGV[a + 4], 'finishedOn', now, 'ats',
          ARGV[a + 5], 'atm', ARGV[a + 6], 'pb', ARGV[5], 'tok', tokens[i])
      else
        wrote = redis.pcall('HSET', KEYS[8 + i], 'processedOn', ARGV[a + 4], 'finishedOn', now, 'ats',
          ARGV[a + 5], 'atm', ARGV[a + 6], 'pb', ARGV[5], 'tok', tokens[i],
          done and 'returnvalue' or 'failedReason', ARGV[a + 3])
      end
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
if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
if #ended > 0 then
  redis.call('ZADD', KEYS[3], unpack(ended))
  retain(KEYS[3], KEYS[4], ARGV[7], ARGV[8], now, evicted)
end
free_slots(m, KEYS[2], KEYS[8], #leave)
emit(KEYS[6], m, now, done and 'completed' or 'failed', told)
count_ended(KEYS[7], m, now, #told)
return { all_ok and 'ok' or statuses, evicted, with_subkeys(KEYS[5], evicted) }
