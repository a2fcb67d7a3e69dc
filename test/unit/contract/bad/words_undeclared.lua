-- job/sample: a script for the tests of the contract.
-- KEYS      meta wait events
-- ITEM KEYS job
-- ARGV      revision now count
-- ITEM ARGV id name
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone
-- ERRORS    EMQFENCE
-- EMITS     touched
-- COST      O(batch)
-- USES      fence emit
local m = fence()
if m.err then return m end
if m.full then return redis.error_reply('EMQFULL no memory') end
if m.odd then return redis.error_reply('EMQODD') end
if m.text then return redis.error_reply(m.text) end
m[1] = 'stale'
emit(KEYS[3], ARGV[2], m.all and 'done_all' or ('touched'), m)
pcall(emit, KEYS[3], ARGV[2], 'protected', m)
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: 'EMQFULL' is not in the header's ERRORS
-- refused at 15: 'EMQODD' is not in the closed list of class words
-- refused at 15: 'EMQODD' is not in the header's ERRORS
-- refused at 16: an error reply must lead with a class word
-- refused at 17: 'stale' is not in the header's STATUS
-- refused at 18: 'done_all' is not in the header's EMITS
-- refused at 19: 'protected' is not in the header's EMITS
