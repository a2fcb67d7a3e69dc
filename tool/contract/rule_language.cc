// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "contract/commands.h"
#include "contract/rules.h"

namespace echomq::inline v2::contract {
namespace {

using Kind = Expression::Kind;

// Everything that a script may name without declaring it. A list of what is allowed needs no
// knowledge of what a server may offer next year.
const std::set<std::string_view> kFunctions = {"ipairs", "pcall",    "select",
                                               "type",   "tonumber", "unpack"};
const std::map<std::string_view, std::set<std::string_view>> kModules = {
    {"string",
     {"byte", "char", "find", "format", "gsub", "len", "lower", "match", "rep", "reverse", "sub",
      "upper"}},
    {"table", {"concat", "insert", "remove", "sort"}},
    {"math", {"abs", "ceil", "floor", "fmod", "max", "min"}}};

std::string reason(const std::string& name) {
  static const std::map<std::string_view, std::string_view> kReasons = {
      {"load", "it runs code that this check cannot read"},
      {"loadstring", "it runs code that this check cannot read"},
      {"loadfile", "it runs code that this check cannot read"},
      {"dofile", "it runs code that this check cannot read"},
      {"require", "it runs code that this check cannot read"},
      {"getfenv", "it hides what a name means"},
      {"setfenv", "it hides what a name means"},
      {"_G", "it hides what a name means"},
      {"_ENV", "it hides what a name means"},
      {"setmetatable", "it hides what an operation does"},
      {"getmetatable", "it hides what an operation does"},
      {"rawget", "it hides what an operation does"},
      {"rawset", "it hides what an operation does"},
      {"cjson", "arguments and answers are flat, and its numbers lose digits"},
      {"cmsgpack", "arguments and answers are flat"},
      {"struct", "arguments and answers are flat"},
      {"bit", "it is not on every server: use / and % by powers of two"},
      {"os", "time is an argument (now)"},
      {"io", "a script has no files"},
      {"pairs", "its order differs between servers: loop over a list with ipairs"},
      {"next", "its order differs between servers: loop over a list with ipairs"},
      {"tostring", "Lua 5.1 and 5.4 print numbers differently: use string.format('%.0f', x)"},
      {"error", "it puts a file name before the class word: return redis.error_reply('EMQ...')"},
      {"assert", "it puts a file name before the class word: return redis.error_reply('EMQ...')"},
      {"server", "only redis.call is on every server"}};
  const auto found = kReasons.find(name);
  return "'" + name + "' is not allowed: " +
         std::string(found != kReasons.end()
                         ? found->second
                         : "an unknown global (a typo, or a lib that USES does not name)");
}

bool is_reserved(std::string_view name) {
  return kFunctions.contains(name) || kModules.contains(name) || name == "KEYS" || name == "ARGV" ||
         name == "redis";
}

// Is the value known to be a number, whatever runs? Then `..` would print it, and the two Luas
// differ.
bool is_number(const Expression& e) {
  switch (e.kind) {
    case Kind::number: return true;
    case Kind::group: return is_number(*e.parts[0]);
    case Kind::unary: return e.text == "-" || e.text == "#";
    case Kind::binary:
      return std::string_view("+-*/%^").find(e.text) != std::string_view::npos &&
             e.text.size() == 1;
    case Kind::name:
      if (e.variable == nullptr || e.variable->assigned) return false;
      if (e.variable->kind == Variable::Kind::counter) return true;
      return e.variable->kind == Variable::Kind::local && e.variable->first != nullptr &&
             is_number(*e.variable->first);
    case Kind::call: {
      const Expression& callee = *e.parts[0];
      if (callee.is_global("tonumber")) return true;
      if (callee.kind != Kind::index || callee.text != ".") return false;
      if (callee.parts[0]->is_global("math")) return true;
      if (!callee.is_field("redis", "call") || e.parts.size() < 2) return false;
      const Command* command = find_command(e.parts[1]->text);
      return command != nullptr && command->counts;
    }
    default: return false;
  }
}

void check_global(const Use& use, Problems& problems) {
  const Expression& e = *use.expression;
  if (e.text == "KEYS" || e.text == "ARGV" || e.text == "redis") return;  // see check_keys
  const auto module = kModules.find(e.text);
  if (module != kModules.end()) {
    const Expression* field = use.parent;
    if (field == nullptr || field->kind != Kind::index || field->text != "." || use.slot != 0) {
      report(problems, e.at, "'" + e.text + "' may only stand before .function(");
    } else if (!module->second.contains(field->parts[1]->text)) {
      const std::string name = e.text + "." + field->parts[1]->text;
      report(problems, e.at,
             "'" + name + "' is not allowed: " +
                 (name.starts_with("math.random") ? "a script is a function of its arguments"
                                                  : "it is not the same in Lua 5.1 and 5.4, or "
                                                    "not needed"));
    }
  } else if (!kFunctions.contains(e.text)) {
    report(problems, e.at, reason(e.text));
  } else if (!use.is_callee()) {
    report(problems, e.at, "'" + e.text + "' may only be called, not passed on");
  }
}

// A function under two names, or one that calls itself, would hide keys and loops from the rules.
void check_function_name(const Use& use, Problems& problems) {
  const Expression& e = *use.expression;
  const bool protected_call = use.parent != nullptr && use.parent->kind == Kind::call &&
                              use.slot == 1 && use.parent->parts[0]->is_global("pcall");
  if (!use.is_callee() && !protected_call)
    report(problems, e.at, "function '" + e.text + "' may only be called (or be pcall's first)");
  for (const Function* outer = use.inside; outer != nullptr; outer = outer->outer)
    if (outer == e.variable->function)
      report(problems, e.at,
             "function '" + e.text + "' calls itself: only a bounded for may repeat");
}

void check_call(const Expression& call, Problems& problems) {
  const Expression& callee = *call.parts[0];
  const bool by_name =
      callee.kind == Kind::name &&
      (callee.variable == nullptr || callee.variable->kind == Variable::Kind::function);
  const bool by_field = callee.kind == Kind::index && callee.text == "." &&
                        callee.parts[0]->kind == Kind::name && callee.parts[0]->variable == nullptr;
  if (!by_name && !by_field)
    report(problems, call.at,
           "computed call: call a local function or a library function by its name");
}

void check_format(const Expression& call, Problems& problems) {
  if (call.parts.size() < 2 || call.parts[1]->kind != Kind::string)
    return report(problems, call.at, "string.format needs a literal format");
  const std::string& format = call.parts[1]->text;
  std::size_t argument = 2;
  for (std::size_t i = format.find('%'); i != std::string::npos; i = format.find('%', i + 1)) {
    i = std::min(format.find_first_not_of("-+ #0123456789.", i + 1), format.size());
    const char conversion = i < format.size() ? format[i] : ' ';
    if (conversion == '%') continue;
    if (std::string_view("sfg").find(conversion) == std::string_view::npos)
      report(problems, call.at,
             std::string("format %") + conversion +
                 ": Lua 5.1 and 5.4 disagree on it; integers are "
                 "written with %.0f");
    if (conversion == 's' && argument < call.parts.size() && is_number(*call.parts[argument]))
      report(problems, call.at,
             "a number under %s: Lua 5.1 and 5.4 print it differently, use %.0f");
    ++argument;
  }
}

void check_expression(const Use& use, Problems& problems) {
  const Expression& e = *use.expression;
  if (e.kind == Kind::name && e.variable == nullptr) check_global(use, problems);
  if (e.kind == Kind::name && e.variable != nullptr && e.variable->kind == Variable::Kind::function)
    check_function_name(use, problems);
  if (e.kind == Kind::index && e.text == "." && e.parts[0]->kind == Kind::name &&
      e.parts[0]->variable == nullptr && kModules.contains(e.parts[0]->text) && !use.is_callee())
    report(problems, e.at,
           "'" + e.parts[0]->text + "." + e.parts[1]->text + "' may only be called, not passed on");
  if (e.kind == Kind::call) {
    check_call(e, problems);
    if (e.parts[0]->is_field("string", "format")) check_format(e, problems);
    if (e.parts[0]->is_global("ipairs") &&
        (use.statement->kind != Statement::Kind::each || use.parent != nullptr))
      report(problems, e.at, "ipairs belongs into 'for i, v in ipairs(t) do'");
  }
  if (e.kind == Kind::method)
    report(problems, e.at, "method call ':" + e.text + "': write string." + e.text + "(s, ...)");
  if (e.kind == Kind::function) {
    const bool handed = use.parent != nullptr && use.parent->kind == Kind::call &&
                        (use.parent->parts[0]->is_global("pcall") ||
                         use.parent->parts[0]->is_field("table", "sort"));
    if (!handed)
      report(problems, e.at,
             "function without a name: write 'local function', or hand it to pcall or table.sort");
  }
  if (e.kind == Kind::binary && e.text == "..")
    for (const Expression* part : e.parts)
      if (is_number(*part))
        report(problems, part->at,
               "a number beside '..': Lua 5.1 and 5.4 print it differently, use "
               "string.format('%.0f', x)");
}

void check_loop(const Statement& loop, Problems& problems) {
  if (loop.kind == Statement::Kind::each) {
    const Expression& iterator = *loop.values[0];
    if (loop.values.size() != 1 || iterator.kind != Kind::call ||
        !iterator.parts[0]->is_global("ipairs"))
      report(problems, loop.at, "only 'for i = a, b' and 'for i, v in ipairs(t)' are bounded");
  }
  if (loop.kind == Statement::Kind::count && loop.values.size() == 3) {
    const Expression* step = loop.values[2];
    if (step->kind == Kind::unary && step->text == "-") step = step->parts[0];
    if (step->kind != Kind::number || step->text.find_first_of("123456789") == std::string::npos)
      report(problems, loop.at, "the step of a loop must be a number other than 0, literally");
  }
}

void check_assignment(const Statement& statement, Problems& problems) {
  for (const Expression* target : statement.targets) {
    const Expression* root = target;
    while (root->kind == Kind::index || root->kind == Kind::group) root = root->parts[0];
    if (root->kind == Kind::name && root->variable == nullptr)
      report(problems, target->at, "assignment to the global '" + root->text + "'");
    if (root->kind == Kind::name && root->variable != nullptr &&
        root->variable->kind == Variable::Kind::function)
      report(problems, target->at, "assignment to the function '" + root->text + "'");
  }
}

}  // namespace

void check_language(const Reading& reading, Problems& problems) {
  std::map<std::string, const Variable*> functions;
  for (const Variable& variable : reading.chunk.variables)
    if (variable.kind == Variable::Kind::function) functions.emplace(variable.name, &variable);
  for (const Variable& variable : reading.chunk.variables) {
    const auto function = functions.find(variable.name);
    if (is_reserved(variable.name))
      report(problems, variable.at,
             "'" + variable.name + "' must keep its meaning: rename this one");
    else if (function != functions.end() && function->second != &variable)
      report(problems, variable.at,
             "'" + variable.name + "' is also a function of this script or its libs: rename one");
  }
  for (const Statement* statement : reading.chunk.body)
    if (!reading.in_body(statement->at) && statement->kind != Statement::Kind::function)
      report(problems, statement->at, "a lib holds 'local function ... end' and nothing else");
  for (const Statement* statement : reading.tree.statements) {
    check_loop(*statement, problems);
    check_assignment(*statement, problems);
  }
  for (const Use& use : reading.tree.uses) check_expression(use, problems);
}

}  // namespace echomq::inline v2::contract
