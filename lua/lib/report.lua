-- What a job tells its parent: one message in `outbox`, which is delivered from there, because the parent may
-- be in another slot. `edge` is a field of the child's hash, `<epoch>:<policy>:<parent queue>:<parent id>`.
-- The message stands in the field `<child> <parent>`, so a later one takes the place of one that nobody has
-- delivered: `<epoch>:<kind>:<now>:<policy>:<value>`, its kind `c` (completed), `f` (failed) or `r` (it gets
-- another run). It is appended to `sent`, behind its field; nothing where the job has no parent.
local function report(id, edge, kind, now, value, sent)
  local epoch, policy, parent = string.match(edge or '', '^(%d+):(%a):(.+)$')
  if not epoch then return end
  local n = #sent
  sent[n + 1] = id .. ' ' .. parent
  sent[n + 2] = epoch .. ':' .. kind .. ':' .. now .. ':' .. policy .. ':' .. value
end

-- Writes them, all in one call.
local function send(outbox, sent)
  if #sent > 0 then redis.call('HSET', outbox, unpack(sent)) end
end
