-- flow/plan: records a part of a flow before anything of the flow exists, so that whoever finds the record
-- can add what its creator has not. `first` is how many entries stand there already; with `sealed` it is
-- complete. The note of it, `flow:<plan>` in `outbox`, is `<o|s>:<now>:<entries>`: open, or sealed.
-- KEYS    meta outbox flow
-- ARGV    revision now plan first sealed
-- ITEM ARGV entry
-- RETURNS one status (`done`: this part is there already; `gone`: the record was given up)
-- STATUS  ok done gone
-- ERRORS  EMQFENCE EMQFULL
-- COST    O(entries): four calls
-- USES    fence full
local m = fence()
if m.err then return m end
local field, first = 'flow:' .. ARGV[3], tonumber(ARGV[4])
local note = redis.call('HGET', KEYS[2], field)
local length = redis.call('LLEN', KEYS[3])
if note and length > first then return 'done' end
if length < first or not note and first > 0 then return 'gone' end
local entries = string.format('%.0f', length + #ARGV - 5)
local kind = ARGV[5] == '1' and 's:' or 'o:'
local wrote = redis.pcall('HSET', KEYS[2], field, kind .. ARGV[2] .. ':' .. entries)
if refused(wrote) then return refused(wrote) end
redis.call('RPUSH', KEYS[3], unpack(ARGV, 6, #ARGV))
return 'ok'
