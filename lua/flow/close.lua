-- flow/close: deletes the record of a flow: all of it is added, or it was never sealed. The note must begin
-- with `seen`, so that one that goes on meanwhile is left alone.
-- KEYS    meta outbox flow
-- ARGV    revision plan seen
-- RETURNS one status
-- STATUS  ok moved gone
-- ERRORS  EMQFENCE
-- COST    O(1): five calls; the memory is given back in the background
-- USES    fence
local m = fence()
if m.err then return m end
local field, seen = 'flow:' .. ARGV[2], ARGV[3]
local note = redis.call('HGET', KEYS[2], field)
redis.call('LLEN', KEYS[3])
if not note then return 'gone' end
if string.sub(note, 1, #seen) ~= seen then return 'moved' end
redis.call('HDEL', KEYS[2], field)
redis.call('UNLINK', KEYS[3])
return 'ok'
