-- deduplication/end: gives ids free whose owners are over, and adds what was kept for that: it owns the id
-- then. The caller names the owner and the add that it saw, and declares their jobs; where it saw no add that
-- is kept, the owner stands in its place. With `force` an owner that is not over loses the id as well.
-- An add that is kept under the id of its owner takes the place of what is left of that job. Beyond 256 KiB
-- of what is kept an id is left to the next call, as `moved`, unless it is the first one.
-- KEYS    meta wait prioritized crashed delayed completed failed marker events trash subkeys de de_due
--         de_next sizes_completed sizes_failed
-- ITEM KEYS owner job
-- MORE KEYS logs dependencies processed failed_children unsuccessful checkpoint
-- ARGV    revision now count force
-- ITEM ARGV de owner kept custom
-- RETURNS one status for each id (`lock`: its owner is not over; `dup`: it is free, and the add that was kept
--         is no job, since there is one of its id; `gone`: nobody owned it); for each that has moved who owns
--         it and what is kept, in turn, and empty ones for the others
-- STATUS  ok lock moved gone dup
-- ERRORS  EMQFENCE
-- EMITS   added delayed
-- COST    O(batch log N): up to twelve calls an id, about fifteen a batch
-- USES    fence lanes places timers stand store sizes dedup dedup_due emit
local m = fence()
if m.err then return m end
local now, at, count, force = ARGV[2], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
redis.call('LLEN', KEYS[2])
redis.call('ZCARD', KEYS[3])
redis.call('LLEN', KEYS[4])
redis.call('ZCARD', KEYS[5])
redis.call('ZCARD', KEYS[6])
redis.call('ZCARD', KEYS[7])
redis.call('SCARD', KEYS[10])
redis.call('SCARD', KEYS[11])
redis.call('HLEN', KEYS[12])
redis.call('ZCARD', KEYS[13])
redis.call('HLEN', KEYS[14])
redis.call('HLEN', KEYS[15])
redis.call('HLEN', KEYS[16])

-- The add that is kept under that id, or nothing where it does not read.
local function kept_add(de, id)
  local text = redis.call('HGET', KEYS[14], de) or ''
  local kept, delay, priority, lifo, name_bytes, opts_bytes, from =
    string.match(text, '^([^:]+):(%d+):(%d+):([01]):(%d+):(%d+):()')
  if kept ~= id then return nil end
  local name_end = from + tonumber(name_bytes)
  local opts_end = name_end + tonumber(opts_bytes)
  return { id = id, delay = delay, priority = priority, lifo = lifo == '1', de = de,
    name = string.sub(text, from, name_end - 1), opts = string.sub(text, name_end, opts_end - 1),
    data = string.sub(text, opts_end) }
end

local statuses, told, plans, seen, taken, to_place, bytes = {}, {}, {}, {}, {}, 0, 0
local k = 17
for i = 1, count do
  local a = 4 + (i - 1) * 4
  local de, owner, kept, custom = ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4] == '1'
  local e = read_entry(redis.call('HGET', KEYS[12], de))
  local status = 'ok'
  local size = kept ~= '' and redis.call('HSTRLEN', KEYS[14], de) or 0
  told[2 * i - 1], told[2 * i] = '', ''
  if seen[de] then
    status = 'gone'
  elseif not e then
    status = 'gone'
    plans[#plans + 1] = { de = de }
  elseif e.owner ~= owner or e.kept ~= kept or (bytes > 0 and bytes + size > 262144) then
    status = 'moved'
    told[2 * i - 1], told[2 * i] = e.owner, e.kept
  elseif not force and (e.expiry == 0 or at < e.expiry) and
    is_owned(e, de, KEYS[k], KEYS[6], KEYS[7], KEYS[10]) then
    status = 'lock'
    plans[#plans + 1] = { de = de, stays = e }
  else
    local j = kept ~= '' and kept_add(de, kept)
    bytes = bytes + size
    if j then
      local has_ended = redis.call('ZSCORE', KEYS[6], kept) or redis.call('ZSCORE', KEYS[7], kept)
      j.clear = redis.call('SISMEMBER', KEYS[10], kept) == 1 or (kept == owner and has_ended)
      if taken[kept] or (not j.clear and redis.call('EXISTS', KEYS[k + 1]) == 1) then
        j, status = nil, 'dup'
      else
        taken[kept] = true
        if j.priority ~= '0' and j.delay == '0' then to_place = to_place + 1 end
      end
    end
    plans[#plans + 1] = { de = de, job = j, k = k + 1, custom = custom }
  end
  seen[de] = true
  statuses[i] = status
  k = k + (custom and 8 or 2)
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[13], '')
local lanes, timers, added, cleared, seq = new_lanes(), new_timers(), {}, {}, 0
if to_place > 0 then seq = take_places(KEYS[3], to_place) end
for _, plan in ipairs(plans) do
  local e = plan.stays
  if plan.job then
    local j, at_job = plan.job, plan.k
    if j.clear then
      redis.call('ZREM', KEYS[6], j.id)
      redis.call('ZREM', KEYS[7], j.id)
      cleared[#cleared + 1] = j.id
      redis.call('SREM', KEYS[10], j.id)
      redis.call('DEL', KEYS[at_job])
      if plan.custom then
        redis.call('SREM', KEYS[11], j.id)
        redis.call('UNLINK', KEYS[at_job + 1], KEYS[at_job + 2], KEYS[at_job + 3], KEYS[at_job + 4],
          KEYS[at_job + 5], KEYS[at_job + 6])
      end
    end
    seq = store_job(KEYS[at_job], j, now, seq, lanes, timers)
    added[#added + 1] = j.id
    e = { owner = j.id, expiry = 0, held = false, kept = '' }
    redis.call('HSET', KEYS[12], plan.de, entry_text(e))
  end
  if e then
    redis.call('ZADD', KEYS[13], due_of(e, now), plan.de)
  else
    redis.call('HDEL', KEYS[12], plan.de)
    redis.call('ZREM', KEYS[13], plan.de)
  end
  if not plan.stays then redis.call('HDEL', KEYS[14], plan.de) end
end
forget_sizes(KEYS[15], cleared)
forget_sizes(KEYS[16], cleared)
put_timers(timers, KEYS[5], KEYS[8])
put_ready(lanes, m, KEYS[2], KEYS[3], KEYS[4], KEYS[8])
emit(KEYS[9], m, now, 'added', added, 'delayed', timers.ids)
return { statuses, told }
