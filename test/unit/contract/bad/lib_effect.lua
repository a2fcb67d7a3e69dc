-- A lib that acts on its own and holds a constant.
redis.call('DEL', KEYS[1])
local limit = 5
local function emit(stream, now, event, ids)
  redis.pcall('XADD', stream, ARGV[2], 'at', now, event, table.concat(ids, ' '))
end
-- refused at 2: a lib holds
-- refused at 3: a lib holds
-- refused at 2: before anything else the script must hold
