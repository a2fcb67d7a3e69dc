-- job/add_deduplicated: stores a batch of jobs some of which have a deduplication id (`de`). While a job owns
-- that id, another one is not stored: it is told who owns it. `seen` is the owner that the caller knows
-- (empty: none), whose job is declared; another one is answered as `moved`, and that job is left alone.
-- `how` holds `e` (a hit begins the ttl anew), `r` (an owner that is delayed is replaced), `k` (while the
-- owner is active the newest add is kept for its end); a ttl of 0: until the owner is over.
-- Repeating a flush is harmless, as in job/add; whom it told of stands in `producers` beside it.
-- KEYS    meta producers wait prioritized crashed delayed marker events trash subkeys active completed
--         failed de de_due de_next ghosts
-- ITEM KEYS job owner
-- MORE KEYS logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now lane grant flush count
-- ITEM ARGV id custom data name opts delay priority lifo de how ttl seen
-- RETURNS one status for each job; for each of them the owner, empty where it is `ok` or has none
-- STATUS  ok owned moved dup state full done
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- EMITS   added delayed deduplicated replaced
-- COST    O(batch log N): up to twelve calls a job, about twenty-five a batch
-- USES    fence full said_before limits room lanes places timers stand store dedup dedup_due emit
local m = fence()
if m.err then return m end
local now, at, count = ARGV[2], tonumber(ARGV[2]), tonumber(ARGV[6])

local last = redis.call('HMGET', KEYS[2], ARGV[3], ARGV[3] .. '.owners')
local before = said_before(last[1], ARGV[4], ARGV[5], count)
if before then
  if before.err then return before end
  local owners, told = {}, last[2] or ''
  for i = 1, count do
    owners[i] = ''
    if before[i] == 'owned' or before[i] == 'moved' then
      owners[i], told = string.match(told, '^(%S*) ?(.*)$')
    end
  end
  return { before, owners }
end

-- Look before the first write: the types, and what becomes of each job.
local length = redis.call('LLEN', KEYS[3]) + redis.call('ZCARD', KEYS[4]) + redis.call('LLEN', KEYS[5]) +
  redis.call('ZCARD', KEYS[6])
redis.call('SCARD', KEYS[9])
redis.call('SCARD', KEYS[10])
redis.call('ZCARD', KEYS[11])
redis.call('ZCARD', KEYS[12])
redis.call('ZCARD', KEYS[13])
redis.call('HLEN', KEYS[14])
redis.call('ZCARD', KEYS[15])
redis.call('HLEN', KEYS[16])
local room = room_left(m, length, KEYS[17])

-- What stands in `de`, with what there is to know of a job that owns an id; false where none does.
local function look(de, seen, owner, where)
  local e = read_entry(redis.call('HGET', KEYS[14], de))
  if not e or (e.expiry > 0 and at >= e.expiry) then return false end
  if e.held then return e end
  if e.owner ~= seen then return e, true end
  if not is_owned(e, de, owner, KEYS[12], KEYS[13], KEYS[9]) then return false end
  e.where = where
  e.is_delayed = redis.call('ZSCORE', KEYS[6], e.owner)
  e.is_active = redis.call('ZSCORE', KEYS[11], e.owner)
  return e
end

local jobs, stored, statuses, owners, told, letter_of = {}, {}, {}, {}, {}, {}
local entries, touched, taken, freed = {}, {}, {}, {}
local out, replaced, owned, to_place = {}, {}, {}, 0
local k = 18
for i = 1, count do
  local a = 6 + (i - 1) * 12
  local how, ttl = ARGV[a + 10], tonumber(ARGV[a + 11])
  local j = { id = ARGV[a + 1], custom = ARGV[a + 2] == '1', data = ARGV[a + 3], name = ARGV[a + 4],
    opts = ARGV[a + 5], delay = ARGV[a + 6], priority = ARGV[a + 7], lifo = ARGV[a + 8] == '1',
    de = ARGV[a + 9], k = k }
  local status, owner, e, old, is_known = 'ok', '', nil, nil, true
  if j.de ~= '' then
    e = entries[j.de]
    if e == nil then
      local has_moved
      e, has_moved = look(j.de, ARGV[a + 12], KEYS[k + 1], k + 1)
      if has_moved then
        status, owner, is_known = 'moved', e.owner, false
      else
        entries[j.de] = e
      end
    end
    if e and is_known then
      if string.find(how, 'r', 1, true) and e.is_delayed then
        old = e
      else
        status, owner = 'owned', e.owner
        owned[#owned + 1] = e.owner
        if string.find(how, 'k', 1, true) and (e.is_active or e.kept ~= '') then
          e.kept, e.kept_job, e.expiry = j.id, j, 0
        elseif e.expiry > 0 and string.find(how, 'e', 1, true) then
          e.expiry = at + ttl
        end
        if not e.is_touched then touched[#touched + 1] = j.de end
        e.is_touched = true
      end
    end
  end
  if status == 'ok' then
    local is_same = old and old.owner == j.id
    if j.custom then
      j.clear = is_same or freed[j.id] or redis.call('SISMEMBER', KEYS[9], j.id) == 1
      if (taken[j.id] and not is_same) or (not j.clear and redis.call('EXISTS', KEYS[k]) == 1) then
        status = 'dup'
      end
    elseif redis.call('EXISTS', KEYS[k]) == 1 then
      -- A minted id that is taken means that two processes mint under one node id: never a success.
      status = 'state'
    end
    if status == 'ok' and room and not old then
      if room <= 0 then status = 'full' else room = room - 1 end
    end
    if status == 'ok' then
      if old then
        replaced[#replaced + 1] = old.owner
        if old.job then
          old.job.is_dropped = true
          taken[old.owner] = nil
        else
          out[#out + 1] = { id = old.owner, where = not is_same and old.where }
          freed[old.owner] = true
        end
      end
      if j.custom then taken[j.id] = true end
      jobs[#jobs + 1] = j
      stored[#stored + 1] = j.id
      if j.de ~= '' then
        local expiry = ttl > 0 and at + ttl or 0
        if old and (old.expiry == 0 or not string.find(how, 'e', 1, true)) then expiry = old.expiry end
        if not (e and e.is_touched) then touched[#touched + 1] = j.de end
        entries[j.de] = { owner = j.id, expiry = expiry, held = false, kept = '', job = j,
          is_delayed = j.delay ~= '0', is_touched = true }
      end
    end
  end
  statuses[i], owners[i], letter_of[i] = status, owner, status == 'ok' and 'k' or string.sub(status, 1, 1)
  if owner ~= '' then told[#told + 1] = owner end
  k = k + (j.custom and 8 or 2)
end
for _, j in ipairs(jobs) do
  if not j.is_dropped and j.priority ~= '0' and j.delay == '0' then to_place = to_place + 1 end
end

local first = redis.pcall('HSET', KEYS[2], ARGV[3],
  ARGV[4] .. ':' .. ARGV[5] .. ':' .. table.concat(letter_of),
  ARGV[3] .. '.owners', table.concat(told, ' '))
if refused(first) then return refused(first) end

for _, job in ipairs(out) do
  redis.call('ZREM', KEYS[6], job.id)
  if job.where then
    -- One that has sub-keys goes to trash for that: they are not declared here.
    if redis.call('SISMEMBER', KEYS[10], job.id) == 1 then
      redis.call('SADD', KEYS[9], job.id)
    else
      local where = job.where
      redis.call('DEL', KEYS[where])
    end
  end
end
local lanes, timers, seq = new_lanes(), new_timers(), 0
if to_place > 0 then seq = take_places(KEYS[4], to_place) end
for _, j in ipairs(jobs) do
  local at_job = j.k
  if j.clear then
    redis.call('SREM', KEYS[9], j.id)
    redis.call('SREM', KEYS[10], j.id)
    redis.call('UNLINK', KEYS[at_job], KEYS[at_job + 2], KEYS[at_job + 3], KEYS[at_job + 4],
      KEYS[at_job + 5], KEYS[at_job + 6], KEYS[at_job + 7])
  end
  if not j.is_dropped then seq = store_job(KEYS[at_job], j, now, seq, lanes, timers) end
end
for _, de in ipairs(touched) do
  local e = entries[de]
  redis.call('HSET', KEYS[14], de, entry_text(e))
  redis.call('ZADD', KEYS[15], due_of(e, now), de)
  if e.kept_job then
    local j = e.kept_job
    redis.call('HSET', KEYS[16], de, table.concat({ j.id, j.delay, j.priority, j.lifo and '1' or '0',
      string.format('%.0f', #j.name), string.format('%.0f', #j.opts), j.name .. j.opts .. j.data }, ':'))
  elseif e.kept == '' then
    redis.call('HDEL', KEYS[16], de)
  end
end
put_timers(timers, KEYS[6], KEYS[7])
put_ready(lanes, m, KEYS[3], KEYS[4], KEYS[5], KEYS[7])
emit(KEYS[8], m, now, 'added', stored, 'delayed', timers.ids)
emit(KEYS[8], m, now, 'deduplicated', owned, 'replaced', replaced)
return { statuses, owners }
