-- A parent ends in `failed` because one of its children (`ref`) did, and tells its own parent so; needs `run`
-- and `report`. `failedBy` in its hash tells that no run of its own failed.
local function fall(job, failed, id, run, edge, ref, why, now, sent)
  local ats, atm, stc, started, _, _, worker = read_run(run)
  local reason = 'child ' .. ref .. ' failed: ' .. why
  redis.call('HSET', job, 'run', run_text(ats, atm, stc, started, now, '', worker), 'failedBy', ref,
    'failedReason', reason)
  redis.call('ZADD', failed, now, id)
  report(id, edge, 'f', now, reason, sent)
end
