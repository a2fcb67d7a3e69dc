-- job/read: one job with its state, at one moment.
-- KEYS    meta active delayed prioritized completed failed waiting_children trash job
-- ARGV    revision id
-- RETURNS empty when there is no such job; otherwise state (active delayed prioritized completed failed
--         waiting-children waiting), the score in its set (0 for waiting), then the hash's fields and values
-- ERRORS  EMQFENCE
-- COST    O(fields of the job), no write
-- USES    fence
local m = fence()
if m.err then return m end
local id = ARGV[2]
local fields = redis.call('HGETALL', KEYS[9])
if #fields == 0 or redis.call('SISMEMBER', KEYS[8], id) == 1 then return {} end
local answer = { 'waiting', '0' }
local score = redis.call('ZSCORE', KEYS[2], id)
if score then answer = { 'active', score } end
score = redis.call('ZSCORE', KEYS[3], id)
if score then answer = { 'delayed', score } end
score = redis.call('ZSCORE', KEYS[4], id)
if score then answer = { 'prioritized', score } end
score = redis.call('ZSCORE', KEYS[5], id)
if score then answer = { 'completed', score } end
score = redis.call('ZSCORE', KEYS[6], id)
if score then answer = { 'failed', score } end
score = redis.call('ZSCORE', KEYS[7], id)
if score then answer = { 'waiting-children', score } end
for i = 1, #fields do answer[2 + i] = fields[i] end
return answer
