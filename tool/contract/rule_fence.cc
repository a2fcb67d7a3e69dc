// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "contract/rules.h"

namespace echomq::inline v2::contract {
namespace {

using Kind = Expression::Kind;

// The scripts that make a queue, or the target of a migration, look at keys before there is a
// version to compare, and the one that repairs a queue where there is another's.
const std::set<std::string_view> kLookBefore = {"queue/open", "migrate/open", "queue/repair"};
// A migration fills a queue that no other transition may touch: its scripts have a fence of their
// own.
constexpr std::string_view kMigration = "migrate/";

// The keys of the deployment; everything else belongs to a queue.
const std::set<std::string_view> kReserve = {"nodes", "queues", "bundle", "migration"};

// What this expression would run: the function when it calls a local one (directly or through
// pcall).
const Function* called(const Expression& e) {
  if (e.kind != Kind::call) return nullptr;
  const Variable* variable = e.parts[0]->variable;
  if (e.parts[0]->is_global("pcall") && e.parts.size() > 1) {
    if (e.parts[1]->kind == Kind::function) return e.parts[1]->function;
    variable = e.parts[1]->variable;
  }
  return variable == nullptr ? nullptr : variable->function;
}

// The functions that reach redis.call, themselves or through others.
std::set<const Function*> reaching(const Tree& tree) {
  std::set<const Function*> found;
  for (std::size_t before = 1; before != found.size();) {
    before = found.size();
    for (const Use& use : tree.uses) {
      const Expression& e = *use.expression;
      if (e.is_global("redis") || found.contains(called(e)))
        for (const Function* f = use.inside; f != nullptr; f = f->outer) found.insert(f);
    }
    if (before == found.size()) break;
  }
  return found;
}

// `if m.err then return m end`, right after `local m = fence()`.
bool gives_back(const Statement& statement, const Variable* answer) {
  if (statement.kind != Statement::Kind::condition || statement.values.size() != 1) return false;
  const Expression& condition = *statement.values[0];
  const Block& then = statement.blocks[0];
  return condition.kind == Kind::index && condition.text == "." &&
         condition.parts[0]->variable == answer && condition.parts[1]->text == "err" &&
         !then.empty() && then[0]->kind == Statement::Kind::give_back && !then[0]->values.empty() &&
         then[0]->values[0]->variable == answer;
}

bool is_fence(const Expression& e, const std::string& lib) {
  const Variable* callee = e.kind == Kind::call ? e.parts[0]->variable : nullptr;
  return callee != nullptr && callee->name == "fence" && callee->at.file == "lib/" + lib + ".lua" &&
         std::all_of(e.parts.begin() + 1, e.parts.end(),
                     [](const Expression* argument) { return argument->kind == Kind::index; });
}

// Does the top of the script hold `local m = fence()` with that call, and the refusal behind it?
bool stands_alone(const Reading& reading, const Expression* call) {
  const Block& body = reading.chunk.body;
  for (std::size_t i = 0; i + 1 < body.size(); ++i)
    if (body[i]->kind == Statement::Kind::local && body[i]->values.size() == 1 &&
        body[i]->values[0] == call)
      return gives_back(*body[i + 1], body[i]->variables[0]);
  return false;
}

std::string check_first_keys(const Script& script, Problems& problems) {
  const Header& header = script.header;
  const std::string& first = header.keys.empty() ? std::string() : header.keys[0];
  if (first != "meta" && first != "version") {
    report(problems, header.keys_at,
           "KEYS must begin with meta, or with version for a script of the "
           "deployment's own keys");
  } else if (first == "version") {
    for (std::size_t i = 1; i < header.keys.size(); ++i)
      if (!kReserve.contains(header.keys[i]))
        report(problems, header.keys_at,
               "'" + header.keys[i] +
                   "' is a key of a queue: a script that touches one begins with "
                   "meta");
  }
  if (header.args.empty() || header.args[0] != "revision")
    report(problems, header.args_at, "ARGV must begin with revision, which the fence compares");
  if (script.name.starts_with(kMigration)) return "fence_migrating";
  return first == "version" ? "fence_reserve" : "fence";
}

}  // namespace

void check_fence(const Reading& reading, Problems& problems) {
  const Header& header = reading.script.header;
  const std::string lib = check_first_keys(reading.script, problems);
  if (std::find(header.uses.begin(), header.uses.end(), lib) == header.uses.end())
    return report(problems, header.uses_at, "USES must name " + lib);

  const std::set<const Function*> reach = reaching(reading.tree);
  for (const Use& use : reading.tree.uses) {
    const Expression& e = *use.expression;
    const bool redis = e.kind == Kind::call && (e.parts[0]->is_field("redis", "call") ||
                                                e.parts[0]->is_field("redis", "pcall"));
    if (use.inside != nullptr || !(redis || reach.contains(called(e)))) continue;
    const bool fence = is_fence(e, lib) && stands_alone(reading, &e);
    if (fence) return;
    if (kLookBefore.contains(reading.script.name)) continue;
    return report(problems, e.at,
                  "before anything else the script must hold, on two lines of its own: "
                  "'local m = fence()' (of lib/" +
                      lib + ".lua), 'if m.err then return m end'");
  }
  report(problems, {reading.script.path, 1}, "the script never calls fence() as its own statement");
}

}  // namespace echomq::inline v2::contract
