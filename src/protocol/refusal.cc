// SPDX-License-Identifier: MIT
#include "protocol/refusal.h"

#include <array>
#include <string>

#include "protocol/version.h"

namespace echomq::inline v2 {
namespace protocol {
namespace {

struct Mapping {
  std::string_view prefix;
  ErrorCode code;
  std::string_view advice;
};

// Server words that mean something to a user; everything else is quoted as server_error.
constexpr std::array kMappings{
    Mapping{"EMQFULL", ErrorCode::full, "the server is at its maxmemory limit: adds are refused"},
    Mapping{"OOM", ErrorCode::full, "the server is at its maxmemory limit"},
    Mapping{"WRONGTYPE", ErrorCode::wrong_type,
            "a key of the queue holds a value of a foreign type"},
    Mapping{"NOPERM", ErrorCode::denied, "an ACL rule refused the command"},
    Mapping{"NOAUTH", ErrorCode::denied, "the server wants a login"},
    Mapping{"LOADING", ErrorCode::loading, "the server is loading its data"},
    Mapping{"MOVED ", ErrorCode::unsupported,
            "another node serves the queue's slot; a cluster of several nodes is not offered yet"},
    Mapping{
        "ASK ", ErrorCode::unsupported,
        "the queue's slot moves to another node; a cluster of several nodes is not offered yet"},
    Mapping{"EMQARG", ErrorCode::protocol, "the script refused its arguments"},
};

}  // namespace

Error fence_refusal(std::string_view queue, std::string_view found, std::string_view expected,
                    std::string_view probe) {
  std::string detail = "queue \"" + std::string(queue) + "\" belongs to another wire: found " +
                       std::string(found) + " at " + std::string(probe) + ", expected " +
                       std::string(expected) + "; nothing was changed";
  return {ErrorCode::fence,
          detail,
          {{"queue", std::string(queue)},
           {"found", std::string(found)},
           {"expected", std::string(expected)},
           {"probe", std::string(probe)}}};
}

bool is_absent(const Error& error) {
  const auto* const found = error.field("found");
  return error.code == ErrorCode::fence && found != nullptr && *found == "nothing";
}

Error refusal(std::string_view text, std::string_view queue, std::string_view probe) {
  constexpr std::string_view kFence = "EMQFENCE expected=";
  if (text.starts_with(kFence)) {
    const auto at = text.find(" found=");
    const auto expected = text.substr(kFence.size(), at - kFence.size());
    const auto found = at == std::string_view::npos ? std::string_view() : text.substr(at + 7);
    return fence_refusal(queue, found, expected, probe);
  }
  for (const auto& mapping : kMappings)
    if (text.starts_with(mapping.prefix))
      return {mapping.code,
              std::string(mapping.advice) + " (" + std::string(text) + ")",
              {{"queue", std::string(queue)}, {"found", std::string(text)}}};
  return {ErrorCode::server_error,
          "the server answered: " + std::string(text),
          {{"queue", std::string(queue)}, {"found", std::string(text)}}};
}

}  // namespace protocol
}  // namespace echomq::inline v2
