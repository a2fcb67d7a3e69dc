// SPDX-License-Identifier: MIT
// The key grammar by property: total, one meaning for each key, and one slot for each queue.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "protocol/registry.h"

namespace echomq {
namespace {

constexpr std::string_view kNameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

std::string any_name(std::size_t limit) {
  const auto size = *rc::gen::inRange<std::size_t>(1, limit + 1);
  std::string name;
  for (std::size_t i = 0; i < size; ++i)
    name += kNameChars[*rc::gen::inRange<std::size_t>(0, kNameChars.size())];
  return name;
}

std::string any_queue() {
  auto queue = any_name(registry::kMaxQueueBytes);
  RC_PRE(queue_name(queue).ok());
  return queue;
}

// Minted or custom.
std::string any_job_id() {
  if (*rc::gen::arbitrary<bool>()) {
    return std::to_string(
        *rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()));
  }
  auto id = any_name(*rc::gen::element<std::size_t>(3, 20, registry::kMaxNameBytes));
  RC_PRE(check_job_id(id).ok());
  return id;
}

ParsedKey any_meaning() {
  ParsedKey parsed;
  parsed.kind = *rc::gen::element(KeyKind::structure, KeyKind::named, KeyKind::job, KeyKind::sub,
                                  KeyKind::reserve, KeyKind::migration);
  if (parsed.kind != KeyKind::reserve) parsed.queue = any_queue();
  switch (parsed.kind) {
    case KeyKind::structure: parsed.structure = *rc::gen::elementOf(kStructures); break;
    case KeyKind::named:
      parsed.named = *rc::gen::elementOf(kNamedWords);
      parsed.name = any_name(registry::kMaxNameBytes);
      break;
    case KeyKind::sub:
      parsed.sub = *rc::gen::elementOf(kSubs);
      parsed.id = any_job_id();
      break;
    case KeyKind::job: parsed.id = any_job_id(); break;
    case KeyKind::reserve: parsed.reserve = *rc::gen::elementOf(kReserves); break;
    case KeyKind::migration: break;
  }
  return parsed;
}

// Pieces of the grammar in any order, with noise.
std::string any_pieces() {
  static const std::vector<std::string> pieces = [] {
    std::vector<std::string> all{
        "emq:{", "{emq}:", "}:",  "}",    "{",         ":",           "emq",
        "q",     "42",     "007", "a b",  "BAT",       "lock",        "BAT0KHTOWnGLuC",
        "x",     "",       ".",   "\xff", "migration", "migration:q", std::string(1, '\0')};
    for (const auto structure : kStructures) all.emplace_back(word(structure));
    for (const auto named : kNamedWords) all.emplace_back(named);
    for (const auto sub : kSubs) all.emplace_back(word(sub));
    for (const auto reserve : kReserves) all.emplace_back(word(reserve));
    for (const auto v1 : registry::kV1Words) all.emplace_back(v1);
    return all;
  }();
  std::string text;
  const auto count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) text += *rc::gen::elementOf(pieces);
  return text;
}

void assert_errs_or_rebuilds(const std::string& text) {
  const auto parsed = parse_key(text);
  if (parsed.ok()) {
    RC_ASSERT(build_key(*parsed) == text);
  } else {
    RC_ASSERT(parsed.error().code == ErrorCode::invalid_name);
    RC_ASSERT(*parsed.error().field("value") == text);
  }
}

TEST(KeyGrammar, BuildingParsingAndBuildingIsTheIdentityForEveryKind) {
  EXPECT_TRUE(rc::check([] {
    const auto meaning = any_meaning();
    const auto text = build_key(meaning);
    const auto parsed = parse_key(text);
    RC_ASSERT(parsed.ok());
    RC_ASSERT(*parsed == meaning);
    RC_ASSERT(build_key(*parsed) == text);
    RC_TAG(static_cast<int>(meaning.kind));
  }));
}

TEST(KeyGrammar, EveryStructureUnitAndSubKeyParsesToItself) {
  for (const auto structure : kStructures) {
    const auto parsed = parse_key(key("q", structure)).value();
    EXPECT_EQ(parsed.kind, KeyKind::structure);
    EXPECT_EQ(parsed.structure, structure) << word(structure);
  }
  for (const auto sub : kSubs) {
    const auto parsed = parse_key(job_key("q", "42", sub)).value();
    EXPECT_EQ(parsed.kind, KeyKind::sub);
    EXPECT_EQ(parsed.sub, sub) << word(sub);
  }
  for (const auto reserve : kReserves) {
    const auto parsed = parse_key(reserve_key(reserve)).value();
    EXPECT_EQ(parsed.kind, KeyKind::reserve);
    EXPECT_EQ(parsed.reserve, reserve) << word(reserve);
  }
}

TEST(KeyGrammar, AnyBytesEitherErrOrRebuildIdentically) {
  EXPECT_TRUE(rc::check([](const std::string& text) { assert_errs_or_rebuilds(text); }));
  EXPECT_TRUE(rc::check([](const std::string& text) { assert_errs_or_rebuilds("emq:{" + text); }));
  EXPECT_TRUE(
      rc::check([](const std::string& text) { assert_errs_or_rebuilds("emq:{q}:" + text); }));
}

TEST(KeyGrammar, TextThatIsNearlyAKeyEitherErrsOrRebuildsIdentically) {
  EXPECT_TRUE(rc::check([] {
    const auto family = *rc::gen::element<std::string>("", "emq:{q}:", "{emq}:");
    assert_errs_or_rebuilds(family + any_pieces());
  }));
}

TEST(KeyGrammar, AJobsKeyParsesExactlyWhenItsIdIsAllowed) {
  EXPECT_TRUE(rc::check([] {
    const auto id = any_pieces();
    const auto parsed = parse_key(job_key("q", id));
    const bool is_job = parsed.ok() && parsed->kind == KeyKind::job;
    RC_ASSERT(is_job == check_any_job_id(id).ok());
  }));
}

TEST(KeyGrammar, Invariant3EveryKeyOfAQueueHasOneHashtagAndTheSlotOfItsName) {
  EXPECT_TRUE(rc::check([] {
    const auto meaning = any_meaning();
    const auto text = build_key(meaning);
    RC_ASSERT(std::count(text.begin(), text.end(), '{') == 1);
    RC_ASSERT(std::count(text.begin(), text.end(), '}') == 1);
    const bool of_deployment =
        meaning.kind == KeyKind::reserve || meaning.kind == KeyKind::migration;
    RC_ASSERT(slot(text) == slot(of_deployment ? "emq" : meaning.queue));
    RC_ASSERT(slot(text) < 16384U);
    RC_ASSERT((text.front() == '{') == of_deployment);
  }));
}

TEST(KeyGrammar, WrappingAQueueNameTwiceIsNotTheSameAsOnce) {
  EXPECT_TRUE(rc::check([] {
    const auto queue = any_queue();
    RC_ASSERT(queue_name("{" + queue + "}").value() == queue);
    RC_ASSERT(!queue_name("{{" + queue + "}}").ok());
  }));
}

TEST(KeyGrammar, AWordThatIsAddedLaterCanBeNoKeyOfAJobThatExists) {
  // Later words have the form `word:name` with a name that is no sub word. Whatever a job is called
  // today, a text of that form is none of its keys.
  EXPECT_TRUE(rc::check([] {
    const auto later_word = any_job_id();
    const auto name = any_name(20);
    RC_PRE(std::none_of(kSubs.begin(), kSubs.end(), [&](Sub sub) { return word(sub) == name; }));
    RC_ASSERT(!parse_key(job_key("q", later_word) + ":" + name).ok());
  }));
}

}  // namespace
}  // namespace echomq
