-- The sentinel of `active`. While the set is never empty, no v1 client can make a list of it; and a member
-- of more than 64 bytes keeps the server from packing a small set into a flat list, which it would search
-- from the front for each lease.
local function sentinel()
  return 'echomq:2.0.0 sentinel, which no job can be named: keeps v1 out, and this set fast'
end
