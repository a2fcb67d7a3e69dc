-- Whether a call may write into a job whose lease is `lease` (false: it does not run): a run shows its token
-- and may while the lease is its own; without a token anybody may. The token is as in `held`.
local function may_write(lease, token)
  if token == '' then return true end
  return lease and tonumber(lease) % 2097152 == tonumber(token)
end
