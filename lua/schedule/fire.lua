-- schedule/fire: makes the jobs of ticks that are due. An item is one step of a scheduler: from the tick
-- that its caller saw as the next one (`seen`) to the one that follows (`next`; empty: it has ended), with
-- one job for `tick` (empty: none), and `skipped` ticks between them that make none. Several steps of one
-- scheduler stand one behind the other. What has moved since is told so and left alone. A job is made of
-- the template in the scheduler's hash, under the id `<scheduler>.<tick>`; with `last_job` only if that
-- job is over. Beyond 256 KiB of templates a step is left to the next call, as `moved`, unless it is the
-- first one.
-- KEYS    meta schedules wait prioritized crashed delayed completed failed trash marker events ghosts
-- ITEM KEYS schedule last job
-- ARGV    revision now count
-- ITEM ARGV id def seen tick next skipped last_job
-- RETURNS the statuses, one for each step (`dup`: there is a job of that id, which is the tick's; `lock`: the
--         last job is not over; `full`: the queue is as long as it may be; both ticks are skipped); the
--         earliest tick that is not due yet, 0 when there is none
-- STATUS  ok dup lock full moved gone
-- ERRORS  EMQFENCE EMQFULL
-- EMITS   added
-- COST    O(batch log N): up to nine calls a step, about twenty a batch
-- USES    fence full limits room lanes places timers stand ran emit
local m = fence()
if m.err then return m end
local now, at, count = ARGV[2], tonumber(ARGV[2]), tonumber(ARGV[3])
local length = redis.call('LLEN', KEYS[3]) + redis.call('ZCARD', KEYS[4]) + redis.call('LLEN', KEYS[5]) +
  redis.call('ZCARD', KEYS[6])
redis.call('ZCARD', KEYS[7])
redis.call('ZCARD', KEYS[8])
local room = room_left(m, length, KEYS[12])
local names, ids = {}, {}
for i = 1, count do
  local a = 3 + (i - 1) * 7
  names[i] = ARGV[a + 1]
  ids[i] = ARGV[a + 1] .. '.' .. ARGV[a + 4]
end
local scores = redis.call('ZMSCORE', KEYS[2], unpack(names))
local in_trash = redis.call('SMISMEMBER', KEYS[9], unpack(ids))

-- A scheduler as it is stored; false where it is not.
local function look(schedule, where, next_tick)
  local h = redis.pcall('HMGET', schedule, 'def', 'ran', 'shape', 'data')
  if h.err then return false end
  local priority, lifo, from = string.match(h[3] or '', '^(%d+):([01]):()')
  if not h[1] or not priority then return false end
  local data = h[4] or ''
  return { where = where, def = h[1], ran = read_ran(h[2]), next = next_tick,
    data = data, size = #data + #h[3], head = now .. ':' .. string.sub(h[3], from),
    how = { delay = '0', priority = priority, lifo = lifo == '1' } }
end

local function is_over(job, id)
  return redis.call('EXISTS', job) == 0 or redis.call('ZSCORE', KEYS[7], id) or
    redis.call('ZSCORE', KEYS[8], id) or redis.call('SISMEMBER', KEYS[9], id) == 1
end

-- Whether the step leads on from what is stored. A last tick that lies further ahead than the clocks of two
-- callers can is left of a clock that was set back.
local function has_moved(s, def, seen, tick)
  if s.next ~= seen or s.def ~= def or tonumber(seen) > at then return true end
  if tick == '' then return false end
  local when = tonumber(tick)
  return when > at or (when <= s.ran.last and s.ran.last <= at + 3600000)
end

local statuses, known, stepped, lost, jobs, bytes, to_place = {}, {}, {}, {}, {}, 0, 0
local is_cut = false
for i = 1, count do
  local a, k = 3 + (i - 1) * 7, 12 + (i - 1) * 3
  local id, tick, last_job = ARGV[a + 1], ARGV[a + 4], ARGV[a + 7]
  local s = known[id]
  if s == nil and not is_cut then
    s = scores[i] and look(KEYS[k + 1], k + 1, scores[i])
    known[id] = s
    if scores[i] and not s then lost[#lost + 1] = id end
  end
  local status
  if is_cut then
    status = 'moved'
  elseif not s then
    status = 'gone'
  elseif has_moved(s, ARGV[a + 2], ARGV[a + 3], tick) or (last_job ~= '' and last_job ~= s.ran.job) then
    status = 'moved'
  elseif tick == '' then
    status = 'ok'
  elseif redis.call('EXISTS', KEYS[k + 3]) == 1 or in_trash[i] == 1 then
    status = 'dup'
  elseif last_job ~= '' and not is_over(KEYS[k + 2], last_job) then
    status = 'lock'
  elseif room and room <= 0 then
    status = 'full'
  elseif bytes > 0 and bytes + s.size > 262144 then
    status, is_cut = 'moved', true
  else
    status = 'ok'
    bytes = bytes + s.size
    if room then room = room - 1 end
    if s.how.priority ~= '0' then to_place = to_place + 1 end
    jobs[#jobs + 1] = { id = ids[i], where = k + 3, of = s }
  end
  if status ~= 'moved' and status ~= 'gone' then
    local r = s.ran
    r.skipped = r.skipped + tonumber(ARGV[a + 6])
    r.last = tonumber(tick ~= '' and tick or ARGV[a + 3])
    if status == 'lock' or status == 'full' then
      r.skipped = r.skipped + 1
    elseif tick ~= '' then
      r.made, r.job = r.made + 1, ids[i]
    end
    s.next = ARGV[a + 5]
    if not s.has_stepped then stepped[#stepped + 1] = id end
    s.has_stepped = true
  end
  statuses[i] = status
end

-- A tick is an add: a full server refuses the first of these writes.
local entries = {}
for i, id in ipairs(stepped) do
  local s = known[id]
  local where = s.where
  local answer = redis.pcall('HSET', KEYS[where], 'ran', ran_text(s.ran))
  if i == 1 and refused(answer) then return refused(answer) end
  entries[2 * i - 1], entries[2 * i] = s.next ~= '' and s.next or '+inf', id
end
if #stepped > 0 then redis.call('ZADD', KEYS[2], unpack(entries)) end
if #lost > 0 then redis.call('ZREM', KEYS[2], unpack(lost)) end
local lanes, timers, added, seq = new_lanes(), new_timers(), {}, 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
for i, j in ipairs(jobs) do
  local at_job, s = j.where, j.of
  redis.call('HSET', KEYS[at_job], 'head', s.head, 'data', s.data)
  seq = stand(KEYS[at_job], j.id, s.how, now, seq, lanes, timers)
  added[i] = j.id
end
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[10])
local earliest = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. now, '(inf', 'WITHSCORES', 'LIMIT', '0', '1')[2]
if earliest then redis.pcall('ZADD', KEYS[10], 'LT', earliest, '3') end
emit(KEYS[11], m, now, 'added', added)
return { statuses, earliest or '0' }
