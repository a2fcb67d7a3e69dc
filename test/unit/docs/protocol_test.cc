// SPDX-License-Identifier: MIT
// The documents of the wire say what the scripts and headers say: every script has its row, every
// row its script, statuses, errors and events are those of the contract, and the numbers are those
// of the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "contract/document.h"
#include "echomq/job.h"
#include "echomq/keyspace.h"
#include "job/encode.h"
#include "probe/states.h"
#include "protocol/registry.h"
#include "protocol/v1_names.h"
#include "protocol/version.h"
#include "tree.h"

namespace {

using ::testing::HasSubstr;

struct Contract {
  std::string errors;
  std::string statuses;
  std::string events;
};

// "ok,dup" -> "ok dup"; "-" -> "".
std::string words(std::string list) {
  if (list == "-") return {};
  for (auto& c : list)
    if (c == ',') c = ' ';
  return list;
}

std::string events_of(const std::string& script) {
  constexpr std::string_view kTag = "-- EMITS ";
  for (const auto& line : docs::lines(docs::read("lua/" + script + ".lua"))) {
    if (!line.starts_with(kTag)) continue;
    const auto first = line.find_first_not_of(' ', kTag.size());
    return first == std::string::npos ? std::string() : line.substr(first);
  }
  return {};
}

std::map<std::string, Contract> contracts() {
  std::map<std::string, Contract> all;
  for (const auto& line : docs::lines(docs::read("lua/manifest.txt"))) {
    std::istringstream in(line);
    std::string name;
    in >> name;
    if (name == "revision" || name.empty()) continue;
    Contract contract;
    for (std::string word; in >> word;) {
      if (word.starts_with("errors=")) contract.errors = words(word.substr(7));
      if (word.starts_with("statuses=")) contract.statuses = words(word.substr(9));
    }
    contract.events = events_of(name);
    all[name] = contract;
  }
  EXPECT_FALSE(all.empty());
  return all;
}

std::string cell(const std::string& text) { return text.empty() ? " |" : " " + text + " |"; }

TEST(ProtocolDocument, HasARowForEachScriptWithItsStatusesErrorsAndEvents) {
  const auto part = docs::section(docs::read("docs/protocol.md"), "## 11. The transitions");
  const auto all = contracts();
  for (const auto& [name, contract] : all) {
    EXPECT_THAT(part, HasSubstr("\n| `" + name + "` |" + cell(contract.statuses) +
                                cell(contract.errors) + cell(contract.events) + "\n"));
    EXPECT_THAT(part, HasSubstr("**`" + name + "`**")) << "a sentence that says what it does";
  }
  std::size_t rows = 0;
  for (const auto& line : docs::lines(part)) rows += line.starts_with("| `") ? 1 : 0;
  EXPECT_EQ(rows, all.size());
}

TEST(ProtocolDocument, StatesAndProtocolNameEachScriptAndNoOther) {
  std::set<std::string> concepts;
  for (const auto& [name, contract] : contracts())
    concepts.insert(name.substr(0, name.find('/') + 1));
  for (const auto* path : {"docs/states.md", "docs/protocol.md"}) {
    std::set<std::string> named;
    for (const auto& word : docs::quoted(docs::read(path)))
      if (concepts.contains(word.substr(0, word.find('/') + 1))) named.insert(word);
    std::set<std::string> scripts;
    for (const auto& [name, contract] : contracts()) scripts.insert(name);
    EXPECT_EQ(named, scripts) << path;
  }
}

TEST(ProtocolDocument, TheChartShowsEachTransitionOfTheTable) {
  const auto text = docs::read("docs/states.md");
  const auto from = text.find("```mermaid\n");
  ASSERT_NE(from, std::string::npos);
  const auto chart = text.substr(from, text.find("\n```\n", from) - from);
  std::size_t rows = 0;
  for (const auto& line : docs::lines(docs::section(text, "## Transitions"))) {
    if (!line.starts_with("| ") || line.starts_with("| from ")) continue;
    ++rows;
    for (const auto& script : docs::quoted(line))
      if (script.find('/') != std::string::npos) {
        EXPECT_THAT(chart, HasSubstr(script)) << line;
      }
  }
  EXPECT_GE(rows, 10U);
}

// "waiting (`crashed`)" -> "waiting"; the table's words for where jobs come from and go to.
std::set<std::string> states_in(const std::string& cell) {
  std::set<std::string> states;
  if (cell.starts_with("all but"))
    return {"waiting", "prioritized", "delayed", "waiting-children", "completed", "failed"};
  std::istringstream in(cell);
  for (std::string word; in >> word;) {
    if (word.ends_with(',')) word.pop_back();
    if (!word.starts_with('(')) states.insert(word);
  }
  return states;
}

// What the conformance probe demands is what the document promises: each way that jobs go there is
// in the table, and each state that a row leads to is one that the probe has seen.
TEST(ProtocolDocument, TheProbeKnowsTheTransitionsOfTheTable) {
  std::set<std::string> drawn;
  for (const auto& way : echomq::probe::transitions())
    drawn.insert(std::string(way.script) + " " + std::string(way.from) + " " + std::string(way.to));
  std::set<std::string> promised;
  const auto part = docs::section(docs::read("docs/states.md"), "## Transitions");
  for (const auto& line : docs::lines(part)) {
    if (!line.starts_with("| ") || line.starts_with("| from ")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line.substr(2));
    for (std::string cell; std::getline(in, cell, '|');) {
      const auto end = cell.find_last_not_of(' ');
      cells.push_back(cell.substr(cell.find_first_not_of(' '), end + 1));
    }
    ASSERT_GE(cells.size(), 3U) << line;
    for (const auto& script : docs::quoted(cells[2]))
      for (const auto& to : states_in(cells[1])) {
        bool seen = false;
        for (const auto& from : states_in(cells[0])) {
          const auto way = script + " " + from + " " + to;
          promised.insert(way);
          seen |= from == to || drawn.contains(way);
        }
        EXPECT_TRUE(seen) << script << " to " << to << ": " << line;
      }
  }
  for (const auto& way : drawn) EXPECT_TRUE(promised.contains(way)) << way;
}

// Migrations have a kill behind each step instead (KilledMigration).
TEST(ChaosTests, LoseTheAnswerOfEachScript) {
  std::string chaos;
  for (const auto& path : docs::files("test/chaos", {".cc"})) chaos += docs::read(path);
  for (const auto& [script, contract] : contracts())
    EXPECT_TRUE(script.starts_with("migrate/") ||
                chaos.find('"' + script + '"') != std::string::npos)
        << script;
}

TEST(ProtocolDocument, ThePageOfContractsIsThatOfTheScripts) {
  const auto files = echomq::contract::read_sources(docs::root() / "lua");
  EXPECT_EQ(docs::read("docs/scripts.md"), echomq::contract::document_of(files))
      << "./run manifest writes it";
}

TEST(ProtocolDocument, NamesEachStateOfAJob) {
  using echomq::JobState;
  const auto text = docs::read("docs/states.md");
  for (const auto state :
       {JobState::waiting, JobState::prioritized, JobState::delayed, JobState::active,
        JobState::completed, JobState::failed, JobState::waiting_children})
    EXPECT_THAT(text, HasSubstr(std::string(echomq::name(state)))) << echomq::name(state);
}

TEST(ProtocolDocument, NamesEachKeyOfTheRegistry) {
  const auto keys = docs::section(docs::read("docs/protocol.md"), "## 3. Keys");
  const auto named = docs::quoted(keys);
  const std::set<std::string> words(named.begin(), named.end());
  for (const auto structure : echomq::kStructures)
    EXPECT_TRUE(words.contains(std::string(echomq::word(structure)))) << echomq::word(structure);
  for (const auto unit : echomq::kReserves)
    EXPECT_TRUE(words.contains(std::string(echomq::word(unit)))) << echomq::word(unit);
  for (const auto sub : echomq::kSubs) EXPECT_THAT(keys, HasSubstr(std::string(echomq::word(sub))));
  for (const auto named_word : echomq::kNamedWords)
    EXPECT_THAT(keys, HasSubstr(std::string(named_word)));
  for (const auto v1_word : echomq::registry::kV1Words)
    EXPECT_THAT(keys, HasSubstr(std::string(v1_word)));
}

// Nothing that a client has to do for the boot fence stands in the sources alone.
TEST(ProtocolDocument, NamesEachKeyThatIsLookedAtBeforeAQueueIsOpened) {
  const auto named =
      docs::quoted(docs::section(docs::read("docs/protocol.md"), "### 4.2 The fence"));
  const std::vector<std::string> keys(echomq::kV1Suffixes.begin(), echomq::kV1Suffixes.end());
  EXPECT_NE(std::search(named.begin(), named.end(), keys.begin(), keys.end()), named.end())
      << "all of them, one behind the other, in the order of the look";
}

// The words of `json` and of the objects in it, those of objects as "de id".
void collect_words(const nlohmann::json& json, const std::string& of,
                   std::set<std::string>& words) {
  for (const auto& [key, value] : json.items()) {
    words.insert(of + key);
    if (value.is_object()) collect_words(value, of + key + " ", words);
  }
}

TEST(ProtocolDocument, HasARowForEachOptionThatIsStored) {
  using std::chrono::milliseconds;
  const echomq::Keep keep{5, std::chrono::seconds(60), 7};
  echomq::JobOptions options{.attempts = 3,
                             .backoff = echomq::Backoff::exponential(milliseconds(9), 0.5)};
  options.keep_completed = keep;
  options.keep_failed = keep;
  options.expires_in = milliseconds(1'000);
  options.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  options.tracestate = "a=b";
  options.deduplication = echomq::Deduplication{
      .id = "d", .ttl = milliseconds(5), .extend = true, .replace = true, .keep_last = true};
  std::set<std::string> stored;
  collect_words(nlohmann::json::parse(echomq::job::with_parent(
                    echomq::job::encode_checked("", options).opts, "parents:7")),
                "", stored);
  std::set<std::string> promised;
  const auto part = docs::section(docs::read("docs/protocol.md"), "### The options of a job");
  for (const auto& line : docs::lines(part)) {
    if (!line.starts_with("| `")) continue;
    const auto cell = line.find(" | ");
    const auto names = docs::quoted(line.substr(0, cell));
    for (const auto& name : names) {
      promised.insert(name);
      // What an object has in it stands in the other cell; values do too.
      for (const auto& word : docs::quoted(line.substr(cell)))
        if (word.find_first_of("<:") == std::string::npos) promised.insert(name + " " + word);
    }
  }
  for (const auto* const value : {"backoff fixed", "backoff exponential", "de true"})
    EXPECT_EQ(promised.erase(value), 1U) << value;
  EXPECT_EQ(promised, stored);
}

TEST(ProtocolDocument, SaysWhenEachEventIsTold) {
  std::set<std::string> told;
  for (const auto& [name, contract] : contracts()) {
    std::istringstream in(contract.events);
    for (std::string word; in >> word;) told.insert(word);
  }
  std::set<std::string> explained;
  const auto part = docs::section(docs::read("docs/protocol.md"), "### 5.10 Events");
  for (const auto& line : docs::lines(part)) {
    if (!line.starts_with("| `")) continue;
    for (const auto& word : docs::quoted(line.substr(0, line.find(" | ")))) explained.insert(word);
  }
  EXPECT_EQ(explained, told);
}

TEST(ProtocolDocument, NamesTheWireAndTheRevision) {
  const auto text = docs::read("docs/protocol.md");
  const auto revision = docs::lines(docs::read("lua/manifest.txt")).at(0);
  ASSERT_TRUE(revision.starts_with("revision "));
  EXPECT_THAT(text, HasSubstr("called `" + std::string(echomq::kWireVersion) + "`"));
  EXPECT_THAT(text, HasSubstr("first line of `lua/manifest.txt`, now " + revision.substr(9) + ")"));
}

}  // namespace
