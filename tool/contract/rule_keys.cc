// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>
#include <string_view>

#include "contract/commands.h"
#include "contract/rules.h"

namespace echomq::inline v2::contract {
namespace {

using Kind = Expression::Kind;

bool is_redis_call(const Expression& e) {
  return e.kind == Kind::call &&
         (e.parts[0]->is_field("redis", "call") || e.parts[0]->is_field("redis", "pcall"));
}

bool is_index_expression(const Expression& e) {
  switch (e.kind) {
    case Kind::number: return e.text.find_first_not_of("0123456789") == std::string::npos;
    case Kind::name: return e.variable != nullptr && e.variable->kind != Variable::Kind::function;
    case Kind::unary: return e.text == "#" && e.parts[0]->is_global("KEYS");
    case Kind::binary:
      return (e.text == "+" || e.text == "-" || e.text == "*") &&
             is_index_expression(*e.parts[0]) && is_index_expression(*e.parts[1]);
    case Kind::group: return is_index_expression(*e.parts[0]);
    default: return false;
  }
}

bool is_element(const Expression& e) {
  return e.kind == Kind::index && e.text == "[" && e.parts[0]->is_global("KEYS");
}

bool is_spread(const Expression& e) {
  return e.kind == Kind::call && e.parts[0]->is_global("unpack") && e.parts.size() > 1 &&
         e.parts[1]->is_global("KEYS");
}

// A call of a local function: direct, or as pcall(f, ...).
struct LocalCall {
  const Expression* call = nullptr;
  const Function* function = nullptr;
  std::size_t first = 1;  // where the arguments begin in call->parts

  [[nodiscard]] const Expression* argument(std::size_t index) const {
    return first + index < call->parts.size() ? call->parts[first + index] : nullptr;
  }
};

// Follows keys from KEYS to redis.call, through locals and through the parameters of local
// functions.
class KeyFlow {
 public:
  KeyFlow(const Reading& reading, Problems& problems) : reading_(reading), problems_(problems) {}

  void run() {
    for (const Use& use : reading_.tree.uses) find_call(*use.expression);
    mark_parameters();
    for (const Use& use : reading_.tree.uses) {
      const Expression& e = *use.expression;
      if (is_redis_call(e)) check_command(e);
      if (e.is_global("redis")) check_redis(use);
      if (e.is_global("KEYS")) check_table(use);
      if (e.is_global("ARGV")) check_arguments(use);
      if (is_element(e) || is_spread(e) || is_key_name(e)) check_place(use);
    }
    for (const LocalCall& call : calls_) check_local_call(call);
    check_unseen_calls();
    for (const Variable& variable : reading_.chunk.variables)
      if (variable.assigned && (key_parameters_.contains(&variable) || holds_element(variable)))
        report(problems_, variable.at, "'" + variable.name + "' holds a key and is assigned again");
  }

 private:
  void find_call(const Expression& e) {
    if (e.kind != Kind::call) return;
    if (const Variable* callee = e.parts[0]->variable;
        callee != nullptr && callee->function != nullptr) {
      if (callee->kind == Variable::Kind::function) calls_.push_back({&e, callee->function, 1});
    } else if (e.parts[0]->is_global("pcall") && e.parts.size() > 1) {
      const Expression& handed = *e.parts[1];
      if (handed.kind == Kind::function) calls_.push_back({&e, handed.function, 2});
      if (handed.variable != nullptr && handed.variable->kind == Variable::Kind::function)
        calls_.push_back({&e, handed.variable->function, 2});
    }
  }

  static bool has_known_command(const Expression& call) {
    return call.parts.size() > 1 && call.parts[1]->kind == Kind::string &&
           find_command(call.parts[1]->text) != nullptr;
  }

  // The arguments of a redis.call that stand in the place of keys.
  static Expressions key_arguments(const Expression& call) {
    if (!has_known_command(call)) return {};
    const Command* command = find_command(call.parts[1]->text);
    const std::size_t count =
        command->keys == kAllKeys ? call.parts.size() - 2 : static_cast<std::size_t>(command->keys);
    const auto from = call.parts.begin() + 2;
    return {from, from + static_cast<std::ptrdiff_t>(std::min(count, call.parts.size() - 2))};
  }

  bool mark(const Expression* e) {
    return e != nullptr && e->kind == Kind::name && e->variable != nullptr &&
           e->variable->kind == Variable::Kind::parameter &&
           key_parameters_.insert(e->variable).second;
  }

  // A parameter is a key when it reaches a key's place in redis.call, or such a parameter of
  // another function: repeated until nothing is added.
  void mark_parameters() {
    for (const Use& use : reading_.tree.uses)
      if (is_redis_call(*use.expression))
        for (const Expression* key : key_arguments(*use.expression)) mark(key);
    for (bool again = true; again;) {
      again = false;
      for (const LocalCall& call : calls_)
        for (const Variable* parameter : call.function->parameters)
          if (key_parameters_.contains(parameter))
            again = mark(call.argument(parameter->index)) || again;
    }
  }

  static bool holds_element(const Variable& variable) {
    return variable.kind == Variable::Kind::local && variable.first != nullptr &&
           is_element(*variable.first);
  }
  [[nodiscard]] bool is_key_name(const Expression& e) const {
    return e.kind == Kind::name && e.variable != nullptr &&
           (holds_element(*e.variable) || key_parameters_.contains(e.variable));
  }
  [[nodiscard]] bool is_key(const Expression& e) const { return is_element(e) || is_key_name(e); }

  static std::string fault(const Expression& e) {
    if (e.kind == Kind::binary && e.text == "..") return "a key is built with '..'";
    if (e.kind == Kind::call && e.parts[0]->is_field("string", "format"))
      return "a key is built with string.format";
    if (e.kind == Kind::string) return "the key '" + e.text + "' is written into the script";
    if (e.kind == Kind::name && e.variable != nullptr)
      return "'" + e.text + "' stands for a key and is not bound by 'local " + e.text +
             " = KEYS[...]'";
    return "the key is not an element of KEYS";
  }
  static constexpr std::string_view kRemedy =
      ": each key is KEYS[index], a local bound to one, or a parameter that is always given one";

  void check_command(const Expression& call) {
    if (call.parts.size() < 2 || call.parts[1]->kind != Kind::string)
      return report(problems_, call.at, "redis.call needs its command as a literal string");
    const std::string& name = call.parts[1]->text;
    const Command* command = find_command(name);
    if (command == nullptr) return report(problems_, call.at, refusal(name));
    const Expressions keys = key_arguments(call);
    if (keys.empty() ||
        (command->keys > 0 && keys.size() < static_cast<std::size_t>(command->keys)))
      report(problems_, call.at, name + " lacks its key");
    for (const Expression* key : keys)
      if (!is_key(*key) && !(command->keys == kAllKeys && is_spread(*key)))
        report(problems_, key->at, fault(*key) + std::string(kRemedy));
    check_options(call, *command);
  }

  static void collect_strings(const Expression& e, std::set<std::string>& into) {
    if (e.kind == Kind::string) into.insert(e.text);
    for (const Expression* part : e.parts) collect_strings(*part, into);
  }

  // Options that would let the clock in, or read without a bound.
  void check_options(const Expression& call, const Command& command) {
    const std::string_view name = command.name;
    std::set<std::string> words;
    for (std::size_t i = 3; i < call.parts.size(); ++i) collect_strings(*call.parts[i], words);
    if (name == "SET")
      for (const char* option : {"EX", "PX", "EXAT", "PXAT", "KEEPTTL"})
        if (words.contains(option))
          report(problems_, call.at,
                 std::string("SET with ") + option + ": no logic depends on a key having expired");
    if (name == "XADD")
      for (const std::string& word : words)
        if (word == "*" || word.ends_with("-*"))
          report(problems_, call.at, "XADD with an id of the server's clock: pass the id");
    const bool by_value = name.find("BYSCORE") != std::string_view::npos ||
                          name.find("BYLEX") != std::string_view::npos ||
                          words.contains("BYSCORE") || words.contains("BYLEX");
    if (by_value && name.find("RANGE") != std::string_view::npos && !words.contains("LIMIT"))
      report(problems_, call.at, std::string(name) + " without LIMIT reads without a bound");
    if ((name == "XRANGE" || name == "XREVRANGE") && !words.contains("COUNT"))
      report(problems_, call.at, std::string(name) + " without COUNT reads without a bound");
    if ((name == "LRANGE" || name == "ZRANGE" || name == "ZREVRANGE") && !by_value &&
        call.parts.size() > 4 && is_negative(*call.parts[4]) && !is_negative(*call.parts[3]))
      report(problems_, call.at, std::string(name) + " to the end reads without a bound");
    if (name == "LPOS" && !words.contains("MAXLEN"))
      report(problems_, call.at, "LPOS without MAXLEN looks through the whole list");
    // Empty entries are alike, so whoever has just made one near an end finds one there.
    const bool removes_empty =
        call.parts.size() > 4 && call.parts[4]->kind == Kind::string && call.parts[4]->text.empty();
    if (name == "LREM" && !removes_empty)
      report(problems_, call.at, "LREM of an id looks through the whole list");
  }

  static bool is_negative(const Expression& e) {
    return (e.kind == Kind::string && e.text.starts_with("-")) ||
           (e.kind == Kind::unary && e.text == "-");
  }

  void check_redis(const Use& use) {
    static const std::set<std::string_view> kFields = {"call", "pcall", "error_reply",
                                                       "status_reply"};
    const Expression* field = use.parent;
    const bool known = field != nullptr && field->kind == Kind::index && use.slot == 0 &&
                       field->text == "." && kFields.contains(field->parts[1]->text);
    const bool called = std::any_of(
        reading_.tree.uses.begin(), reading_.tree.uses.end(),
        [&](const Use& other) { return other.expression == field && other.is_callee(); });
    if (!known || !called)
      report(problems_, use.expression->at,
             "redis may stand only in redis.call( redis.pcall( redis.error_reply( "
             "redis.status_reply(");
  }

  void check_table(const Use& use) {
    const Expression& at = *use.expression;
    const Expression* parent = use.parent;
    if (parent != nullptr && parent->kind == Kind::unary && parent->text == "#") return;
    if (parent != nullptr && is_element(*parent) && use.slot == 0) {
      if (!is_index_expression(*parent->parts[1]))
        report(problems_, at.at,
               "the index of KEYS may hold numbers, locals, + - * ( ) and #KEYS, nothing else");
      return;
    }
    if (parent != nullptr && is_spread(*parent) && use.slot == 1) {
      if (parent->parts.size() != 4 || !is_index_expression(*parent->parts[2]) ||
          !is_index_expression(*parent->parts[3]))
        report(problems_, at.at, "write unpack(KEYS, first, last) with both bounds");
      return;
    }
    report(problems_, at.at, "KEYS may only be indexed, counted with # or given to unpack");
  }

  void check_arguments(const Use& use) {
    const Expression* parent = use.parent;
    const bool fine =
        parent != nullptr &&
        ((parent->kind == Kind::unary && parent->text == "#") ||
         (parent->kind == Kind::index && parent->text == "[" && use.slot == 0) ||
         (parent->kind == Kind::call && parent->parts[0]->is_global("unpack") && use.slot == 1));
    if (!fine)
      report(problems_, use.expression->at,
             "ARGV may only be indexed, counted with # or given to unpack");
  }

  // A key is for redis.call and for functions that pass it there; elsewhere it would become data.
  void check_place(const Use& use) {
    const Expression& key = *use.expression;
    if (use.parent == nullptr) {
      const bool bound = use.statement->kind == Statement::Kind::local && is_element(key);
      const Expressions& targets = use.statement->targets;  // their fault is the assignment
      if (bound || std::find(targets.begin(), targets.end(), &key) != targets.end()) return;
    } else if (is_redis_call(*use.parent)) {
      if (!has_known_command(*use.parent)) return;
      const Expressions keys = key_arguments(*use.parent);
      if (std::find(keys.begin(), keys.end(), &key) != keys.end()) return;
    } else {
      for (const LocalCall& call : calls_) {
        if (call.call != use.parent || use.slot < call.first) continue;
        const std::size_t index = use.slot - call.first;
        if (index < call.function->parameters.size() &&
            key_parameters_.contains(call.function->parameters[index]))
          return;
      }
    }
    report(problems_, key.at,
           "a key is used as a value here: pass it to redis.call as its key, or to a function that "
           "does");
  }

  void check_local_call(const LocalCall& call) {
    for (const Variable* parameter : call.function->parameters) {
      if (!key_parameters_.contains(parameter)) continue;
      const Expression* given = call.argument(parameter->index);
      if (given == nullptr)
        report(problems_, call.call->at,
               "the call lacks the key '" + parameter->name + "' of " + call.function->name);
      else if (!is_key(*given))
        report(problems_, given->at, fault(*given) + std::string(kRemedy));
    }
  }

  // A function without a name that pcall does not call is called where no rule sees its arguments.
  void check_unseen_calls() {
    for (const Variable* parameter : key_parameters_) {
      const Function* function = parameter->function;
      const bool seen = std::any_of(calls_.begin(), calls_.end(), [&](const LocalCall& call) {
        return call.function == function;
      });
      if (function->name.empty() && !seen)
        report(problems_, parameter->at,
               "'" + parameter->name + "' stands for a key that no rule can follow here");
    }
  }

  const Reading& reading_;
  Problems& problems_;
  std::vector<LocalCall> calls_;
  std::set<const Variable*> key_parameters_;
};

}  // namespace

void check_keys(const Reading& reading, Problems& problems) { KeyFlow(reading, problems).run(); }

}  // namespace echomq::inline v2::contract
