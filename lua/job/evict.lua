-- job/evict: deletes the keys of jobs that are in trash, and only of those: an id that was added again
-- meanwhile has left trash and is told `moved`, as is one whose sub-keys were not declared, which stays
-- there. `more` tells by a letter for each job whether its sub-keys are declared (1) or not (0); empty: of
-- none. Also applies retention, so that ages are kept on idle queues too.
-- KEYS    meta trash completed failed subkeys sizes_completed sizes_failed
-- ITEM KEYS job
-- MORE KEYS logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now count keep_completed age_completed keep_failed age_failed more
-- ITEM ARGV id
-- RETURNS one status for each job, or one `ok` for all; the ids that retention moved to trash, joined by
--         blanks; those of them that have sub-keys
-- STATUS  ok moved
-- ERRORS  EMQFENCE
-- COST    O(batch): two calls a batch when all are in trash and have no sub-keys, three a job otherwise
-- USES    fence sizes retain subkeys
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
redis.call('SCARD', KEYS[2])
redis.call('ZCARD', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('SCARD', KEYS[5])
redis.call('HLEN', KEYS[6])
redis.call('HLEN', KEYS[7])
local ids, statuses, all_ok = { unpack(ARGV, 9, #ARGV) }, {}, true
if count > 0 then
  local there, has_more = redis.call('SMISMEMBER', KEYS[2], unpack(ids)), {}
  local with = with_subkeys(KEYS[5], ids)
  for _, is_there in ipairs(there) do all_ok = all_ok and is_there == 1 end
  if all_ok and #with == 0 and ARGV[8] == '' then
    redis.call('SREM', KEYS[2], unpack(ids))
    redis.call('DEL', unpack(KEYS, 8, #KEYS))
  else
    for _, id in ipairs(with) do has_more[id] = true end
    local k = 8
    for i, id in ipairs(ids) do
      local more = string.sub(ARGV[8], i, i) == '1'
      statuses[i] = 'moved'
      if there[i] == 1 and (more or not has_more[id]) and redis.call('SREM', KEYS[2], id) == 1 then
        statuses[i] = 'ok'
        if more then
          redis.call('SREM', KEYS[5], id)
          redis.call('UNLINK', KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5],
            KEYS[k + 6])
        else
          redis.call('DEL', KEYS[k])
        end
      end
      if more then k = k + 7 else k = k + 1 end
    end
    all_ok = false
  end
end
local evicted = {}
retain(KEYS[3], KEYS[6], KEYS[2], ARGV[4], ARGV[5], '0', now, evicted)
retain(KEYS[4], KEYS[7], KEYS[2], ARGV[6], ARGV[7], '0', now, evicted)
return { all_ok and 'ok' or statuses, table.concat(evicted, ' '), with_subkeys(KEYS[5], evicted) }
