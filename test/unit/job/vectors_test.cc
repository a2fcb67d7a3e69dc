// SPDX-License-Identifier: MIT
// The vectors of jobs: options, the fields of their hashes, how adds and ends are told, backoff.
#include "support/vectors.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "fleet/base64.h"
#include "fleet/options.h"
#include "job/encode.h"
#include "job/ends.h"
#include "job/record.h"
#include "job/shapes.h"

namespace echomq {
namespace {

TEST(JobVectors, Options) {
  const auto all = test::vectors("options");
  for (const auto& one : all.at("encoded")) {
    const auto job = job::encode_job("", fleet::options_of(one.at("options")), 1024);
    ASSERT_TRUE(job) << one;
    EXPECT_EQ(job->opts, one.at("opts"));
  }
  for (const auto& one : all.at("bad")) {
    const auto job = job::encode_job("", fleet::options_of(one.at("options")), 1024);
    ASSERT_FALSE(job) << one;
    EXPECT_EQ(name(job.error().code), one.at("code").get<std::string>()) << one;
  }
  for (const auto& one : all.at("decoded")) {
    const auto stored = job::decode_stored(one.at("text").get<std::string>());
    EXPECT_EQ(nlohmann::json(fleet::json_of(stored.options)), one.at("options")) << one;
    EXPECT_EQ(stored.parent, one.at("parent")) << one;
  }
}

TEST(JobVectors, Records) {
  const auto all = test::vectors("records");
  for (const auto& one : all.at("heads")) {
    const auto text = one.at("text").get<std::string>();
    const auto head = job::read_head(text);
    nlohmann::json found;
    if (head) found = {{"added_ms", head->added_ms}, {"name", head->name}, {"opts", head->opts}};
    EXPECT_EQ(found, one.at("head")) << text;
  }
  for (const auto& one : all.at("runs")) {
    const auto text = one.at("text").get<std::string>();
    const auto run = job::read_runs(text);
    nlohmann::json found;
    if (run)
      found = {{"claims_ended", run->claims_ended}, {"attempts_made", run->attempts_made},
               {"crashes", run->crashes},           {"started_ms", run->started_ms},
               {"ended_ms", run->ended_ms},         {"worker", run->worker}};
    EXPECT_EQ(found, one.at("run")) << text;
  }
}

TEST(JobVectors, Shapes) {
  const auto all = test::vectors("records");
  for (const auto& one : all.at("shapes")) {
    std::deque<job::EncodedJob> jobs;
    job::Shapes shapes;
    for (const auto& options : one.at("jobs"))
      shapes.put(jobs.emplace_back(job::encode_job("d", fleet::options_of(options), 1024).value()));
    EXPECT_EQ(shapes.text(), one.at("shapes"));
  }
}

TEST(JobVectors, Ends) {
  const auto all = test::vectors("records");
  for (const auto& one : all.at("ends")) {
    std::deque<std::string> values;
    job::Ends ends;
    for (const auto& end : one.at("ends"))
      ends.put(
          {.lease = end.at("lease"),
           .claims_ended = end.at("claims_ended"),
           .attempts_made = end.at("attempts_made"),
           .crashes = end.at("crashes"),
           .started_ms = end.at("started_ms"),
           .value = values.emplace_back(fleet::from_base64(end.at("value").get<std::string>()))});
    EXPECT_EQ(ends.text(), fleet::from_base64(one.at("text").get<std::string>()));
  }
}

TEST(JobVectors, Backoff) {
  const auto all = test::vectors("backoff");
  for (const auto& one : all.at("delays")) {
    auto options = nlohmann::ordered_json::object();
    if (!one.at("backoff").is_null()) options["backoff"] = one.at("backoff");
    const auto backoff = fleet::options_of(options).backoff;
    EXPECT_EQ(job::backoff_delay(backoff, one.at("failures"), one.at("draw")).count(),
              one.at("ms").get<std::int64_t>())
        << one;
  }
}

}  // namespace
}  // namespace echomq
