-- flow/add: adds entries of a recorded flow that belong to this queue, in their order. How far that has come
-- stands in `outbox`, in the field `from:<plan>`: `<last index>:<now>`. So an entry is applied once, however
-- often and late it is said, even when its job was worked and evicted meanwhile.
-- An entry is a job, with the shape
-- `j:<custom>:<delay>:<priority>:<lifo>:<waits>:<bytes of edge>:<bytes of name>:<bytes of opts>:<edge>
-- <name><opts>` and its data as text; it has children where `waits` is 1. Or it tells which children a job
-- waits for:
-- `e:<epoch>:<children>:<plan>`, and their references joined by blanks; the job is one of that plan, or any
-- where the plan is `-`. An edge to a job whose id is taken fails here, by a message to its parent.
-- KEYS    meta outbox wait prioritized crashed delayed waiting_children trash subkeys marker events
-- ITEM KEYS job
-- MORE KEYS logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now plan count
-- ITEM ARGV index id shape text
-- RETURNS one status for each entry (`gone`: the job that is to wait is not there); the messages, field and
--         message in turn
-- STATUS  ok done dup gone
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- EMITS   added delayed waiting-children
-- COST    O(batch log N): up to six calls an entry, about fifteen a batch
-- USES    fence full lanes places timers stand report emit
local m = fence()
if m.err then return m end
local now, plan, count = ARGV[2], ARGV[3], tonumber(ARGV[4])
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
redis.call('ZCARD', KEYS[7])
redis.call('SCARD', KEYS[8])
redis.call('SCARD', KEYS[9])
local receipt = redis.call('HGET', KEYS[2], 'from:' .. plan)
local last = tonumber(string.match(receipt or '', '^(%d+):') or '-1')

local function read_job(shape)
  local custom, delay, priority, lifo, waits, edge, name, opts, from =
    string.match(shape, '^j:([01]):(%d+):(%d+):([01]):([01]):(%d+):(%d+):(%d+):()')
  if not custom then return nil end
  local name_at = from + tonumber(edge)
  local opts_at = name_at + tonumber(name)
  return { more = custom == '1' or waits == '1', custom = custom == '1', delay = delay, priority = priority,
    lifo = lifo == '1', waits = waits == '1', edge = string.sub(shape, from, name_at - 1),
    head = now .. ':' .. name .. ':' .. string.sub(shape, name_at, opts_at - 1) ..
      string.sub(shape, opts_at, opts_at + tonumber(opts) - 1) }
end

-- Look before the first write. `theirs` are the jobs that this call makes.
local statuses, entries, theirs, to_place, any, k = {}, {}, {}, 0, false, 12
for i = 1, count do
  local index, id, shape = tonumber(ARGV[1 + 4 * i]), ARGV[2 + 4 * i], ARGV[3 + 4 * i]
  local e = read_job(shape)
  if e then
    e.trashed = e.custom and redis.call('SISMEMBER', KEYS[8], id) == 1
    if index <= last then
      statuses[i] = 'done'
    elseif theirs[id] or (not e.trashed and redis.call('EXISTS', KEYS[k]) == 1) then
      statuses[i] = 'dup'
    else
      statuses[i] = 'ok'
      theirs[id] = plan
      if e.priority ~= '0' and e.delay == '0' and not e.waits then to_place = to_place + 1 end
    end
  else
    local epoch, told, owner = string.match(shape, '^e:(%d+):(%d+):(%S+)$')
    if not epoch then return redis.error_reply('EMQARG an entry of an unknown form') end
    e = { more = true, epoch = epoch, owner = owner, refs = {} }
    local at = 1
    for j = 1, tonumber(told) do
      e.refs[j], at = string.match(ARGV[4 + 4 * i], '^(%S+) ?()', at)
    end
    local job = redis.pcall('HMGET', KEYS[k], 'head', 'plan')
    local there = not job.err and job[1] and redis.call('SISMEMBER', KEYS[8], id) == 0
    if theirs[id] ~= owner and not (there and (owner == '-' or job[2] == owner)) then
      statuses[i] = 'gone'
    else
      for j = 2, 5 do redis.call('HLEN', KEYS[k + j]) end
      statuses[i] = index <= last and 'done' or 'ok'
    end
  end
  any = any or statuses[i] == 'ok' or statuses[i] == 'dup'
  e.k, e.id, e.text = k, id, ARGV[4 + 4 * i]
  entries[i] = e
  if e.more then k = k + 7 else k = k + 1 end
end
if any then
  local reached = tonumber(ARGV[1 + 4 * count])
  local first = redis.pcall('HSET', KEYS[2], 'from:' .. plan, string.format('%.0f', reached) .. ':' .. now)
  if refused(first) then return refused(first) end
end

-- A child that a job has had before is awaited anew.
local function forget_settled(job, processed, tolerated, unsuccessful, refs)
  redis.call('HDEL', processed, unpack(refs))
  redis.call('HDEL', tolerated, unpack(refs))
  local failures = 0
  for _, text in ipairs(redis.call('HMGET', unsuccessful, unpack(refs))) do
    if text and string.find(text, '^%d+:f:') then failures = failures + 1 end
  end
  redis.call('HDEL', unsuccessful, unpack(refs))
  if failures == 0 then return end
  local fails, of = string.match(redis.call('HGET', job, 'fails') or '', '^(%d+):(.*)$')
  if fails then
    local left = math.max(tonumber(fails) - failures, 0)
    redis.call('HSET', job, 'fails', string.format('%.0f', left) .. ':' .. of)
  end
end

local lanes, timers, added, waiting, sent, seq = new_lanes(), new_timers(), {}, {}, {}, 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
for i, e in ipairs(entries) do
  local at = e.k
  if statuses[i] == 'dup' then
    report(e.id, e.edge, 'f', now, 'a job with this id exists already', sent)
  elseif statuses[i] == 'ok' and e.refs then
    local edges = {}
    for j, ref in ipairs(e.refs) do edges[2 * j - 1], edges[2 * j] = ref, e.epoch end
    if e.owner == '-' then
      forget_settled(KEYS[at], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5], e.refs)
      redis.call('HSET', KEYS[at], 'plan', plan)
    end
    redis.call('SADD', KEYS[9], e.id)
    redis.call('HSET', KEYS[at + 2], unpack(edges))
  elseif statuses[i] == 'ok' then
    if e.trashed then
      redis.call('SREM', KEYS[8], e.id)
      redis.call('SREM', KEYS[9], e.id)
      redis.call('UNLINK', KEYS[at], KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5],
        KEYS[at + 6])
    end
    redis.call('HSET', KEYS[at], 'head', e.head, 'data', e.text)
    if e.edge ~= '' then redis.call('HSET', KEYS[at], 'edge', e.edge) end
    added[#added + 1] = e.id
    if e.waits then
      redis.call('HSET', KEYS[at], 'plan', plan)
      if e.lifo then redis.call('HSET', KEYS[at], 'lifo', '1') end
      if e.priority ~= '0' then redis.call('HSET', KEYS[at], 'priority', e.priority) end
      if e.delay ~= '0' then redis.call('HSET', KEYS[at], 'delay', e.delay) end
      redis.call('ZADD', KEYS[7], now, e.id)
      waiting[#waiting + 1] = e.id
    else
      seq = stand(KEYS[at], e.id, e, now, seq, lanes, timers)
    end
  end
end
send(KEYS[2], sent)
put_timers(timers, KEYS[6], KEYS[10])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[10])
emit(KEYS[11], m, now, 'added', added, 'delayed', timers.ids)
emit(KEYS[11], m, now, 'waiting-children', waiting)
return { statuses, sent }
