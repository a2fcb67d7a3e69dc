// SPDX-License-Identifier: MIT
// The syntax tree of a script, with every name resolved to its variable.
//
// The rules on keys ask questions that tokens cannot answer: is this `key` the parameter or a local
// that shadows it, is it ever assigned again, which calls reach this function. The grammar is that
// of Lua 5.1; where 5.4 is stricter or reads a line differently, the parser reports it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "contract/lexer.h"

namespace echomq::inline v2::contract {

struct Expression;
struct Function;
struct Statement;
using Expressions = std::vector<Expression*>;
using Block = std::vector<Statement*>;

struct Variable {
  enum class Kind { local, parameter, counter, element, function };
  Kind kind = Kind::local;
  std::string name;
  Position at;
  // local: its own initialiser, if it has one. counter (of a numeric for): its lowest value.
  const Expression* first = nullptr;
  const Expression* last = nullptr;  // counter: its greatest value
  int step = 1;                      // counter: 1 or -1; 0 for any other step
  Function* function = nullptr;      // function: the function; parameter: whose parameter it is
  std::size_t index = 0;             // parameter: its place
  bool assigned = false;             // again, after its declaration
};

struct Function {
  std::string name;  // empty for one without a name
  Position at;
  Function* outer = nullptr;  // the function that it stands in
  std::vector<Variable*> parameters;
  Block body;
};

struct Expression {
  enum class Kind {
    constant,  // nil true false ...
    number,
    string,    // text = the value
    name,      // text; variable is null for a global
    index,     // parts: object, key; text = "." or "["
    call,      // parts: callee, arguments...
    method,    // parts: object, arguments...; text = the method's name
    unary,     // parts: operand; text = the operator
    binary,    // parts: left, right; text = the operator
    table,     // parts: keys and values in order
    function,  // function
    group,     // parts: what the parentheses hold
  };
  Kind kind = Kind::constant;
  std::string text;
  Position at;
  Expressions parts;
  Variable* variable = nullptr;
  Function* function = nullptr;

  [[nodiscard]] bool is_global(std::string_view name) const {
    return kind == Kind::name && variable == nullptr && text == name;
  }
  // `object.field` with a global object, as in redis.call.
  [[nodiscard]] bool is_field(std::string_view object, std::string_view field) const {
    return kind == Kind::index && text == "." && parts[0]->is_global(object) &&
           parts[1]->text == field;
  }
};

struct Statement {
  enum class Kind {
    local,
    assign,
    call,
    block,
    condition,
    count,
    each,
    function,
    give_back,
    leave
  };
  Kind kind = Kind::block;
  Position at;
  std::vector<Variable*> variables;  // declared here
  Expressions targets;               // assign: the left side
  Expressions values;  // local, assign, give_back: values; call: the call; condition: conditions;
                       // count: first, last, step; each: the iterators
  std::vector<Block> blocks;
};

// Owns the nodes. It can be moved (the nodes stay where they are) but not copied.
class Chunk {
 public:
  Chunk() = default;
  Chunk(Chunk&&) = default;
  Chunk& operator=(Chunk&&) = default;

  Block body;
  std::deque<Variable> variables;
  std::deque<Function> functions;
  std::deque<Expression> expressions;
  std::deque<Statement> statements;
};

// Parses tokens (comments are skipped) of one or several files as one chunk. After a syntax error,
// which is reported, the chunk holds what was read before it.
Chunk parse(const std::vector<Token>& tokens, Problems& problems);

}  // namespace echomq::inline v2::contract
