// SPDX-License-Identifier: MIT
// The vectors of the floor: names, keys, looks for v1, ids, leases, the clock, refusals.
#include "support/vectors.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "client/client_core.h"
#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "protocol/lease.h"
#include "protocol/refusal.h"
#include "protocol/server_clock.h"
#include "protocol/snowflake.h"
#include "protocol/v1_names.h"

namespace echomq {
namespace {

TEST(ProtocolVectors, Names) {
  const auto all = test::vectors("names");
  for (const auto& one : all.at("queue_names"))
    EXPECT_EQ(queue_name(one.at("given").get<std::string>()).value(), one.at("name")) << one;
  for (const auto& name : all.at("bad_queue_names"))
    EXPECT_FALSE(queue_name(name.get<std::string>())) << name;
  for (const auto& id : all.at("job_ids")) EXPECT_TRUE(check_job_id(id.get<std::string>())) << id;
  for (const auto& id : all.at("bad_job_ids"))
    EXPECT_FALSE(check_job_id(id.get<std::string>())) << id;
  for (const auto& id : all.at("ids_of_lookups"))
    EXPECT_TRUE(check_any_job_id(id.get<std::string>())) << id;
  for (const auto& id : all.at("bad_ids_of_lookups"))
    EXPECT_FALSE(check_any_job_id(id.get<std::string>())) << id;
}

nlohmann::json meaning_of(const ParsedKey& key) {
  switch (key.kind) {
    case KeyKind::structure:
      return {{"kind", "structure"}, {"queue", key.queue}, {"structure", word(key.structure)}};
    case KeyKind::named:
      return {{"kind", "named"}, {"queue", key.queue}, {"named", key.named}, {"name", key.name}};
    case KeyKind::job: return {{"kind", "job"}, {"queue", key.queue}, {"id", key.id}};
    case KeyKind::sub:
      return {{"kind", "sub"}, {"queue", key.queue}, {"id", key.id}, {"sub", word(key.sub)}};
    case KeyKind::reserve: return {{"kind", "reserve"}, {"reserve", word(key.reserve)}};
    case KeyKind::migration: return {{"kind", "migration"}, {"queue", key.queue}};
  }
  return nullptr;
}

TEST(ProtocolVectors, Keys) {
  const auto all = test::vectors("keys");
  for (const auto& one : all.at("keys")) {
    const auto text = one.at("key").get<std::string>();
    const auto parsed = parse_key(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(meaning_of(*parsed), one.at("means"));
    EXPECT_EQ(build_key(*parsed), text);
    EXPECT_EQ(slot(text), one.at("slot").get<unsigned>()) << text;
  }
  for (const auto& text : all.at("bad_keys"))
    EXPECT_FALSE(parse_key(text.get<std::string>())) << text;
  for (const auto& one : all.at("slots"))
    EXPECT_EQ(slot(one.at("key").get<std::string>()), one.at("slot").get<unsigned>()) << one;
}

TEST(ProtocolVectors, V1) {
  const auto v1 = test::vectors("v1");
  for (const auto& one : v1.at("looks")) {
    auto asks = nlohmann::json::array();
    for (const auto& look : v1_looks(one.at("prefixes"), one.at("queue"))) {
      asks.push_back(look.words());
      EXPECT_EQ(look.words()[1], look.key);
    }
    EXPECT_EQ(asks, one.at("asks")) << one;
  }
}

TEST(ProtocolVectors, Ids) {
  const auto all = test::vectors("ids");
  for (const auto& one : all.at("ids")) {
    const auto decimal = one.at("decimal").get<std::string>();
    EXPECT_EQ(brand_id(decimal).value(), one.at("branded"));
    EXPECT_EQ(unbrand_id(one.at("branded").get<std::string>()).value(), decimal);
    const auto parts = decode_id(decimal).value();
    EXPECT_EQ(std::to_string(parts.ms_since_2024), one.at("ms_since_2024")) << decimal;
    EXPECT_EQ(std::to_string(parts.unix_ms), one.at("unix_ms")) << decimal;
    EXPECT_EQ(parts.node, one.at("node").get<unsigned>()) << decimal;
    EXPECT_EQ(parts.seq, one.at("seq").get<unsigned>()) << decimal;
  }
  for (const auto& text : all.at("not_minted"))
    EXPECT_FALSE(is_minted_id(text.get<std::string>())) << text;
  for (const auto& text : all.at("not_branded"))
    EXPECT_FALSE(unbrand_id(text.get<std::string>())) << text;
}

TEST(ProtocolVectors, Minting) {
  const auto all = test::vectors("minting");
  for (const auto& run : all.at("runs")) {
    Mint mint;
    for (const auto& step : run.at("steps")) {
      if (step.contains("grant")) {
        const auto& grant = step.at("grant");
        mint.set_grant(grant.at(0), grant.at(1), grant.at(2));
        continue;
      }
      const auto id = mint.next(step.at("now"));
      EXPECT_EQ(id ? nlohmann::json(std::to_string(*id)) : nlohmann::json(), step.at("id")) << run;
    }
    EXPECT_EQ(mint.last_ms(), run.at("last_ms").get<std::int64_t>()) << run;
  }
}

TEST(ProtocolVectors, Leases) {
  const auto all = test::vectors("leases");
  for (const auto& one : all.at("leases")) {
    const Lease lease{one.at("deadline"), one.at("node"), one.at("nonce")};
    EXPECT_EQ(std::to_string(lease.score()), one.at("score")) << one;
    EXPECT_EQ(lease.token(), one.at("token").get<std::uint64_t>()) << one;
    EXPECT_EQ(Lease::from_score(lease.score()), lease) << one;
  }
  for (const auto& one : all.at("deadlines"))
    EXPECT_EQ(Lease::deadline_for(one.at("now"), one.at("lease")),
              one.at("deadline").get<std::uint64_t>())
        << one;
  for (const auto& one : all.at("expired"))
    EXPECT_EQ(std::to_string(Lease::expired_below(one.at("now"))), one.at("below")) << one;
}

TEST(ProtocolVectors, Clock) {
  const auto all = test::vectors("clock");
  for (const auto& run : all.at("runs")) {
    ServerClock clock;
    for (const auto& sample : run.at("samples"))
      clock.sample(sample.at(0), sample.at(1), sample.at(2));
    for (const auto& ask : run.at("asks"))
      EXPECT_EQ(clock.now_ms(ask.at(0)), ask.at(1).get<std::int64_t>()) << run;
  }
}

TEST(ProtocolVectors, Refusals) {
  const auto all = test::vectors("refusals");
  const auto field = [](const Error& error, const char* name) {
    const auto* const value = error.field(name);
    return value != nullptr ? nlohmann::json(*value) : nlohmann::json();
  };
  for (const auto& one : all.at("refusals")) {
    const auto error =
        protocol::refusal(one.at("line").get<std::string>(), all.at("queue").get<std::string>(),
                          all.at("probe").get<std::string>());
    EXPECT_EQ(name(error.code), one.at("code").get<std::string>()) << one;
    EXPECT_EQ(field(error, "found"), one.at("found"));
    EXPECT_EQ(field(error, "expected"), one.at("expected"));
    EXPECT_EQ(field(error, "queue"), all.at("queue"));
    EXPECT_EQ(protocol::is_absent(error), one.at("absent").get<bool>()) << one;
  }
  for (const auto& one : all.at("not_ready"))
    EXPECT_EQ(is_not_ready(one.at("line").get<std::string>()), one.at("not_ready").get<bool>())
        << one;
}

}  // namespace
}  // namespace echomq
