-- What a job tells its parent: one message in `outbox`, which is delivered from there, because the parent may
-- be in another slot. `edge` is a field of the child's hash, `<epoch>:<policy>:<parent queue>:<parent id>`.
-- The message stands in the field `<child> <parent>`, so a later one takes the place of one that nobody has
-- delivered: `<epoch>:<kind>:<now>:<policy>:<value>`, its kind `c` (completed), `f` (failed) or `r` (it gets
-- another run). It is appended to `sent`, behind its field; nothing where the job has no parent.

-- The parts that jobs of one edge share: behind the id in the field, and in front of the value. Nothing where
-- there is no parent.
local function report_parts(edge, kind, now)
  local epoch, policy, parent = string.match(edge or '', '^(%d+):(%a):(.+)$')
  if not epoch then return end
  return ' ' .. parent, epoch .. ':' .. kind .. ':' .. now .. ':' .. policy .. ':'
end

local function report(id, edge, kind, now, value, sent)
  local of_parent, text = report_parts(edge, kind, now)
  if not of_parent then return end
  local n = #sent
  sent[n + 1] = id .. of_parent
  sent[n + 2] = text .. value
end

-- Writes them, all in one call.
local function send(outbox, sent)
  if #sent > 0 then redis.call('HSET', outbox, unpack(sent)) end
end
