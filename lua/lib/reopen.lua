-- A child gets another run: the edge to its parent has the next epoch from now on, so that no message of the
-- runs before counts any more; needs `report`. Nothing where the job has no parent.
local function reopen(job, id, edge, now, sent)
  local epoch, rest = string.match(edge or '', '^(%d+)(:%a:.+)$')
  if not epoch then return end
  local next_edge = string.format('%.0f', tonumber(epoch) + 1) .. rest
  redis.call('HSET', job, 'edge', next_edge)
  report(id, next_edge, 'r', now, '', sent)
end
