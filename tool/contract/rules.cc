// SPDX-License-Identifier: MIT
#include "contract/rules.h"

#include <algorithm>
#include <map>
#include <set>

#include "contract/generate.h"

namespace echomq::inline v2::contract {
namespace {

Reading read(const Script& script, const Bundle& bundle, Problems& problems) {
  std::vector<Token> tokens;
  for (const std::string& lib : script.header.uses) {
    const auto found = bundle.libs.find(lib);
    if (found == bundle.libs.end()) continue;
    tokens.insert(tokens.end(), found->second.begin(), found->second.end() - 1);
  }
  tokens.insert(tokens.end(), script.tokens.begin(), script.tokens.end());
  Chunk chunk = parse(tokens, problems);
  Tree tree = walk(chunk);
  return {script, std::move(chunk), std::move(tree)};
}

// A lib that no call reaches is sent for nothing.
void check_uses(const Reading& reading, Problems& problems) {
  std::set<std::string> reached;
  for (const Use& use : reading.tree.uses) {
    const Variable* variable = use.expression->variable;
    if (variable != nullptr && variable->kind == Variable::Kind::function &&
        variable->at.file != use.expression->at.file)
      reached.insert(variable->at.file);
  }
  for (const std::string& lib : reading.script.header.uses)
    if (!reached.contains("lib/" + lib + ".lua"))
      report(problems, reading.script.header.uses_at,
             "USES names " + lib + ", which nothing calls");
}

}  // namespace

Problems check(const std::vector<SourceFile>& files, Bundle& bundle) {
  Problems problems;
  bundle = make_bundle(files, problems);
  std::set<std::string> unreadable;
  for (const Problem& problem : problems) unreadable.insert(problem.at.file);

  std::map<std::string, std::string> structs;
  std::set<std::string> used;
  for (const Script& script : bundle.scripts) {
    used.insert(script.header.uses.begin(), script.header.uses.end());
    const auto [other, fresh] = structs.emplace(struct_name(script.name), script.name);
    if (!fresh)
      report(problems, {script.path, 1},
             "the name becomes " + other->first + ", as that of " + other->second + " does");
    // Rules on a text that could not be read would only repeat its first fault in other words.
    bool readable = !unreadable.contains(script.path);
    for (const std::string& lib : script.header.uses)
      readable = readable && !unreadable.contains("lib/" + lib + ".lua");
    if (!readable) continue;
    Problems syntax;
    const Reading reading = read(script, bundle, syntax);
    problems.insert(problems.end(), syntax.begin(), syntax.end());
    if (!syntax.empty()) continue;
    check_language(reading, problems);
    check_keys(reading, problems);
    check_fence(reading, problems);
    check_indexes(reading, problems);
    check_words(reading, problems);
    check_uses(reading, problems);
  }
  for (const auto& lib : bundle.libs)  // known only where every header could be read
    if (unreadable.empty() && !used.contains(lib.first))
      report(problems, {"lib/" + lib.first + ".lua", 1}, "no script has this lib in its USES");

  std::sort(problems.begin(), problems.end());
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  return problems;
}

}  // namespace echomq::inline v2::contract
