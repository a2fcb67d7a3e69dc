-- job/finish: ends claims whose handlers are done, for good. The lease's token is stored with the job,
-- so that a repeated finish is told `done`, not `stale`.
-- KEYS    meta active completed failed trash events
-- ITEM KEYS job
-- MORE KEYS logs dependencies processed failed unsuccessful checkpoint
-- ARGV    revision now count keep_completed age_completed keep_failed age_failed
-- ITEM ARGV id token outcome value started ats atm by drop
-- RETURNS the statuses, one for each job; the ids that retention moved to trash
-- STATUS  ok stale gone done
-- ERRORS  EMQFENCE
-- EMITS   completed failed
-- COST    O(batch log N): one HSET or DEL a job, about twelve calls a batch
-- USES    fence held retain emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids, tokens = {}, {}
for i = 1, count do
  local a = 7 + (i - 1) * 9
  ids[i], tokens[i] = ARGV[a + 1], ARGV[a + 2]
end
local mine = held(KEYS[2], ids, tokens)
redis.call('ZCARD', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('SCARD', KEYS[5])
-- Without sub-keys among them, one call tells that every hash is there.
local all_there = #KEYS == 6 + count and redis.call('EXISTS', unpack(KEYS, 7, #KEYS)) == count

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')
local statuses, leave, completed, failed = {}, {}, {}, {}
local completed_ids, failed_ids = {}, {}
local k = 7
for i = 1, count do
  local a = 7 + (i - 1) * 9
  local drop = ARGV[a + 9] == '1'
  local there = all_there or redis.pcall('HEXISTS', KEYS[k], 'name') == 1
  if not mine[i] then
    if not there then
      statuses[i] = 'gone'
    elseif redis.pcall('HGET', KEYS[k], 'tok') == tokens[i] then
      statuses[i] = 'done'
    else
      statuses[i] = 'stale'
    end
  else
    leave[#leave + 1] = ids[i]
    local done = ARGV[a + 3] == 'completed'
    local wrote
    if there and drop then
      wrote = redis.call('DEL', KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4],
        KEYS[k + 5], KEYS[k + 6])
    elseif there then
      wrote = redis.pcall('HSET', KEYS[k], done and 'returnvalue' or 'failedReason', ARGV[a + 4],
        'processedOn', ARGV[a + 5], 'finishedOn', now, 'ats', ARGV[a + 6], 'atm', ARGV[a + 7], 'pb',
        ARGV[a + 8], 'tok', tokens[i])
    end
    if type(wrote) ~= 'number' then
      -- The hash was deleted by hand, or something else stands in its place: there is no job.
      statuses[i] = 'gone'
    else
      statuses[i] = 'ok'
      if done then
        completed_ids[#completed_ids + 1] = ids[i]
      else
        failed_ids[#failed_ids + 1] = ids[i]
      end
      if not drop then
        local set = done and completed or failed
        set[#set + 1] = now
        set[#set + 1] = ids[i]
      end
    end
  end
  if drop then k = k + 7 else k = k + 1 end
end
if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
local evicted = {}
if #completed > 0 then
  redis.call('ZADD', KEYS[3], unpack(completed))
  retain(KEYS[3], KEYS[5], ARGV[4], ARGV[5], now, evicted)
end
if #failed > 0 then
  redis.call('ZADD', KEYS[4], unpack(failed))
  retain(KEYS[4], KEYS[5], ARGV[6], ARGV[7], now, evicted)
end
emit(KEYS[6], m, now, 'completed', completed_ids, 'failed', failed_ids)
return { statuses, evicted }
