-- job/finish: ends claims whose handlers are done, for good. The lease's token is stored with the job,
-- so that a repeated finish is told `done`, not `stale`. All jobs of a call end alike and under one rule
-- of retention. With `drop` nothing is kept of them; one that has sub-keys goes to trash for that,
-- because they are not declared here. `finished` is the set `completed` or `failed`, as `outcome` tells,
-- and `metrics` and `sizes` belong to it.
-- `oldest` are ids, joined by blanks, that the caller saw as the oldest of `finished` (an earlier answer to
-- `peek` named them); their keys stand behind those of the jobs. Those of them that retention takes now, in
-- that order, are deleted at once instead of by job/evict.
-- How jobs ended is told once for each run of them that are alike in it. `ends` is such runs, one behind the
-- other: `<jobs>:<lease>:<ats>:<atm>:<stc>:<started>:<bytes of value>:<value>`; the lease is as the caller
-- knows it, and may have been extended since.
-- Jobs with parents travel in calls of their own (`parents`): each leaves a message to its parent, of whose
-- value a result of more than 64 KiB is not part (`>`; else `+` and the result).
-- KEYS    meta active finished trash subkeys events metrics marker sizes outbox
-- ITEM KEYS job
-- ARGV    revision now count outcome by drop keep age bytes ends oldest peek parents
-- ITEM ARGV id
-- RETURNS one status for each job, or one `ok` for all; the ids that went to trash, joined by blanks;
--         those of them that have sub-keys; where retention took any, the `peek` oldest ids that are left,
--         joined by blanks; how many were deleted at once; with `parents` the messages, field and message
--         in turn
-- STATUS  ok stale gone done
-- ERRORS  EMQFENCE EMQARG
-- EMITS   completed failed
-- COST    O(batch log N): one HSET or DEL a job, one more with a parent, about thirteen calls a batch
-- USES    fence held held_together run limits slots sizes retain subkeys report emit metrics
local m = fence()
if m.err then return m end
local now, count, drop = ARGV[2], tonumber(ARGV[3]), ARGV[6] == '1'
local done = ARGV[4] == 'completed'
local ids, runs, told_of, at = { unpack(ARGV, 14, #ARGV) }, {}, 0, 1
for i = 1, count do
  if told_of < i then
    local jobs, lease, ats, atm, stc, started, bytes, from =
      string.match(ARGV[10], '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):()', at)
    if not jobs then return redis.error_reply('EMQARG ends tells of fewer jobs than there are') end
    at = from + tonumber(bytes)
    told_of = told_of + tonumber(jobs)
    local token = string.format('%.0f', tonumber(lease) % 2097152)
    runs[#runs + 1] = { first = i, last = math.min(told_of, count), lease = lease, token = token,
      text = run_text(ats, atm, stc, started, now, token, ARGV[5]),
      value = string.sub(ARGV[10], from, at - 1) }
  end
end
local mine, all_mine = held_together(KEYS[2], ids, runs)
redis.call('ZCARD', KEYS[3])
redis.call('HLEN', KEYS[9])
redis.call('SCARD', KEYS[4])
local all_there = not drop and redis.call('EXISTS', unpack(KEYS, 11, 10 + count)) == count
local has_more = {}
if drop then
  for _, id in ipairs(with_subkeys(KEYS[5], ids)) do has_more[id] = true end
else
  redis.call('SCARD', KEYS[5])
end
local edges = ARGV[13] == '1' and {}
if edges then
  redis.call('HLEN', KEYS[10])
  for i = 1, count do
    local edge = redis.pcall('HGET', KEYS[10 + i], 'edge')
    edges[i] = type(edge) == 'string' and edge
  end
end

-- A full server allows this write, and after it the rest.
redis.call('ZREM', KEYS[2], '')
local said = done and 'returnvalue' or 'failedReason'

-- Answers no number where the hash was deleted by hand, or something else stands in its place.
local function keep_end(job, run)
  if done and run.value == '' then return redis.pcall('HSET', job, 'run', run.text) end
  return redis.pcall('HSET', job, 'run', run.text, said, run.value)
end

local statuses, leave, told, evicted = {}, {}, {}, {}
local function end_one(i, run)
  -- No hash has an edge and nothing else.
  local there = all_there or edges and edges[i] or redis.pcall('HEXISTS', KEYS[10 + i], 'head') == 1
  if not all_mine and not mine[i] then
    if not there then return 'gone' end
    local text = redis.pcall('HGET', KEYS[10 + i], 'run')
    local _, _, _, _, _, token = read_run(type(text) == 'string' and text or '')
    return token == run.token and 'done' or 'stale'
  end
  leave[#leave + 1] = ids[i]
  if not there then return 'gone' end
  if drop and has_more[ids[i]] then
    redis.call('SADD', KEYS[4], ids[i])
    evicted[#evicted + 1] = ids[i]
  elseif drop then
    redis.call('DEL', KEYS[10 + i])
  elseif type(keep_end(KEYS[10 + i], run)) ~= 'number' then
    return 'gone'
  end
  told[#told + 1] = ids[i]
  return 'ok'
end

local all_ok, deleted, oldest = all_mine and all_there, 0, ''
for _, run in ipairs(runs) do
  for i = run.first, all_ok and run.last or 0 do
    if type(keep_end(KEYS[10 + i], run)) ~= 'number' then all_ok = false end
  end
end
if all_ok then
  leave, told = ids, ids
else
  all_ok = true
  for _, run in ipairs(runs) do
    for i = run.first, run.last do
      statuses[i] = end_one(i, run)
      all_ok = all_ok and statuses[i] == 'ok'
    end
  end
end

-- What the jobs that are told take up: data and value.
local function sizes_of_kept()
  local kept, noted = {}, {}
  for _, id in ipairs(told) do kept[id] = true end
  for _, run in ipairs(runs) do
    for i = run.first, run.last do
      if kept[ids[i]] then
        kept[ids[i]] = nil -- named twice in a call, a claim ends once
        noted[#noted + 1] = ids[i]
        noted[#noted + 1] = redis.call('HSTRLEN', KEYS[10 + i], 'data') + #run.value
      end
    end
  end
  return noted
end

if #leave > 0 then redis.call('ZREM', KEYS[2], unpack(leave)) end
if #told > 0 and not drop then
  local ended = {}
  for i, id in ipairs(told) do
    ended[2 * i - 1], ended[2 * i] = now, id
  end
  redis.call('ZADD', KEYS[3], unpack(ended))
  if ARGV[9] ~= '0' then note_sizes(KEYS[9], sizes_of_kept()) end
  local over, first = take_over(KEYS[3], KEYS[9], ARGV[7], ARGV[8], ARGV[9], now), 1
  local declared = #KEYS - 10 - count
  if declared > 0 and declared <= #over and table.concat(over, ' ', 1, declared) == ARGV[11] and
    redis.call('SCARD', KEYS[5]) == 0 then
    redis.call('DEL', unpack(KEYS, 11 + count, #KEYS))
    deleted, first = declared, declared + 1
  end
  for i = first, #over do evicted[i - first + 1] = over[i] end
  if #evicted > 0 then redis.call('SADD', KEYS[4], unpack(evicted)) end
  if #over > 0 and ARGV[12] ~= '0' then
    local last = string.format('%.0f', tonumber(ARGV[12]) - 1)
    oldest = table.concat(redis.call('ZRANGE', KEYS[3], '0', last), ' ')
  end
end

-- Those that are told tell their parents. Children of one parent mostly end together, and share all but
-- their ids and results.
local function tell_parents()
  local sent, n = {}, 0
  local edge, of_parent, text
  for _, run in ipairs(runs) do
    local value = run.value
    if done then value = #value > 65536 and '>' or '+' .. value end
    for i = run.first, run.last do
      if edges[i] and (all_ok or statuses[i] == 'ok') then
        if edges[i] ~= edge then
          edge = edges[i]
          of_parent, text = report_parts(edge, done and 'c' or 'f', now)
        end
        if of_parent then
          sent[n + 1] = ids[i] .. of_parent
          sent[n + 2] = text .. value
          n = n + 2
        end
      end
    end
  end
  send(KEYS[10], sent)
  return sent
end

local sent = edges and tell_parents()
free_slots(m, KEYS[2], KEYS[8], #leave)
emit(KEYS[6], m, now, done and 'completed' or 'failed', told)
count_ended(KEYS[7], m, now, #told)
return { all_ok and 'ok' or statuses, table.concat(evicted, ' '), with_subkeys(KEYS[5], evicted), oldest,
  deleted, sent or nil }
