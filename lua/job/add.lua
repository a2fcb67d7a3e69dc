-- job/add: stores a batch of jobs. Repeating a flush is harmless: the last one applied for each lane of
-- a process stands in `producers` with its answer, so a lost reply may be asked for again even when the
-- job has been worked and evicted meanwhile.
-- What jobs have besides id and data is told once for each run of them that are alike in it. `shapes` is
-- such runs, one behind the other: `<jobs>:<custom>:<delay>:<priority>:<lifo>:<bytes of name>:<bytes of
-- opts>:<name><opts>`. What such a run has in common stands in one field of each job, `head`:
-- `<now>:<bytes of name>:<name><opts>`.
-- KEYS    meta producers wait prioritized crashed delayed marker events trash subkeys ghosts
-- ITEM KEYS job
-- MORE KEYS logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now lane grant flush count shapes
-- ITEM ARGV id data
-- RETURNS one status for each job, or one `ok` for all
-- STATUS  ok dup state full done
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- EMITS   added delayed
-- COST    O(batch): one HSET a job, about ten calls a batch
-- USES    fence full said_before limits room lanes places timers stand emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[6])
local before = said_before(redis.call('HGET', KEYS[2], ARGV[3]), ARGV[4], ARGV[5], count)
if before then return before end

-- Look before the first write: the runs, the types of the state keys, and which ids are free.
local runs, told, any_custom, at = {}, 0, false, 1
for i = 1, count do
  if told < i then
    local jobs, custom, delay, priority, lifo, name_bytes, opts_bytes, from =
      string.match(ARGV[7], '^(%d+):([01]):(%d+):(%d+):([01]):(%d+):(%d+):()', at)
    if not jobs then return redis.error_reply('EMQARG shapes tells of fewer jobs than there are') end
    at = from + tonumber(name_bytes) + tonumber(opts_bytes)
    told = told + tonumber(jobs)
    any_custom = any_custom or custom == '1'
    runs[#runs + 1] = { first = i, last = math.min(told, count), custom = custom == '1',
      delay = delay, priority = priority, lifo = lifo == '1',
      head = now .. ':' .. name_bytes .. ':' .. string.sub(ARGV[7], from, at - 1) }
  end
end
local length = redis.call('LLEN', KEYS[3]) + redis.call('ZCARD', KEYS[4]) + redis.call('LLEN', KEYS[5]) +
  redis.call('ZCARD', KEYS[6])
redis.call('SCARD', KEYS[10])
local room = room_left(m, length, KEYS[11])
local any_exists = redis.call('EXISTS', unpack(KEYS, 12, #KEYS)) > 0
local refusals, trashed, seen, any_refused = {}, {}, {}, false
if any_exists or any_custom then
  local k = 12
  for _, run in ipairs(runs) do
    for i = run.first, run.last do
      local id = ARGV[6 + 2 * i]
      if run.custom then
        trashed[i] = redis.call('SISMEMBER', KEYS[9], id) == 1
        if seen[id] or (any_exists and not trashed[i] and redis.call('EXISTS', KEYS[k]) == 1) then
          refusals[i] = 'dup'
        end
        seen[id] = true
        k = k + 7
      else
        -- A minted id that is taken means that two processes mint under one node id: never a success.
        if redis.call('EXISTS', KEYS[k]) == 1 then refusals[i] = 'state' end
        k = k + 1
      end
      any_refused = any_refused or refusals[i] ~= nil
    end
  end
end
local is_left_out = {}
for i = 1, room and count or 0 do
  local id = ARGV[6 + 2 * i]
  if (not refusals[i] and room <= 0) or (refusals[i] and is_left_out[id]) then
    refusals[i] = 'full'
    is_left_out[id] = true
    any_refused = true
  elseif not refusals[i] then
    room = room - 1
  end
end
local to_place = 0
for _, run in ipairs(runs) do
  for i = run.first, run.priority ~= '0' and run.delay == '0' and run.last or 0 do
    if not refusals[i] then to_place = to_place + 1 end
  end
end

local statuses, letter_of = {}, {}
if any_refused then
  for i = 1, count do
    statuses[i] = refusals[i] or 'ok'
    letter_of[i] = string.sub(refusals[i] or 'k', 1, 1)
  end
end
local first =
  redis.pcall('HSET', KEYS[2], ARGV[3], ARGV[4] .. ':' .. ARGV[5] .. ':' .. table.concat(letter_of))
if refused(first) then return refused(first) end

local lanes, timers, added, seq = new_lanes(), new_timers(), {}, 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
local k, n, waiting = 12, 0, 0
for _, run in ipairs(runs) do
  local head, width = run.head, run.custom and 7 or 1
  local plain = run.delay == '0' and run.priority == '0' and not run.lifo
  for i = run.first, run.last do
    if not refusals[i] then
      local id = ARGV[6 + 2 * i]
      if trashed[i] then
        redis.call('SREM', KEYS[9], id)
        redis.call('SREM', KEYS[10], id)
        redis.call('UNLINK', KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5],
          KEYS[k + 6])
      end
      redis.call('HSET', KEYS[k], 'head', head, 'data', ARGV[7 + 2 * i])
      n = n + 1
      added[n] = id
      if plain then
        waiting = waiting + 1
        lanes.back[waiting] = id
      else
        seq = stand(KEYS[k], id, run, now, seq, lanes, timers)
        waiting = #lanes.back
      end
    end
    k = k + width
  end
end
put_timers(timers, KEYS[6], KEYS[7])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[7])
emit(KEYS[8], m, now, 'added', added, 'delayed', timers.ids)
if any_refused then return statuses end
return 'ok'
