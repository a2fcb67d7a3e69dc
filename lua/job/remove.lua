-- job/remove: removes jobs for good, with all their keys, whatever state they are in but active. With `from`
-- only jobs that are still in that state, which may then be active too; with `before` only those that have
-- ended by then, or when they have not ended, were added by then. One in trash is no job any more and is
-- left alone. A waiting job is found near the ends of its line (`wait`, or `crashed` when it has been through
-- a crash), or around `seen`, the index at which the caller saw it (-1: it did not look; -2: it has read both
-- lines to their ends, and the job is in neither: then one that is not found here stands in no state, because
-- somebody deleted keys by hand, and goes too). With `of`, `<queue>:<id>` of a parent, only children of that
-- one. One that has not ended tells its parent that it was removed; the message is dated `told`, and no sweep
-- delivers it before: that is later than now where the parent is to go too.
-- KEYS    meta active wait prioritized crashed delayed completed failed waiting_children trash
--         ghosts subkeys events de de_due sizes_completed sizes_failed marker outbox
-- ITEM KEYS job logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now count from before told of
-- ITEM ARGV id seen
-- RETURNS one status for each job (`lock`: it runs; `state`: it is not in `from`, younger than `before` or
--         no child of `of`; `moved`: it waits where nobody looked); where an add is kept until a job that
--         was removed is over, the deduplication id, the job and the add, one behind the other; where any
--         tells its parent, the messages, field and message in turn
-- STATUS  ok lock state gone moved
-- ERRORS  EMQFENCE
-- EMITS   removed
-- COST    O(batch log N): three calls a job, up to twelve for a waiting one, three more for one that owns a
--         deduplication id; about twenty-three a batch
-- USES    fence run line sizes dedup limits slots report emit
local m = fence()
if m.err then return m end
local now, count, from, before = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local ids = {}
local of = ARGV[7] ~= '' and ':' .. ARGV[7]
for i = 1, count do ids[i] = ARGV[6 + 2 * i] end
local leases = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local prioritized = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local delayed = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[8], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[9], unpack(ids))
local trashed = redis.call('SMISMEMBER', KEYS[10], unpack(ids))
redis.call('LLEN', KEYS[3])
redis.call('LLEN', KEYS[5])
redis.call('HLEN', KEYS[11])
redis.call('SCARD', KEYS[12])
redis.call('HLEN', KEYS[14])
redis.call('ZCARD', KEYS[15])
redis.call('HLEN', KEYS[16])
redis.call('HLEN', KEYS[17])
redis.call('HLEN', KEYS[19])

local function leave(line, name, id, index)
  local at = find_in_line(line, id, index)
  if at then drop_from_line(line, KEYS[11], name, at) end
  return at
end

-- A job that has been through a crash stands in `crashed`, any other in `wait`. One whose hash is gone does
-- not tell, and where the caller looked, its hash need not say the truth.
local function leave_its_line(id, is_there, run, index)
  local suspect = not is_there or crashes_of(run) ~= '0'
  if suspect and leave(KEYS[5], 'crashed', id, index) then return true end
  if leave(KEYS[3], 'wait', id, index) then return true end
  return not suspect and index ~= '-1' and leave(KEYS[5], 'crashed', id, index)
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')
local statuses, seen, removed, kept, sent, left = {}, {}, {}, {}, {}, 0
local from_completed, from_failed = {}, {}
for i = 1, count do
  local id, k = ids[i], 20 + (i - 1) * 7
  local state = leases[i] and 'active' or prioritized[i] and 'prioritized' or delayed[i] and 'delayed' or
    completed[i] and 'completed' or failed[i] and 'failed' or parents[i] and 'waiting-children' or 'waiting'
  local job = redis.pcall('HMGET', KEYS[k], 'head', 'deid', 'run', 'edge')
  local there = not job.err and job[1]
  local added = there and string.match(job[1], '^(%d+):')
  local at = tonumber(completed[i] or failed[i] or added or '0')
  if trashed[i] == 1 or seen[id] then
    statuses[i] = 'gone'
  elseif of and there and string.sub(job[4] or '', -#of) ~= of then
    statuses[i] = 'state'
  elseif state == 'active' and from ~= 'active' then
    statuses[i] = 'lock'
  elseif from ~= '' and state ~= from or before and at > before then
    statuses[i] = there and 'state' or 'gone'
  else
    local out = true
    if state == 'active' then
      redis.call('ZREM', KEYS[2], id)
      left = left + 1
    elseif state == 'prioritized' then
      redis.call('ZREM', KEYS[4], id)
    elseif state == 'delayed' then
      redis.call('ZREM', KEYS[6], id)
    elseif state == 'completed' then
      redis.call('ZREM', KEYS[7], id)
      from_completed[#from_completed + 1] = id
    elseif state == 'failed' then
      redis.call('ZREM', KEYS[8], id)
      from_failed[#from_failed + 1] = id
    elseif state == 'waiting-children' then
      redis.call('ZREM', KEYS[9], id)
    elseif not leave_its_line(id, there, job[3], ARGV[7 + 2 * i]) then
      out = not there or ARGV[7 + 2 * i] == '-2'
    end
    if not out then
      statuses[i] = 'moved'
    else
      statuses[i] = there and 'ok' or 'gone'
      seen[id] = true
      redis.call('SREM', KEYS[12], id)
      redis.call('UNLINK', KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5], KEYS[k + 6])
      if there then
        redis.call('DEL', KEYS[k])
        removed[#removed + 1] = id
        if not completed[i] and not failed[i] then
          report(id, job[4], 'f', ARGV[6], 'removed before its end', sent)
        end
        local e = job[2] and read_entry(redis.call('HGET', KEYS[14], job[2]))
        if e and e.owner == id and e.kept == '' then
          redis.call('HDEL', KEYS[14], job[2])
          redis.call('ZREM', KEYS[15], job[2])
        elseif e and e.owner == id then
          kept[#kept + 1] = job[2]
          kept[#kept + 1] = id
          kept[#kept + 1] = e.kept
        end
      end
    end
  end
end
send(KEYS[19], sent)
free_slots(m, KEYS[2], KEYS[18], left)
forget_sizes(KEYS[16], from_completed)
forget_sizes(KEYS[17], from_failed)
emit(KEYS[13], m, now, 'removed', removed)
return { statuses, kept, #sent > 0 and sent or nil }
