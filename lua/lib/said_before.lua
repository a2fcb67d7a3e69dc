-- Whether a flush of adds was applied before. `last` is what `producers` holds for its lane:
-- `<grant>:<flush>:<answers>`, a letter for each item of that flush, or none when all were `ok`. Answers nil
-- where it was not; what it was answered then, or `done` of each item where a later one was applied since; or
-- the refusal of a flush whose node belongs to someone else by now.
local function said_before(last, grant, flush, count)
  if not last then return nil end
  local last_grant, last_flush, answers = string.match(last, '^(%d+):(%d+):(%a*)$')
  if not last_grant then return redis.error_reply('EMQARG producers holds an entry of an unknown form') end
  if tonumber(last_grant) > tonumber(grant) then
    return redis.error_reply('EMQARG the node id is held by a newer process')
  end
  if last_grant ~= grant or tonumber(last_flush) < tonumber(flush) then return nil end
  local same = last_flush == flush
  if same and answers == '' then return 'ok' end
  local words, again = { k = 'ok', o = 'owned', m = 'moved', d = 'dup', s = 'state', f = 'full' }, {}
  for i = 1, count do again[i] = same and words[string.sub(answers, i, i)] or 'done' end
  return again
end
