// SPDX-License-Identifier: MIT
#include "contract/syntax.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace echomq::inline v2::contract {
namespace {

struct SyntaxError {
  Problem problem;
};

struct Power {
  int left = 0;
  int right = 0;
};

// Binding powers of Lua 5.1's binary operators; right below left = right-associative.
std::optional<Power> power(const Token& token) {
  static const std::map<std::string_view, Power> kPowers = {
      {"or", {1, 1}}, {"and", {2, 2}}, {"<", {3, 3}},  {">", {3, 3}},  {"<=", {3, 3}},
      {">=", {3, 3}}, {"~=", {3, 3}},  {"==", {3, 3}}, {"..", {5, 4}}, {"+", {6, 6}},
      {"-", {6, 6}},  {"*", {7, 7}},   {"/", {7, 7}},  {"%", {7, 7}},  {"^", {10, 9}}};
  if (token.kind != Token::Kind::op && token.kind != Token::Kind::keyword) return {};
  const auto found = kPowers.find(token.text);
  return found == kPowers.end() ? std::nullopt : std::optional(found->second);
}
constexpr int kUnaryPower = 8;
constexpr int kDeepest = 100;  // nesting; Lua itself stops at 200

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, Problems& problems) : problems_(problems) {
    for (const Token& token : tokens)
      if (token.kind != Token::Kind::comment) tokens_.push_back(&token);
  }

  Chunk run() {
    scopes_.emplace_back();
    try {
      block(chunk_.body);
      if (token().kind != Token::Kind::end) fail("expected a statement");
    } catch (const SyntaxError& error) {
      problems_.push_back(error.problem);
    }
    return std::move(chunk_);
  }

 private:
  using Kind = Expression::Kind;

  [[nodiscard]] const Token& token(std::size_t ahead = 0) const {
    return *tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[noreturn]] void fail(const std::string& what) const {
    const Token& found = token();
    throw SyntaxError{{found.at, what + ", found " +
                                     (found.kind == Token::Kind::end ? "the end of the file"
                                                                     : "'" + found.text + "'")}};
  }
  bool accept(std::string_view text) {
    if (!token().is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "'");
  }
  const Token& name() {
    if (token().kind != Token::Kind::name) fail("expected a name");
    return *tokens_[at_++];
  }

  Expression* make(Kind kind, const Token& from, std::string text = {}, Expressions parts = {}) {
    return &chunk_.expressions.emplace_back(
        Expression{kind, std::move(text), from.at, std::move(parts), nullptr, nullptr});
  }
  Statement* make(Statement::Kind kind, const Token& from) {
    Statement& made = chunk_.statements.emplace_back();
    made.kind = kind;
    made.at = from.at;
    return &made;
  }
  Variable* make(Variable::Kind kind, const Token& from) {
    Variable& made = chunk_.variables.emplace_back();
    made.kind = kind;
    made.name = from.text;
    made.at = from.at;
    return &made;
  }
  void declare(Variable* variable) { scopes_.back().push_back(variable); }
  [[nodiscard]] Variable* find(const std::string& text) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      for (auto variable = scope->rbegin(); variable != scope->rend(); ++variable)
        if ((*variable)->name == text) return *variable;
    return nullptr;
  }

  [[nodiscard]] bool block_ends() const {
    const Token& t = token();
    return t.kind == Token::Kind::end || t.is("end") || t.is("else") || t.is("elseif") ||
           t.is("until");
  }

  void block(Block& into) {
    if (++depth_ > kDeepest) fail("nested too deeply");
    while (!block_ends()) {
      const Token& from = token();
      if (from.is("return") || from.is("break")) {
        into.push_back(from.is("return") ? give_back() : leave());
        accept(";");
        if (!block_ends()) fail("'" + from.text + "' must be the last statement of its block");
        break;
      }
      if (Statement* read = statement()) into.push_back(read);
      accept(";");
    }
    --depth_;
  }
  // A block in a scope of its own that holds `variables`.
  void scoped(Block& into, const std::vector<Variable*>& variables = {}) {
    scopes_.push_back(variables);
    block(into);
    scopes_.pop_back();
  }

  Statement* give_back() {
    Statement* made = make(Statement::Kind::give_back, token());
    expect("return");
    if (!block_ends() && !token().is(";")) made->values = expressions();
    return made;
  }
  Statement* leave() {
    Statement* made = make(Statement::Kind::leave, token());
    expect("break");
    return made;
  }

  Statement* statement() {
    const Token& from = token();
    if (from.is("if")) return condition();
    if (from.is("for")) return loop();
    if (from.is("while") || from.is("repeat")) return endless();
    if (from.is("local")) return local();
    if (from.is("do")) {
      Statement* made = make(Statement::Kind::block, from);
      expect("do");
      scoped(made->blocks.emplace_back());
      expect("end");
      return made;
    }
    if (from.is("function"))
      throw SyntaxError{{from.at, "a global function: write 'local function'"}};
    return assignment_or_call();
  }

  Statement* condition() {
    Statement* made = make(Statement::Kind::condition, token());
    do {
      ++at_;  // if, elseif
      made->values.push_back(expression());
      expect("then");
      scoped(made->blocks.emplace_back());
    } while (token().is("elseif"));
    if (accept("else")) scoped(made->blocks.emplace_back());
    expect("end");
    return made;
  }

  // Refused, but read to its end, so that the other findings come in the same run.
  Statement* endless() {
    const Token& from = *tokens_[at_++];
    report(problems_, from.at,
           "'" + from.text + "' loop: only 'for i = a, b' and 'for i, v in ipairs(t)' are bounded");
    Statement* made = make(Statement::Kind::condition, from);
    if (from.text == "while") {
      made->values.push_back(expression());
      expect("do");
      scoped(made->blocks.emplace_back());
      expect("end");
    } else {
      scopes_.emplace_back();
      block(made->blocks.emplace_back());
      expect("until");
      made->values.push_back(expression());
      scopes_.pop_back();
    }
    return made;
  }

  Statement* loop() {
    const Token& from = token();
    expect("for");
    std::vector<Variable*> variables = {make(Variable::Kind::element, name())};
    Statement* made = nullptr;
    if (accept("=")) {
      made = make(Statement::Kind::count, from);
      made->values = expressions();
      if (made->values.size() != 2 && made->values.size() != 3) fail("expected 'for i = a, b do'");
      count(*variables[0], made->values);
    } else {
      made = make(Statement::Kind::each, from);
      while (accept(",")) variables.push_back(make(Variable::Kind::element, name()));
      expect("in");
      made->values = expressions();
    }
    made->variables = variables;
    expect("do");
    scoped(made->blocks.emplace_back(), variables);
    expect("end");
    return made;
  }

  static void count(Variable& counter, const Expressions& values) {
    counter.kind = Variable::Kind::counter;
    counter.first = values[0];
    counter.last = values[1];
    if (values.size() < 3) return;
    const Expression& step = *values[2];
    const bool back = step.kind == Kind::unary && step.text == "-" && step.parts[0]->text == "1";
    counter.step = back ? -1 : step.text == "1" ? 1 : 0;
    if (back) std::swap(counter.first, counter.last);
  }

  Statement* local() {
    const Token& from = token();
    expect("local");
    if (accept("function")) {
      Statement* made = make(Statement::Kind::function, from);
      Variable* variable = make(Variable::Kind::function, name());
      made->variables.push_back(variable);
      declare(variable);
      variable->function = function(variable->name, from);
      return made;
    }
    Statement* made = make(Statement::Kind::local, from);
    do {
      made->variables.push_back(make(Variable::Kind::local, name()));
      if (token().is("<")) fail("expected '=' (attributes exist only since Lua 5.4)");
    } while (accept(","));
    if (accept("=")) made->values = expressions();
    for (std::size_t i = 0; i < made->variables.size(); ++i) {
      if (i < made->values.size()) made->variables[i]->first = made->values[i];
      declare(made->variables[i]);
    }
    return made;
  }

  Statement* assignment_or_call() {
    const Token& from = token();
    Expression* first = suffixed();
    if (first->kind == Kind::call || first->kind == Kind::method) {
      Statement* made = make(Statement::Kind::call, from);
      made->values.push_back(first);
      return made;
    }
    Statement* made = make(Statement::Kind::assign, from);
    made->targets.push_back(first);
    while (accept(",")) made->targets.push_back(suffixed());
    expect("=");
    made->values = expressions();
    for (Expression* target : made->targets) {
      if (target->kind != Kind::name && target->kind != Kind::index)
        throw SyntaxError{{target->at, "only a name or an indexed value can be assigned"}};
      if (target->variable != nullptr) target->variable->assigned = true;
    }
    return made;
  }

  Function* function(std::string called, const Token& from) {
    Function& made = chunk_.functions.emplace_back();
    made.name = std::move(called);
    made.at = from.at;
    made.outer = std::exchange(inside_, &made);
    expect("(");
    while (!token().is(")")) {
      if (accept("...")) break;
      Variable* parameter = make(Variable::Kind::parameter, name());
      parameter->function = &made;
      parameter->index = made.parameters.size();
      made.parameters.push_back(parameter);
      if (!accept(",")) break;
    }
    expect(")");
    scoped(made.body, made.parameters);
    expect("end");
    inside_ = made.outer;
    return &made;
  }

  Expressions expressions() {
    Expressions list = {expression()};
    while (accept(",")) list.push_back(expression());
    return list;
  }

  Expression* expression(int limit = 0) {
    if (++depth_ > kDeepest) fail("nested too deeply");
    const Token& from = token();
    Expression* left = nullptr;
    if (from.is("not") || from.is("-") || from.is("#")) {
      ++at_;
      left = make(Kind::unary, from, from.text, {expression(kUnaryPower)});
    } else {
      left = simple();
    }
    for (auto found = power(token()); found && found->left > limit; found = power(token())) {
      const Token& op = *tokens_[at_++];
      left = make(Kind::binary, op, op.text, {left, expression(found->right)});
    }
    --depth_;
    return left;
  }

  Expression* simple() {
    const Token& from = token();
    if (from.kind == Token::Kind::number) return make(Kind::number, *tokens_[at_++], from.text);
    if (from.kind == Token::Kind::string) return make(Kind::string, *tokens_[at_++], from.value);
    if (from.is("nil") || from.is("true") || from.is("false") || from.is("..."))
      return make(Kind::constant, *tokens_[at_++], from.text);
    if (from.is("{")) return table();
    if (from.is("function")) {
      ++at_;
      Expression* made = make(Kind::function, from);
      made->function = function("", from);
      return made;
    }
    return suffixed();
  }

  Expression* table() {
    Expression* made = make(Kind::table, token());
    expect("{");
    while (!token().is("}")) {
      if (accept("[")) {
        made->parts.push_back(expression());
        expect("]");
        expect("=");
      } else if (token().kind == Token::Kind::name && token(1).is("=")) {
        ++at_;
        expect("=");
      }
      made->parts.push_back(expression());
      if (!accept(",") && !accept(";")) break;
    }
    expect("}");
    return made;
  }

  Expression* suffixed() {
    const Token& from = token();
    Expression* left = nullptr;
    if (accept("(")) {
      left = make(Kind::group, from, "", {expression()});
      expect(")");
    } else {
      left = make(Kind::name, name(), from.text);
      left->variable = find(from.text);
    }
    for (;;) {
      const Token& next = token();
      if (accept(".")) {
        const Token& field = name();
        left = make(Kind::index, from, ".", {left, make(Kind::constant, field, field.text)});
      } else if (accept("[")) {
        left = make(Kind::index, from, "[", {left, expression()});
        expect("]");
      } else if (accept(":")) {
        const std::string called = name().text;
        Expression* made = make(Kind::method, from, called, {left});
        arguments(*made);
        left = made;
      } else if (next.is("(") || next.is("{") || next.kind == Token::Kind::string) {
        Expression* made = make(Kind::call, from, "", {left});
        arguments(*made);
        left = made;
      } else {
        return left;
      }
    }
  }

  void arguments(Expression& call) {
    const Token& from = token();
    if (from.is("{")) return call.parts.push_back(table());
    if (from.kind == Token::Kind::string)
      return call.parts.push_back(make(Kind::string, *tokens_[at_++], from.value));
    if (tokens_[at_ - 1]->last_line != from.at.line)
      fail("expected the '(' on the line of what it calls (Lua 5.1 refuses the other form)");
    expect("(");
    if (!token().is(")"))
      for (Expression* argument : expressions()) call.parts.push_back(argument);
    expect(")");
  }

  Problems& problems_;
  std::vector<const Token*> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Function* inside_ = nullptr;
  std::vector<std::vector<Variable*>> scopes_;
  Chunk chunk_;
};

}  // namespace

Chunk parse(const std::vector<Token>& tokens, Problems& problems) {
  return Parser(tokens, problems).run();
}

}  // namespace echomq::inline v2::contract
