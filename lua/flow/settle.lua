-- flow/settle: tells parents how their children ended, or that these run once more. A message counts once:
-- for the epoch that its edge has, while that is pending; a later epoch opens the edge anew, unless its
-- parent is past it. By the policy of the child a failure fails the parent (`f`), lets it go on at once
-- (`c`), is tolerated (`i`) or forgotten (`r`). A parent that waits goes on when no edge of it is pending.
-- One that failed because of children, all of which get another run, waits again.
-- `messages` are so many as `told` says, one behind the other: `<bytes of ref>:<epoch>:<kind>:<policy>:<bytes
-- of value>:<ref><value>`; ref is `<queue>:<id>` of the child, and the rest as in its outbox.
-- KEYS    meta waiting_children wait prioritized crashed delayed failed trash outbox marker events
--         metrics_failed sizes_failed
-- ITEM KEYS job dependencies processed failed_children unsuccessful
-- ARGV    revision now count keep age
-- ITEM ARGV id told messages
-- RETURNS one status for each message, in the order of the parents (`moved`: it counts no more; `gone`: there
--         is no parent any more); what the parents tell their own, field and message in turn
-- STATUS  ok moved gone
-- ERRORS  EMQFENCE EMQARG
-- EMITS   waiting-children ready delayed failed
-- COST    O(messages + parents log N): up to twenty calls a parent, and seven a message that did not complete
-- USES    fence run lanes places timers sizes retain report reopen fall emit metrics
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids = {}
for i = 1, count do ids[i] = ARGV[3 + 3 * i] end
local waiting = redis.call('ZMSCORE', KEYS[2], unpack(ids))
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
local ended = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local trashed = redis.call('SMISMEMBER', KEYS[8], unpack(ids))
redis.call('HLEN', KEYS[9])
redis.call('HLEN', KEYS[13])

-- Parallel lists, which cost less than a table for each message.
local function read_messages(text, told)
  local refs, epochs, kinds, policies, values, at = {}, {}, {}, {}, {}, 1
  for j = 1, told do
    local ref_bytes, epoch, kind, policy, bytes, from =
      string.match(text, '^(%d+):(%d+):(%a):(%a):(%d+):()', at)
    if not ref_bytes then return nil end
    local value = from + ref_bytes
    at = value + bytes
    refs[j], epochs[j], kinds[j], policies[j] = string.sub(text, from, value - 1), epoch, kind, policy
    values[j] = string.sub(text, value, at - 1)
  end
  return { refs = refs, epochs = epochs, kinds = kinds, policies = policies, values = values }
end

local parents, seen = {}, {}
for i = 1, count do
  local k = 9 + 5 * i
  local p = { messages = read_messages(ARGV[5 + 3 * i], tonumber(ARGV[4 + 3 * i])), pending = {} }
  if not p.messages then return redis.error_reply('EMQARG messages tells of fewer than there are') end
  local job = redis.pcall('HMGET', KEYS[k], 'head', 'edge', 'run', 'place', 'lifo', 'priority', 'delay',
    'failedBy', 'fails')
  p.there = not job.err and job[1] and trashed[i] == 0 and not seen[ids[i]]
  if p.there then
    seen[ids[i]] = true
    p.edge, p.run, p.place, p.lifo, p.priority, p.delay = job[2], job[3], job[4], job[5], job[6], job[7]
    p.fell = ended[i] and job[8]
    p.fails, p.failed_ref = string.match(job[9] or '', '^(%d+):(.*)$')
    p.fails_before = tonumber(p.fails or '0')
    p.fails = p.fails_before
    for j = 2, 4 do redis.call('HLEN', KEYS[k + j]) end
    local refs = p.messages.refs
    local epochs = redis.call('HMGET', KEYS[k + 1], unpack(refs))
    for j, ref in ipairs(refs) do p.pending[ref] = epochs[j] end
  end
  parents[i] = p
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')

-- The epoch of an edge that is not pending, as what it was settled, and by which policy where that tells.
local function settled_as(processed, tolerated, unsuccessful, ref)
  local text = redis.call('HGET', processed, ref)
  if text then return tonumber(string.match(text, '^(%d+):') or ''), 'processed' end
  text = redis.call('HGET', tolerated, ref)
  if text then return tonumber(string.match(text, '^(%d+):') or ''), 'tolerated' end
  local epoch, policy = string.match(redis.call('HGET', unsuccessful, ref) or '', '^(%d+):(%a):')
  return tonumber(epoch or ''), epoch and 'unsuccessful', policy
end

-- What completes is written together, so that a parent of many children costs little.
local function put_settled(dependencies, processed, gone, completed)
  if #gone > 0 then redis.call('HDEL', dependencies, unpack(gone)) end
  if #completed > 0 then redis.call('HSET', processed, unpack(completed)) end
end

local statuses, sent, n = {}, {}, 0
for i = 1, count do
  local k, p = 9 + 5 * i, parents[i]
  local gone, completed, pending = {}, {}, p.pending
  local told = p.messages
  local epochs, kinds, policies, values = told.epochs, told.kinds, told.policies, told.values
  for j, ref in ipairs(told.refs) do
    n = n + 1
    if not p.there then
      statuses[n] = 'gone'
    elseif kinds[j] == 'c' and pending[ref] == epochs[j] then -- as nearly all are
      statuses[n] = 'ok'
      pending[ref] = false
      gone[#gone + 1] = ref
      completed[#completed + 1] = ref
      completed[#completed + 1] = epochs[j] .. ':' .. values[j]
    else
      local epoch, kind, policy, value = tonumber(epochs[j]), kinds[j], policies[j], values[j]
      local present, settled, by = tonumber(pending[ref] or ''), nil, nil
      if not present then -- settled, perhaps by a message before this one
        put_settled(KEYS[k + 1], KEYS[k + 2], gone, completed)
        gone, completed = {}, {}
        present, settled, by = settled_as(KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], ref)
      end
      statuses[n] = 'moved'
      local counts = present and epoch >= present
      if epoch == present and (settled or kind == 'r') then counts = false end
      if settled and not waiting[i] and not p.fell then counts = false end
      if counts then
        statuses[n] = 'ok'
        if settled == 'processed' then redis.call('HDEL', KEYS[k + 2], ref) end
        if settled == 'tolerated' then redis.call('HDEL', KEYS[k + 3], ref) end
        if settled == 'unsuccessful' then redis.call('HDEL', KEYS[k + 4], ref) end
        if by == 'f' then p.fails = math.max(p.fails - 1, 0) end
        pending[ref] = kind == 'r' and epochs[j]
        if kind == 'r' then
          redis.call('HSET', KEYS[k + 1], ref, epochs[j])
        else
          gone[#gone + 1] = ref
        end
        if kind == 'c' then
          completed[#completed + 1] = ref
          completed[#completed + 1] = epochs[j] .. ':' .. value
        elseif kind == 'f' and policy == 'i' then
          redis.call('HSET', KEYS[k + 3], ref, epochs[j] .. ':' .. value)
        elseif kind == 'f' and policy ~= 'r' then
          redis.call('HSET', KEYS[k + 4], ref, epochs[j] .. ':' .. policy .. ':' .. value)
          p.goes_on = p.goes_on or policy == 'c'
          if policy == 'f' then
            p.fails, p.failed_ref, p.why = p.fails + 1, ref, value
          end
        end
      end
    end
  end
  put_settled(KEYS[k + 1], KEYS[k + 2], gone, completed)
  if p.there and p.fails ~= p.fails_before then
    redis.call('HSET', KEYS[k], 'fails', string.format('%.0f', p.fails) .. ':' .. (p.failed_ref or ''))
  end
end

local lanes, timers = new_lanes(), new_timers()
local waits, ready, failed = {}, {}, {}
for i = 1, count do
  local k, p, id = 9 + 5 * i, parents[i], ids[i]
  if p.there and p.fell and p.fails == 0 then
    local ats, atm, stc, started, _, _, worker = read_run(p.run)
    p.run = run_text(ats, atm, stc, started, '0', '', worker)
    redis.call('ZREM', KEYS[7], id)
    redis.call('HDEL', KEYS[k], 'failedBy', 'failedReason')
    redis.call('HSET', KEYS[k], 'run', p.run)
    redis.call('ZADD', KEYS[2], now, id)
    reopen(KEYS[k], id, p.edge, now, sent)
    waiting[i] = now
    waits[#waits + 1] = id
  end
  if p.there and waiting[i] then
    local delay = tonumber(p.delay or '0') or 0
    if p.why and p.fails > 0 then
      redis.call('ZREM', KEYS[2], id)
      fall(KEYS[k], KEYS[7], id, p.run, p.edge, p.failed_ref, p.why, now, sent)
      failed[#failed + 1] = id
    elseif p.goes_on or redis.call('HLEN', KEYS[k + 1]) == 0 then
      redis.call('ZREM', KEYS[2], id)
      if delay > 0 then
        wait_until(timers, id, tonumber(now) + delay)
      else
        local place = p.place
        if p.priority and not place then
          place = place_of(p.priority, take_places(KEYS[4], 1))
          redis.call('HSET', KEYS[k], 'place', place)
        end
        sort_into(lanes, id, place, crashes_of(p.run), p.lifo)
        ready[#ready + 1] = id
      end
    end
  end
end
send(KEYS[9], sent)
put_timers(timers, KEYS[6], KEYS[10])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[10])
if #failed > 0 then retain(KEYS[7], KEYS[13], KEYS[8], ARGV[4], ARGV[5], '0', now, {}) end
emit(KEYS[11], m, now, 'waiting-children', waits, 'ready', ready)
emit(KEYS[11], m, now, 'delayed', timers.ids, 'failed', failed)
count_ended(KEYS[12], m, now, #failed)
return { statuses, sent }
