-- node/sample: a script of the deployment's own keys.
-- KEYS      version nodes wait
-- ARGV      revision
-- RETURNS   a number
-- ERRORS    EMQFENCE
-- COST      O(1)
-- USES      fence_reserve
local m = fence()
if m.err then return m end
return redis.call('EXISTS', KEYS[2], KEYS[3])
-- refused at 2: 'wait' is a key of a queue
