-- job/evict: deletes the keys of jobs that are in trash, and only of those: an id that was added again
-- meanwhile has left trash and is told `moved`. Also applies retention, so that ages are kept on idle
-- queues too.
-- KEYS    meta trash completed failed
-- ITEM KEYS job logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now count keep_completed age_completed keep_failed age_failed
-- ITEM ARGV id
-- RETURNS the statuses, one for each job; the ids that retention moved to trash
-- STATUS  ok moved
-- ERRORS  EMQFENCE
-- COST    O(batch): one or two calls a batch when all are in trash, two a job otherwise
-- USES    fence retain
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
redis.call('SCARD', KEYS[2])
redis.call('ZCARD', KEYS[3])
redis.call('ZCARD', KEYS[4])
local ids, statuses = {}, {}
for i = 1, count do ids[i] = ARGV[7 + i] end
if count > 0 then
  local there = redis.call('SMISMEMBER', KEYS[2], unpack(ids))
  local all = true
  for i = 1, count do
    statuses[i] = there[i] == 1 and 'ok' or 'moved'
    all = all and there[i] == 1
  end
  if all then
    redis.call('SREM', KEYS[2], unpack(ids))
    redis.call('DEL', unpack(KEYS, 5, #KEYS))
  else
    for i = 1, count do
      local k = 5 + (i - 1) * 7
      if statuses[i] == 'ok' and redis.call('SREM', KEYS[2], ids[i]) == 1 then
        redis.call('DEL', KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5],
          KEYS[k + 6])
      end
    end
  end
end
local evicted = {}
retain(KEYS[3], KEYS[2], ARGV[4], ARGV[5], now, evicted)
retain(KEYS[4], KEYS[2], ARGV[6], ARGV[7], now, evicted)
return { statuses, evicted }
