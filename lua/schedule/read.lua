-- schedule/read: one scheduler, at one moment.
-- KEYS    meta schedules schedule
-- ARGV    revision id
-- RETURNS empty when there is none; otherwise its next tick (inf: it has none), then the hash's fields and
--         values
-- ERRORS  EMQFENCE
-- COST    O(fields of the scheduler), no write
-- USES    fence
local m = fence()
if m.err then return m end
local fields = redis.call('HGETALL', KEYS[3])
if #fields == 0 then return {} end
local answer = { redis.call('ZSCORE', KEYS[2], ARGV[2]) or 'inf' }
for i = 1, #fields do answer[1 + i] = fields[i] end
return answer
