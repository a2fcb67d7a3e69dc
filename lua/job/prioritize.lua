-- job/prioritize: gives jobs that are not finished another priority. One that is ready goes behind
-- those that have the new priority already; one that is delayed, active, waits for its children or has been
-- through a crash stays where it is and has it from its next turn on. The priority that a job has already
-- changes nothing. `seen` is the index in `wait` at which the caller saw a waiting job (-1: it did not look).
-- KEYS    meta active wait prioritized crashed delayed completed failed trash ghosts marker events
--         waiting_children
-- ITEM KEYS job
-- ARGV    revision now count
-- ITEM ARGV id priority seen
-- RETURNS one status for each job (`state`: it is finished; `moved`: it waits where nobody looked)
-- STATUS  ok state gone moved
-- ERRORS  EMQFENCE
-- EMITS   prioritized
-- COST    O(batch log N): three calls a job, up to eight for a waiting one; about twenty a batch
-- USES    fence line run lanes places emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids = {}
for i = 1, count do ids[i] = ARGV[1 + 3 * i] end
local leases = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local places = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local delays = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[8], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[13], unpack(ids))
local trashed = redis.call('SMISMEMBER', KEYS[9], unpack(ids))
redis.call('LLEN', KEYS[3])
redis.call('LLEN', KEYS[5])
redis.call('HLEN', KEYS[10])

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')
local statuses, lanes, told, seen = {}, new_lanes(), {}, {}
for i = 1, count do
  local id, priority = ids[i], ARGV[2 + 3 * i]
  local job = redis.pcall('HMGET', KEYS[13 + i], 'head', 'priority', 'run', 'lifo')
  if job.err or not job[1] or trashed[i] == 1 or seen[id] then
    statuses[i] = 'gone'
  elseif completed[i] or failed[i] then
    statuses[i] = 'state'
  else
    seen[id] = true
    local ready, at = false, false
    local same = (tonumber(job[2] or '0') or 0) == tonumber(priority)
    local crashes = crashes_of(job[3])
    local suspect = tonumber(crashes) > 0
    statuses[i] = 'ok'
    if not same and not leases[i] and not delays[i] and not parents[i] then
      if places[i] then
        redis.call('ZREM', KEYS[4], id)
        ready = true
      elseif not suspect then
        at = find_in_line(KEYS[3], id, ARGV[3 + 3 * i])
        ready = at and true or false
        if not at then statuses[i] = 'moved' end
      end
    end
    if not same and statuses[i] == 'ok' then
      if at then drop_from_line(KEYS[3], KEYS[10], 'wait', at) end
      local place
      if priority == '0' then
        redis.call('HDEL', KEYS[13 + i], 'priority', 'place')
      elseif delays[i] or parents[i] then
        redis.call('HSET', KEYS[13 + i], 'priority', priority)
        redis.call('HDEL', KEYS[13 + i], 'place')
      else
        place = place_of(priority, take_places(KEYS[4], 1))
        redis.call('HSET', KEYS[13 + i], 'priority', priority, 'place', place)
      end
      if ready then sort_into(lanes, id, place, crashes, job[4]) end
      told[#told + 1] = id
    end
  end
end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[11])
emit(KEYS[12], m, now, 'prioritized', told)
return statuses
