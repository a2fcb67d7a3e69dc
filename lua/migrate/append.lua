-- migrate/append: writes a part of one key of the target of a migration: fields of a hash, members of a
-- sorted set (`value` is the score) or of a set, elements of a list (`value`; there `name` is nothing). The
-- first part of a key replaces what stands there, so whoever begins anew repeats nothing.
-- KEYS    meta target
-- ARGV    revision type replace count
-- ITEM ARGV name value
-- RETURNS ok
-- STATUS  ok
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- COST    O(batch log N): at most four calls
-- USES    fence_migrating full
local m = fence()
if m.err then return m end
local type_of, count, flat = ARGV[2], tonumber(ARGV[4]), {}
for i = 1, count do
  local name, value = ARGV[3 + 2 * i], ARGV[4 + 2 * i]
  if type_of == 'list' then
    flat[i] = value
  elseif type_of == 'set' then
    flat[i] = name
  elseif type_of == 'hash' then
    flat[2 * i - 1], flat[2 * i] = name, value
  else
    flat[2 * i - 1], flat[2 * i] = value, name
  end
end
local commands = { list = true, set = true, hash = true, zset = true }
if not commands[type_of] then return redis.error_reply('EMQARG a type of an unknown name') end
if ARGV[3] ~= '1' then
  if type_of == 'list' then redis.call('LLEN', KEYS[2]) end
  if type_of == 'set' then redis.call('SCARD', KEYS[2]) end
  if type_of == 'hash' then redis.call('HLEN', KEYS[2]) end
  if type_of == 'zset' then redis.call('ZCARD', KEYS[2]) end
end
-- A write that a full server refuses, before anything has changed.
local first = redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0:migrating')
if refused(first) then return refused(first) end
if ARGV[3] == '1' then redis.call('UNLINK', KEYS[2]) end
if count > 0 then
  if type_of == 'list' then redis.call('RPUSH', KEYS[2], unpack(flat)) end
  if type_of == 'set' then redis.call('SADD', KEYS[2], unpack(flat)) end
  if type_of == 'hash' then redis.call('HSET', KEYS[2], unpack(flat)) end
  if type_of == 'zset' then redis.call('ZADD', KEYS[2], unpack(flat)) end
end
return 'ok'
