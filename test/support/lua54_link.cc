// SPDX-License-Identifier: MIT
#include "support/lua54_link.h"

#include <cstdio>
#include <lua5.4/lua.hpp>
#include <stdexcept>
#include <utility>

#include "echomq_scripts.h"

namespace echomq::test {
namespace {

// An answer of the server as a value of Lua, by the rules of the server's own scripting.
void push(lua_State* lua, const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::integer: lua_pushinteger(lua, reply.integer); return;
    case Reply::Kind::null: lua_pushboolean(lua, 0); return;
    case Reply::Kind::error:
      lua_createtable(lua, 0, 1);
      lua_pushlstring(lua, reply.text.data(), reply.text.size());
      lua_setfield(lua, -2, "err");
      return;
    case Reply::Kind::text: lua_pushlstring(lua, reply.text.data(), reply.text.size()); return;
    default: break;
  }
  lua_createtable(lua, static_cast<int>(reply.items.size()), 0);
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    push(lua, reply.items[i]);
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
}

Reply text_of(lua_State* lua, int at, Reply::Kind kind) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, at, &size);
  Reply reply;
  reply.kind = kind;
  if (text != nullptr) reply.text.assign(text, size);
  return reply;
}

// The value on top as the answer of a script.
Reply pop(lua_State* lua) {
  Reply reply;
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING: reply = text_of(lua, -1, Reply::Kind::text); break;
    case LUA_TNUMBER:
      reply.kind = Reply::Kind::integer;
      reply.integer = lua_isinteger(lua, -1) != 0
                          ? lua_tointeger(lua, -1)
                          : static_cast<std::int64_t>(lua_tonumber(lua, -1));
      break;
    case LUA_TBOOLEAN:
      if (lua_toboolean(lua, -1) != 0) {
        reply.kind = Reply::Kind::integer;
        reply.integer = 1;
      }
      break;
    case LUA_TTABLE:
      lua_getfield(lua, -1, "err");
      if (lua_isstring(lua, -1) != 0) {
        reply = text_of(lua, -1, Reply::Kind::error);
        lua_pop(lua, 1);
        break;
      }
      lua_pop(lua, 1);
      reply.kind = Reply::Kind::array;
      for (lua_Integer i = 1;; ++i) {
        lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) break;
        reply.items.push_back(pop(lua));
      }
      lua_pop(lua, 1);
      break;
    default: break;
  }
  lua_pop(lua, 1);
  return reply;
}

// Arguments are strings, or numbers as the server spells them.
std::vector<std::string> arguments(lua_State* lua) {
  std::vector<std::string> words;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER && lua_isinteger(lua, i) == 0) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.17g", lua_tonumber(lua, i));
      words.emplace_back(digits);
      continue;
    }
    words.push_back(text_of(lua, i, Reply::Kind::text).text);
  }
  return words;
}

int call(lua_State* lua, bool raises) {
  auto* const server = static_cast<Link*>(lua_touserdata(lua, lua_upvalueindex(1)));
  bool failed = false;
  {
    // Nothing with a destructor may stand here when Lua jumps.
    const auto words = arguments(lua);
    const auto reply = (*server)(words);
    failed = reply.is_error();
    push(lua, reply);
    // A status comes as a table. The reader of RESP does not tell it from a string; that of TYPE is
    // the only one that scripts look into.
    if (!failed && !words.empty() && words.front() == "TYPE") {
      lua_createtable(lua, 0, 1);
      lua_insert(lua, -2);
      lua_setfield(lua, -2, "ok");
    }
  }
  if (failed && raises) return lua_error(lua);
  return 1;
}

int redis_call(lua_State* lua) { return call(lua, true); }
int redis_pcall(lua_State* lua) { return call(lua, false); }

int redis_error_reply(lua_State* lua) {
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "err");
  return 1;
}

void set_array(lua_State* lua, const char* name, const std::vector<std::string>& words,
               std::size_t first, std::size_t end) {
  lua_createtable(lua, static_cast<int>(end - first), 0);
  for (auto i = first; i < end; ++i) {
    lua_pushlstring(lua, words[i].data(), words[i].size());
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i - first + 1));
  }
  lua_setglobal(lua, name);
}

}  // namespace

Lua54Link::Lua54Link(Link& server) : server_(server), lua_(luaL_newstate()) {
  if (lua_ == nullptr) throw std::runtime_error("no Lua");
  luaL_openlibs(lua_);
  lua_getglobal(lua_, "table");
  lua_getfield(lua_, -1, "unpack");
  lua_setglobal(lua_, "unpack");
  lua_pop(lua_, 1);
  lua_createtable(lua_, 0, 3);
  using Named = std::pair<const char*, lua_CFunction>;
  for (const auto& [name, function] : {Named{"call", redis_call}, Named{"pcall", redis_pcall}}) {
    lua_pushlightuserdata(lua_, &server_);
    lua_pushcclosure(lua_, function, 1);
    lua_setfield(lua_, -2, name);
  }
  lua_pushcfunction(lua_, redis_error_reply);
  lua_setfield(lua_, -2, "error_reply");
  lua_setglobal(lua_, "redis");
  for (const auto* const script : scripts::all())
    sources_[std::string(script->sha1)] = script->source;
}

Lua54Link::~Lua54Link() { lua_close(lua_); }

void Lua54Link::send(std::string_view bytes) {
  commands_.feed(bytes);
  while (true) {
    auto next = commands_.next();
    if (!next) throw std::runtime_error(next.error().message());
    if (!*next) return;
    const auto words = texts(**next);
    if (words.at(0) == "EVALSHA")
      replies_.push_back(eval(sources_.at(words.at(1)), words));
    else if (words.at(0) == "EVAL")
      replies_.push_back(eval(words.at(1), words));
    else
      replies_.push_back(server_(words));
  }
}

Reply Lua54Link::receive(std::chrono::milliseconds /*deadline*/) {
  if (replies_.empty()) throw std::runtime_error("nothing was asked");
  auto reply = std::move(replies_.front());
  replies_.pop_front();
  return reply;
}

Reply Lua54Link::eval(const std::string& source, const std::vector<std::string>& words) {
  ++scripts_run_;
  const auto keys = std::stoul(words.at(2));
  set_array(lua_, "KEYS", words, 3, 3 + keys);
  set_array(lua_, "ARGV", words, 3 + keys, words.size());
  if (luaL_loadbuffer(lua_, source.data(), source.size(), "script") != LUA_OK ||
      lua_pcall(lua_, 0, 1, 0) != LUA_OK) {
    // An error that redis.call raised is a table, one of Lua's own a text.
    if (lua_istable(lua_, -1)) return pop(lua_);
    auto error = text_of(lua_, -1, Reply::Kind::error);
    lua_pop(lua_, 1);
    return error;
  }
  return pop(lua_);
}

}  // namespace echomq::test
