// SPDX-License-Identifier: MIT
// The two-command rule, shown on a server.
#include <random>
#include <utility>

#include "base/digest.h"
#include "client/client_core.h"
#include "echomq/probe.h"
#include "probe/lane.h"
#include "probe/script_queue.h"

namespace echomq::inline v2 {
namespace {

// A word of several lines by its first one.
std::string in_one_line(const std::vector<std::string>& words) {
  std::string line;
  for (auto word : words) {
    if (const auto end = word.find('\n'); end != std::string::npos)
      word = "\"" + word.substr(0, end) + "...\" (" + std::to_string(word.size()) + " bytes)";
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

Error other_answers(const std::vector<Exchange>& shown) {
  return {ErrorCode::protocol,
          "the server answered " + shown.back().sent.substr(0, 16) + "... by \"" +
              shown.back().answered + "\"; expected NOSCRIPT, an answer, and the same answer again",
          {{"found", shown.back().answered}}};
}

}  // namespace

Result<std::vector<Exchange>> show_dispatch(std::string_view url, const TlsOptions& tls) {
  auto client =
      connect(url, {.allow_eviction = true, .v1_prefixes = {}, .tls = tls, .name = "emq-probe"});
  if (!client) return client.error();
  auto opened = probe::Lane::open(client->core()->endpoint(), tls, "emq-probe");
  if (!opened) return opened.error();
  auto& lane = **opened;
  std::random_device random;
  const auto number = std::to_string(random());
  probe::ScriptQueue q(lane, "probe-" + number);
  if (const auto made = q.open(); made.is_error())
    return Error{ErrorCode::server_error, "queue/open: " + made.text, {{"found", made.text}}};
  q.counts();  // so that its keys are among those that are deleted
  // No server has seen this text before.
  const auto source =
      std::string(scripts::QueueCounts::script.source) + "-- probe " + number + "\n";
  const auto sha1 = hex_digest(source, EVP_sha1());
  const auto keys =
      ScriptCall::of<scripts::QueueCounts>(q.keys, {.revision = scripts::kRevision}).keys();
  std::vector<Exchange> shown;
  const auto say = [&](const std::string& command, const std::string& program) {
    std::vector<std::string> words{command, program, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.push_back(std::to_string(scripts::kRevision));
    auto reply = lane(words);
    shown.push_back({in_one_line(words), probe::show(reply)});
    return reply;
  };
  const bool unknown = say("EVALSHA", sha1).text.starts_with("NOSCRIPT");
  const bool repaired = unknown && !say("EVAL", source).is_error();
  const bool warm =
      repaired && !say("EVALSHA", sha1).is_error() && shown[2].answered == shown[1].answered;
  q.clear();
  if (!warm) return other_answers(shown);
  return shown;
}

}  // namespace echomq::inline v2
