-- migrate/put: stores a chunk of jobs in the target of a migration, and their ids where they stand: behind
-- those that are in a list, or with their scores in a sorted set. How far the copy has come stands in
-- `cursor` of meta: a chunk leads on `from` what stands there `to` what stands there then, so that one that
-- is said again changes nothing. `fields` of a job are in the form of lib/fields.
-- KEYS    meta place
-- ITEM KEYS job
-- ARGV    revision from to kind count
-- ITEM ARGV id score fields
-- RETURNS one status for each job (`dup`: there is a job of that id already, which stays as it is), or one
--         `ok` for all; `done`: this chunk was stored before; `moved`: the copy is somewhere else
-- STATUS  ok dup done moved
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- COST    O(batch log N): two calls a job and four a batch
-- USES    fence_migrating full fields
local m = fence()
if m.err then return m end
local from, to, kind, count = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if m.cursor == to then return 'done' end
if m.cursor ~= from then return 'moved' end
if kind == 'list' then redis.call('LLEN', KEYS[2]) else redis.call('ZCARD', KEYS[2]) end
local jobs, statuses, any_dup, entries, n = {}, {}, false, {}, 0
for i = 1, count do
  local id, score, fields = ARGV[3 + 3 * i], ARGV[4 + 3 * i], read_fields(ARGV[5 + 3 * i])
  if not fields or #fields == 0 then return redis.error_reply('EMQARG fields of an unknown form') end
  jobs[i], statuses[i] = fields, 'ok'
  if redis.call('EXISTS', KEYS[2 + i]) == 1 then
    statuses[i] = 'dup'
    any_dup = true
  elseif kind == 'list' then
    n = n + 1
    entries[n] = id
  else
    n = n + 2
    entries[n - 1], entries[n] = score, id
  end
end
local first = redis.pcall('HSET', KEYS[1], 'cursor', to)
if refused(first) then return refused(first) end
for i = 1, count do
  if statuses[i] == 'ok' then redis.call('HSET', KEYS[2 + i], unpack(jobs[i])) end
end
if n > 0 and kind == 'list' then redis.call('RPUSH', KEYS[2], unpack(entries)) end
if n > 0 and kind ~= 'list' then redis.call('ZADD', KEYS[2], unpack(entries)) end
if any_dup then return statuses end
return 'ok'
