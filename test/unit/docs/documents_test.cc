// SPDX-License-Identifier: MIT
// What holds for all documents: links lead somewhere, sections that the sources refer to exist, the
// README stays short, and the limits are those of the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "echomq/client.h"
#include "echomq/options.h"
#include "echomq/probe.h"
#include "echomq/worker.h"
#include "queue/add_batcher.h"
#include "tree.h"

namespace {

using ::testing::HasSubstr;

// The targets of [text](target) that are no web addresses, without their #anchor.
std::vector<std::string> local_links(const std::string& text) {
  std::vector<std::string> links;
  for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
    at += 2;
    const auto target = text.substr(at, text.find(')', at) - at);
    if (!target.starts_with("http")) links.push_back(target.substr(0, target.find('#')));
  }
  return links;
}

TEST(Documents, LocalLinksLeadToFiles) {
  std::size_t count = 0;
  for (const auto& document : docs::documents()) {
    for (const auto& link : local_links(docs::prose(docs::read(document)))) {
      ++count;
      const auto target = docs::root() / document.parent_path() / link;
      EXPECT_TRUE(docs::fs::exists(target)) << document << " links to " << link;
    }
  }
  EXPECT_GE(count, 5U);
}

// "5.4" of a text that begins " section 5.4: ...", " 5.4) ..."; empty when it begins otherwise.
std::string section_number(std::string text) {
  if (text.starts_with(" section")) text = text.substr(8);
  if (!text.starts_with(' ')) return {};
  std::string number;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool dot = text[i] == '.' && i + 1 < text.size() &&
                     std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!dot && std::isdigit(static_cast<unsigned char>(text[i])) == 0) break;
    number += text[i];
  }
  return number;
}

TEST(Documents, SectionsThatTheSourcesReferToExist) {
  const auto protocol = docs::read("docs/protocol.md");
  std::size_t count = 0;
  for (const auto* folder : {"src", "include", "lua", "app", "tool", "test", "example"}) {
    for (const auto& path : docs::files(folder, {".cc", ".h", ".lua", ".md"})) {
      const auto text = docs::read(path);
      const std::string document = "protocol.md";
      for (std::size_t at = 0; (at = text.find(document, at)) != std::string::npos;) {
        at += document.size();
        const auto number = section_number(text.substr(at, 40));
        if (number.empty()) continue;
        ++count;
        const bool sub = number.find('.') != std::string::npos;
        EXPECT_THAT(protocol, HasSubstr((sub ? "\n### " : "\n## ") + number + (sub ? " " : ". ")))
            << path << " refers to section " << number;
      }
    }
  }
  EXPECT_GE(count, 5U);
}

TEST(Documents, TheFloorIsTheOneThatIsComputed) {
  const auto needs = echomq::server_needs();
  ASSERT_FALSE(needs.empty());
  for (const auto& need : needs)
    EXPECT_NE(need.since, "unknown")
        << need.what << ", which " << need.by << " says, has no line in src/probe/floor.cc";
  EXPECT_THAT(docs::read("docs/protocol.md"),
              HasSubstr("is Redis " + needs.front().since + ". That"));
}

TEST(Documents, TheReadmeStaysShort) {
  EXPECT_LE(docs::lines(docs::read("README.md")).size(), 140U);
}

// 1048576 -> "1,048,576"
std::string grouped(std::uint64_t number) {
  const auto digits = std::to_string(number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

TEST(Documents, LimitsAreThoseOfTheCode) {
  using namespace std::chrono;
  const auto text = docs::read("docs/limits.md");
  const echomq::ClientOptions client;
  const echomq::WorkerOptions worker;
  EXPECT_THAT(text, HasSubstr("| data | " + grouped(client.data_limit) +
                              " bytes by default (`data_limit`), " +
                              grouped(echomq::kMaxDataBytes) + " at most |"));
  EXPECT_THAT(text, HasSubstr("| result | " + grouped(echomq::kMaxResultBytes) + " bytes |"));
  EXPECT_THAT(text,
              HasSubstr("| failure reason | " + grouped(echomq::kMaxReasonBytes) + " bytes |"));
  EXPECT_THAT(text, HasSubstr("| attempts | 1 to " + grouped(echomq::kMaxAttempts) + " |"));
  EXPECT_THAT(text, HasSubstr("| priority | 0 to " + grouped(echomq::kMaxPriority) + ";"));
  EXPECT_THAT(text, HasSubstr(std::to_string(duration_cast<seconds>(worker.lease).count()) +
                              " s by default"));
  EXPECT_THAT(text,
              HasSubstr("`max_crashes`, " + std::to_string(worker.max_crashes) + " by default"));
  EXPECT_THAT(text,
              HasSubstr("| jobs in a call | " + std::to_string(echomq::kMaxBatchJobs) + ", and " +
                        std::to_string(echomq::kMaxBatchBytes >> 10) + " KiB of data"));
  EXPECT_THAT(
      text,
      HasSubstr("kept " + grouped(static_cast<std::uint64_t>(worker.keep_completed.count)) +
                " at most and a day at most when completed, " +
                grouped(static_cast<std::uint64_t>(worker.keep_failed.count)) + " and a week"));
  EXPECT_EQ(worker.keep_completed.age, hours(24));
  EXPECT_EQ(worker.keep_failed.age, hours(24 * 7));
  EXPECT_EQ(echomq::kMaxDelay, hours(24 * 365 * 10));
}

}  // namespace
