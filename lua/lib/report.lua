-- What a job tells its parent: one message in `outbox`, which is delivered from there, because the parent may
-- be in another slot. `edge` is a field of the child's hash, `<epoch>:<policy>:<parent queue>:<parent id>`.
-- The message stands in the field `<child> <parent>`, so a later one takes the place of one that nobody has
-- delivered: `<epoch>:<kind>:<now>:<policy>:<value>`, its kind `c` (completed), `f` (failed) or `r` (it gets
-- another run). Appends the field and the message to `sent`.
local function report(outbox, id, edge, kind, now, value, sent)
  local epoch, policy, parent = string.match(edge or '', '^(%d+):(%a):(.+)$')
  if not epoch then return end
  local field = id .. ' ' .. parent
  local message = table.concat({ epoch, kind, now, policy, value }, ':')
  redis.call('HSET', outbox, field, message)
  sent[#sent + 1] = field
  sent[#sent + 1] = message
end
