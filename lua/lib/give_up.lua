-- What the caller of a claim is told who gives it up: its id is put into `leave` where the claim is the
-- caller's. `job` is what was read of the job's hash, its `head` first.
local function give_up(job, is_mine, id, leave)
  local there = not job.err and job[1]
  if not is_mine then return there and 'stale' or 'gone' end
  leave[#leave + 1] = id
  return there and 'ok' or 'gone'
end
