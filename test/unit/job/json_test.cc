// SPDX-License-Identifier: MIT
// Typed jobs by echomq/json.h without a server: which field a refusal names, and versions of a
// schema.
#include "echomq/json.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "echomq/queue.h"

namespace typed {

struct Part {
  std::string name;
  int width = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Part, name, width)

struct Order {
  std::string customer;
  bool paid = false;
  std::map<std::string, int> counts;
  std::vector<Part> parts;
  std::array<double, 2> place{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, customer, paid, counts, parts, place)

// Version 1 had one name, 2 has two, 3 says which of them comes first.
struct Person {
  std::string first;
  std::string last;
  bool last_first = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Person, first, last, last_first)

// A type that was not known to have versions, and one whose JSON is no object.
struct Tags {
  std::vector<std::string> all;
};
inline void to_json(nlohmann::json& json, const Tags& tags) { json = tags.all; }
inline void from_json(const nlohmann::json& json, Tags& tags) { json.get_to(tags.all); }

struct Even {
  int value = 0;
};
inline void to_json(nlohmann::json& json, const Even& even) { json["value"] = even.value; }
inline void from_json(const nlohmann::json& json, Even& even) {
  json.at("value").get_to(even.value);
  if (even.value % 2 != 0) throw std::invalid_argument("an odd number");
}

}  // namespace typed

template <>
struct echomq::Schema<typed::Person> {
  static constexpr unsigned version = 3;
  static Result<nlohmann::json> upcast(unsigned from, nlohmann::json old) {
    if (from == 1) {
      const auto name = old.at("name").get<std::string>();
      const auto blank = name.find(' ');
      if (blank == std::string::npos)
        return Error{ErrorCode::decode, "a name of one word", {{"value", name}}};
      old["first"] = name.substr(0, blank);
      old["last"] = name.substr(blank + 1);
    }
    if (from == 2) old["last_first"] = false;
    return old;
  }
};

template <>
struct echomq::Schema<typed::Tags> {
  static constexpr unsigned version = 1;
};

namespace {

using echomq::Codec;
using echomq::ErrorCode;
using typed::Even;
using typed::Order;
using typed::Part;
using typed::Person;
using typed::Tags;

template <class T>
echomq::Error refused(std::string_view bytes) {
  auto value = Codec<T>::decode(bytes);
  if (value) return {ErrorCode::protocol, "it was read", {}};
  EXPECT_EQ(value.error().code, ErrorCode::decode);
  return value.error();
}

template <class T>
std::string path_in(std::string_view bytes) {
  const auto error = refused<T>(bytes);
  const auto* path = error.field("path");
  return path == nullptr ? "no path: " + error.detail : *path;
}

std::string order(const std::string& parts, const std::string& rest = R"("paid":true)") {
  return R"({"customer":"c","counts":{"a":1},"place":[1,2],"parts":)" + parts + "," + rest + "}";
}

TEST(JsonCodec, ReadsWhatItWrites) {
  const Order written{"c", true, {{"x", 2}}, {{"a", 1}, {"b", 2}}, {0.5, 2}};
  const auto read = Codec<Order>::decode(Codec<Order>::encode(written));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->parts[1].name, "b");
  EXPECT_EQ(read->counts.at("x"), 2);
}

TEST(JsonCodec, TextThatIsNotJsonNamesTheByte) {
  const auto error = refused<Part>(R"({"name": nothing})");
  EXPECT_EQ(error.message(), "decode: not JSON, from byte 11 of 17");
  EXPECT_EQ(*error.field("position"), "11");
  EXPECT_EQ(refused<Part>("").detail, "not JSON, from byte 1 of 0");
}

TEST(JsonCodec, AMissingMemberIsNamedWithItsPath) {
  EXPECT_EQ(refused<Part>(R"({"name":"a"})").message(), "decode: /width is missing");
  EXPECT_EQ(path_in<Part>(R"({"name":"a"})"), "/width");
  EXPECT_EQ(path_in<Order>(order(R"([{"name":"a","width":1},{"name":"b"},{"name":"c"}])")),
            "/parts/1/width");
  EXPECT_EQ(path_in<Order>(order("[]", R"("unknown":{})")), "/paid");
}

// A map takes any key, so a member is missing in none of its entries.
TEST(JsonCodec, AMapInFrontIsNotTakenForTheObject) {
  using Maps = std::pair<std::map<std::string, int>, Part>;
  using Nested = std::map<std::string, Part>;
  EXPECT_EQ(path_in<Maps>(R"([{"a":1},{"name":"b"}])"), "/1/width");
  EXPECT_EQ(path_in<Nested>(R"({"a":{"name":"a","width":1},"b":{"width":2}})"), "/b/name");
}

TEST(JsonCodec, AValueOfTheWrongTypeIsNamedWithItsPath) {
  const auto error = refused<Part>(R"({"name":"a","width":"wide"})");
  EXPECT_EQ(error.message(), "decode: /width: type must be number, but is string");
  EXPECT_EQ(path_in<Part>(R"({"name":3,"width":"wide"})"), "/name");
  EXPECT_EQ(path_in<Order>(order(R"([{"name":"a","width":1},{"name":"b","width":[]}])")),
            "/parts/1/width");
  EXPECT_EQ(path_in<Order>(order(R"(["a"])")), "/parts/0");
  EXPECT_EQ(path_in<Order>(order(R"({})")), "/parts");
  EXPECT_EQ(path_in<Order>(order("[]", R"("paid":1)")), "/paid");
  EXPECT_EQ(path_in<std::vector<int>>(R"([1,2,true,null])"), "/3") << "a number is made of true";
}

TEST(JsonCodec, TheDocumentItself) {
  EXPECT_EQ(refused<Part>("[]").detail, "the document: type must be object or array, but is array");
  EXPECT_EQ(path_in<Part>("3"), "");
  EXPECT_EQ(path_in<std::vector<int>>(R"({"a":1})"), "");
}

TEST(JsonCodec, KeysInAPathAreEscaped) {
  using Deep = std::map<std::string, std::map<std::string, Part>>;
  EXPECT_EQ(path_in<Deep>(R"({"a/b":{"c~d":{"name":"x"}}})"), "/a~1b/c~0d/width");
}

TEST(JsonCodec, WhatATypeThrowsItselfIsQuoted) {
  const auto error = refused<Even>(R"({"value":3})");
  EXPECT_EQ(error.detail, "it does not fit its type: an odd number");
  EXPECT_EQ(error.field("path"), nullptr);
}

TEST(JsonCodec, ADocumentWithoutEndIsGivenUp) {
  std::string many = "[";
  for (int i = 0; i < 20'000; ++i) many += R"("a",)";
  many += R"(3])";
  EXPECT_EQ(path_in<std::vector<std::string>>(many), "/20000") << "the only value of that kind";
  std::string deep(5'000, '[');
  deep += std::string(5'000, ']');
  EXPECT_EQ(path_in<Part>(deep), "");
}

TEST(JsonSchema, TheVersionIsAMemberOfTheObject) {
  EXPECT_EQ(Codec<Person>::encode({"Ada", "Lovelace", true}),
            R"({"$v":3,"first":"Ada","last":"Lovelace","last_first":true})");
  EXPECT_EQ(Codec<Tags>::encode({{"a", "b"}}), R"({"$data":["a","b"],"$v":1})");
  EXPECT_EQ(Codec<Tags>::decode(R"({"$v":1,"$data":["a"]})").value().all.size(), 1U);
  EXPECT_EQ(Codec<Tags>::decode(R"(["a","b"])").value().all.size(), 2U) << "from before versions";
}

TEST(JsonSchema, OlderDataIsBroughtUpStepByStep) {
  const auto first = Codec<Person>::decode(R"({"name":"Ada Lovelace"})");
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->last, "Lovelace");
  EXPECT_EQ(Codec<Person>::decode(R"({"$v":1,"name":"A B"})").value().first, "A");
  EXPECT_EQ(Codec<Person>::decode(R"({"$v":2,"first":"A","last":"B"})").value().last, "B");
  EXPECT_TRUE(Codec<Person>::decode(R"({"$v":3,"first":"A","last":"B","last_first":true})")
                  .value()
                  .last_first);
}

TEST(JsonSchema, NewerDataNamesBothVersions) {
  const auto error = refused<Person>(R"({"$v":4,"first":"A"})");
  EXPECT_EQ(error.detail,
            "the data has version 4 of its schema, this program knows it up to version 3");
  EXPECT_EQ(*error.field("found"), "4");
  EXPECT_EQ(*error.field("expected"), "3");
}

TEST(JsonSchema, ABadVersionAndAFailedUpcast) {
  for (const auto* const version : {"0", "-1", "1.5", R"("2")", "null"})
    EXPECT_EQ(path_in<Person>(R"({"$v":)" + std::string(version) + "}"), "/$v") << version;
  EXPECT_EQ(refused<Person>(R"({"name":"Ada"})").detail,
            "from version 1 of its schema to 2: a name of one word");
  EXPECT_EQ(refused<Person>(R"({"$v":1})").detail.rfind("upcast threw: ", 0), 0U);
  EXPECT_EQ(path_in<Person>(R"({"$v":2,"first":"A"})"), "/last");
}

TEST(JsonSchema, AReaderWithoutVersionsIgnoresThem) {
  EXPECT_EQ(Codec<Part>::decode(R"({"$v":7,"name":"a","width":2})").value().width, 2);
}

TEST(TypedResult, IsReadFromAJobThatCompleted) {
  echomq::JobInfo info;
  info.state = echomq::JobState::completed;
  info.result = R"({"name":"a","width":2})";
  EXPECT_EQ(info.result_as<Part>().value().width, 2);
  EXPECT_EQ(info.result_as<std::string>().value(), *info.result);
  info.result.reset();
  EXPECT_EQ(info.result_as<std::string>().value(), "") << "an empty result is not stored";
  EXPECT_EQ(info.result_as<Part>().error().code, ErrorCode::decode);
}

TEST(TypedResult, OfOtherJobsIsAnErrorThatSaysWhy) {
  echomq::JobInfo info;
  info.state = echomq::JobState::active;
  EXPECT_EQ(info.result_as<Part>().error().message(),
            "wrong_state: only a completed job has a result, and this one is active");
  echomq::FinishedJob finished{echomq::JobState::failed, true, {}, "no disk"};
  EXPECT_EQ(finished.result_as<Part>().error().detail, "the job failed: no disk");
  EXPECT_EQ(*finished.result_as<Part>().error().field("reason"), "no disk");
  finished = {echomq::JobState::completed, false, {}, {}};
  EXPECT_EQ(finished.result_as<Part>().error().code, ErrorCode::not_found);
  finished = {echomq::JobState::completed, true, "[]", {}};
  EXPECT_EQ(finished.result_as<Part>().error().code, ErrorCode::decode);
}

}  // namespace
