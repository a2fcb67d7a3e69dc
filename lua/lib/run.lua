-- What the runs of a job have left behind, in one field of its hash, because each field costs every
-- end of a claim: `run` is `<ats>:<atm>:<stc>:<started>:<ended>:<token>:<worker>`, 0 for a number that
-- there is not, no token while the job has not ended. A field of another form reads as absent.
local function run_text(ats, atm, stc, started, ended, token, worker)
  return table.concat({ ats, atm, stc, started, ended, token, worker }, ':')
end

-- The parts, as text.
local function read_run(text)
  local ats, atm, stc, started, ended, token, worker =
    string.match(text or '', '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d*):(.*)$')
  if not ats then return '0', '0', '0', '0', '0', '', '' end
  return ats, atm, stc, started, ended, token, worker
end

-- How often a job has been through a crash.
local function crashes_of(text)
  return (string.match(text or '', '^%d+:%d+:(%d+):')) or '0'
end
