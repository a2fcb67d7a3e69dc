-- job/add: stores a batch of jobs. Repeating a flush is harmless: the last one applied for each lane of
-- a process stands in `producers` with its answer, so a lost reply may be asked for again even when the
-- job has been worked and evicted meanwhile.
-- KEYS    meta producers wait prioritized crashed delayed marker events trash
-- ITEM KEYS job
-- MORE KEYS logs dependencies processed failed unsuccessful checkpoint
-- ARGV    revision now lane grant flush count
-- ITEM ARGV id custom name data opts delay priority lifo
-- RETURNS one status for each job
-- STATUS  ok dup state done
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- EMITS   added delayed
-- COST    O(batch): one HSET a job, about ten calls a batch
-- USES    fence full lanes places emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[6])
local letters = { k = 'ok', d = 'dup', s = 'state' }

local last = redis.call('HGET', KEYS[2], ARGV[3])
if last then
  local grant, flush, answers = string.match(last, '^(%d+):(%d+):(%a*)$')
  if not grant then return redis.error_reply('EMQARG producers holds an entry of an unknown form') end
  if tonumber(grant) > tonumber(ARGV[4]) then
    return redis.error_reply('EMQARG the node id is held by a newer process')
  end
  if grant == ARGV[4] and tonumber(flush) >= tonumber(ARGV[5]) then
    local again = {}
    for i = 1, count do
      again[i] = 'done'
      if flush == ARGV[5] then again[i] = letters[string.sub(answers, i, i)] or 'ok' end
    end
    return again
  end
end

-- Look before the first write: types of the state keys, and which ids are free.
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('LLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
local any_exists = redis.call('EXISTS', unpack(KEYS, 10, #KEYS)) > 0
local statuses, answers, trashed, seen = {}, {}, {}, {}
local refusals, to_place = 0, 0
local k = 10
for i = 1, count do
  local a = 6 + (i - 1) * 8
  local id = ARGV[a + 1]
  local status = 'ok'
  if ARGV[a + 2] == '1' then
    trashed[i] = redis.call('SISMEMBER', KEYS[9], id) == 1
    if seen[id] or (any_exists and not trashed[i] and redis.call('EXISTS', KEYS[k]) == 1) then
      status = 'dup'
    end
    seen[id] = true
    k = k + 7
  else
    -- A minted id that is taken means that two processes mint under one node id: never a success.
    if any_exists and redis.call('EXISTS', KEYS[k]) == 1 then status = 'state' end
    k = k + 1
  end
  statuses[i] = status
  answers[i] = string.sub(status, status == 'ok' and 2 or 1, status == 'ok' and 2 or 1)
  if status ~= 'ok' then
    refusals = refusals + 1
  elseif ARGV[a + 6] == '0' and ARGV[a + 7] ~= '0' then
    to_place = to_place + 1
  end
end

local answer = ''
if refusals > 0 then answer = table.concat(answers) end
local first = redis.pcall('HSET', KEYS[2], ARGV[3], ARGV[4] .. ':' .. ARGV[5] .. ':' .. answer)
if refused(first) then return refused(first) end

local lanes, added, delayed, timers = new_lanes(), {}, {}, {}
local earliest
local seq = 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
k = 10
for i = 1, count do
  local a = 6 + (i - 1) * 8
  local id, delay, priority = ARGV[a + 1], ARGV[a + 6], ARGV[a + 7]
  if statuses[i] == 'ok' then
    if trashed[i] then
      redis.call('SREM', KEYS[9], id)
      redis.call('DEL', KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5],
        KEYS[k + 6])
    end
    redis.call('HSET', KEYS[k], 'name', ARGV[a + 3], 'data', ARGV[a + 4], 'opts', ARGV[a + 5],
      'timestamp', now)
    local lifo = ARGV[a + 8] == '1'
    if lifo then redis.call('HSET', KEYS[k], 'lifo', '1') end
    local place
    if priority ~= '0' then
      redis.call('HSET', KEYS[k], 'priority', priority)
      if delay == '0' then
        place = place_of(priority, seq)
        seq = seq + 1
        redis.call('HSET', KEYS[k], 'place', place)
      end
    end
    if delay ~= '0' then
      redis.call('HSET', KEYS[k], 'delay', delay)
      local due = tonumber(now) + tonumber(delay)
      if not earliest or due < earliest then earliest = due end
      timers[#timers + 1] = string.format('%.0f', due)
      timers[#timers + 1] = id
      delayed[#delayed + 1] = id
    else
      sort_into(lanes, id, place, nil, lifo)
    end
    added[#added + 1] = id
  end
  if ARGV[a + 2] == '1' then k = k + 7 else k = k + 1 end
end
if #timers > 0 then redis.call('ZADD', KEYS[6], unpack(timers)) end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[7])
if earliest then redis.pcall('ZADD', KEYS[7], 'LT', string.format('%.0f', earliest), '1') end
emit(KEYS[8], m, now, 'added', added, 'delayed', delayed)
return statuses
