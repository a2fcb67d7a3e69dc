-- The refusal of a first write: EMQFULL where the server is at maxmemory, the server's own error
-- otherwise, nil when the write went through.
local function refused(answer)
  if type(answer) ~= 'table' or not answer.err then return nil end
  if string.find(answer.err, 'OOM', 1, true) then
    return redis.error_reply('EMQFULL the server is at its maxmemory limit')
  end
  return answer
end
