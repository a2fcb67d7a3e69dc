// SPDX-License-Identifier: MIT
// URLs. An input is a URL, and nothing else.
#include "wire/url.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/errors.h"
#include "fuzz/target.h"

namespace echomq::fuzz {
namespace {

using wire::Endpoint;

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

void require_possible(const Endpoint& endpoint) {
  require(!endpoint.tls || (!endpoint.unix_socket && !endpoint.embedded), "TLS is TCP's");
  require(endpoint.port != 0 && endpoint.db >= 0, "port and database are in their ranges");
  require(!has_nul(endpoint.host) && !has_nul(endpoint.path) && !has_nul(endpoint.user) &&
              !has_nul(endpoint.password) && !has_nul(endpoint.embedded_dir),
          "no part holds a NUL, at which a system call would cut it");
  if (endpoint.embedded) {
    require(endpoint.embedded_dir.empty() || endpoint.embedded_dir.starts_with('/'),
            "an embedded server's folder is absolute", endpoint.embedded_dir);
  } else if (endpoint.unix_socket) {
    require(endpoint.path.starts_with('/') && endpoint.path.size() < 108,
            "a socket's path is absolute and fits its address", endpoint.path);
  } else {
    require(!endpoint.host.empty(), "there is a host");
  }
}

// A URL that shows a user lacks the password that parse_url wants there.
std::string with_password(std::string url, const Endpoint& endpoint, std::string_view password) {
  if (!endpoint.user.empty()) url.insert(url.find('@'), ":" + std::string(password));
  return url;
}

void check_accepted(const Endpoint& endpoint) {
  require_possible(endpoint);
  const auto text = to_string(endpoint);
  const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
  require(std::all_of(text.begin(), text.end(), printable), "a URL is printable ASCII", text);

  Endpoint expected = endpoint;
  expected.password = endpoint.user.empty() ? "" : "other";
  require(to_string(expected) == text, "no URL shows anything of the password", text);
  const auto url = with_password(text, endpoint, expected.password);
  const auto again = wire::parse_url(url);
  require(again.ok(), "a URL that was written can be read", url);
  require(*again == expected, "a URL that was written is read as the same endpoint", url);
  require(to_string(*again) == text, "a URL that was read is written the same again", url);
}

struct SecretPart {
  std::size_t from;
  std::size_t to;
};

// Where a password can stand: in the login, up to the last "@"; and in the place of the port, when
// the "@host" was forgotten. Sockets and folders have no password.
std::vector<SecretPart> secret_parts(std::string_view url) {
  std::vector<SecretPart> parts;
  if (url.starts_with("unix:///") || url.starts_with("embedded:")) return parts;
  const auto scheme = url.find(':');
  auto host =
      scheme != std::string_view::npos && url.substr(scheme).starts_with("://") ? scheme + 3 : 0;
  if (const auto at = url.rfind('@'); at != std::string_view::npos && at >= host) {
    parts.push_back({host, at});
    host = at + 1;
  }
  if (url.substr(host).starts_with('[') && url.find(']', host) != std::string_view::npos)
    host = url.find(']', host);
  if (const auto colon = url.find(':', host); colon != std::string_view::npos)
    parts.push_back({colon + 1, url.size()});
  return parts;
}

void check_refused(const Error& error) {
  require(error.code == ErrorCode::invalid_url || error.code == ErrorCode::unsupported,
          "what is refused is an invalid url, or not offered", error.detail);
  require(error.field("value") != nullptr && error.field("expected") != nullptr,
          "the error says what was found and what was expected", error.detail);
  require_loggable(error);
}

// Two URLs that differ in their password alone are refused in the same words. That is more than
// that the words do not hold the password: also none of its parts, and not its encoding.
void check_secret(std::string_view url, std::size_t at) {
  const auto with = [&](std::string_view secret) {
    return wire::parse_url(std::string(url.substr(0, at)).append(secret).append(url.substr(at)));
  };
  const auto one = with("hush");
  const auto other = with("q4Zx");
  require(one.ok() == other.ok(), "letters of a password do not decide about a url");
  if (one) return;
  require(one.error().detail == other.error().detail && one.error().fields == other.error().fields,
          "no error says anything about the password", one.error().detail);
}

void check_secrets(std::string_view url) {
  for (const auto& [from, to] : secret_parts(url)) {
    const auto step = std::max<std::size_t>((to - from) / 8, 1);
    for (auto at = from; at <= to; at += step) check_secret(url, at);
  }
}

}  // namespace

void url(std::string_view input) {
  if (const auto parsed = wire::parse_url(input))
    check_accepted(*parsed);
  else
    check_refused(parsed.error());
  check_secrets(input);
}

}  // namespace echomq::fuzz
