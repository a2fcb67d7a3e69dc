// SPDX-License-Identifier: MIT
#include "wire/url.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"

namespace echomq::inline v2::wire {
namespace {

// sun_path holds the terminating NUL too.
constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kShownBytes = 200;
constexpr std::string_view kForms =
    "redis://[[user]:password@]host[:port][/db], rediss://... for TLS, "
    "unix:///path/to/socket[?db=N] or "
    "embedded:[/folder]";

// The URL as a message may show it: all that can be part of a password is left out. That is what
// stands before the last "@", and what stands in the port's place, because the "@host" may be
// missing, also behind a user that is a mail address. A "://" further on ends no scheme and a "["
// that is never closed begins no address: both may be of a password.
std::string safe(std::string_view url) {
  std::string out(url);
  if (!url.starts_with("unix:///") && !url.starts_with("embedded:")) {
    const auto scheme_end = std::min(url.find(':'), url.size());
    const auto start = url.substr(scheme_end).starts_with("://") ? scheme_end + 3 : 0;
    const auto at = url.rfind('@');
    const bool login = at != std::string_view::npos && at >= start;
    const auto host = login ? at + 1 : start;
    const auto close = url.substr(host).starts_with('[') ? url.find(']', host) : host;
    const auto colon = url.find(':', close == std::string_view::npos ? host : close);
    if (colon != std::string_view::npos) out.replace(colon + 1, std::string::npos, "***");
    if (login) out.replace(start, at - start, "***");
  }
  if (out.size() > kShownBytes) out.replace(kShownBytes, std::string::npos, "...");
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return out;
}

Error invalid(std::string_view url, const std::string& why) {
  return {ErrorCode::invalid_url,
          "the url \"" + safe(url) + "\" cannot be read: " + why,
          {{"value", safe(url)}, {"expected", std::string(kForms)}}};
}

Error unsupported(std::string_view url, std::string_view scheme, std::string_view what) {
  return {ErrorCode::unsupported,
          std::string(what) + " is not offered yet (" + std::string(scheme) +
              "://); connect to one server with redis:// or unix://",
          {{"value", safe(url)}, {"expected", std::string(kForms)}}};
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// nullopt: a "%" without two hex digits, or a NUL, which no name can hold.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

std::string percent_encoded(std::string_view text, std::string_view also_plain) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || also_plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

// Digits only: no sign, no space.
template <class Number>
bool parse_number(std::string_view text, Number lowest, Number highest, Number& out) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= lowest &&
         out <= highest;
}

bool parse_db(std::string_view text, int& out) {
  return parse_number(text, 0, std::numeric_limits<int>::max(), out);
}

constexpr std::string_view kDbRule = "the database must be a number from 0";

// ---- redis:// ----

// Reads "[user]:password".
std::optional<std::string> read_login(std::string_view login, Endpoint& out) {
  const auto colon = login.find(':');
  if (colon == std::string_view::npos)
    return "the part before \"@\" must be user:password or :password";
  const auto user = percent_decoded(login.substr(0, colon));
  const auto password = percent_decoded(login.substr(colon + 1));
  if (!user) return "the user has a \"%\" without two hex digits after it (write %25), or a NUL";
  if (!password)
    return "the password has a \"%\" without two hex digits after it (write %25), or a NUL";
  if (password->empty()) return "the password before \"@\" is empty; leave the login out for none";
  out.user = *user;
  out.password = *password;
  return std::nullopt;
}

// Reads "host[:port]".
std::optional<std::string> read_address(std::string_view address, Endpoint& out) {
  std::string_view host = address;
  std::string_view port;
  bool has_port = false;
  if (address.starts_with('[')) {
    const auto close = address.find(']');
    if (close == std::string_view::npos) return "the IPv6 address has no closing \"]\"";
    host = address.substr(1, close - 1);
    port = address.substr(close + 1);
    has_port = !port.empty();
    if (has_port && port[0] != ':') return "after \"]\" stands neither \":port\" nor the end";
    if (has_port) port.remove_prefix(1);
    const auto decoded = percent_decoded(host);  // "%25" before a zone
    in6_addr ignored{};
    if (!decoded ||
        inet_pton(AF_INET6, decoded->substr(0, decoded->find('%')).c_str(), &ignored) != 1)
      return "what stands in brackets is not an IPv6 address";
    out.host = *decoded;
  } else {
    const auto colon = address.find(':');
    if (colon != std::string_view::npos) {
      host = address.substr(0, colon);
      port = address.substr(colon + 1);
      has_port = true;
    }
    if (host.empty()) return "the host is missing";
    if (port.find(':') != std::string_view::npos)
      return "there is more than one \":\"; an IPv6 address stands in brackets, and a password "
             "before \"@\"";
    const auto fits = [](char c) {
      return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
    };
    if (!std::all_of(host.begin(), host.end(), fits))
      return "the host may hold letters, digits, \".\", \"-\" and \"_\" only";
    out.host = host;
  }
  if (has_port && !parse_number<unsigned short>(port, 1, 65535, out.port))
    return "the port must be a number from 1 to 65535";
  return std::nullopt;
}

Result<Endpoint> parse_redis(std::string_view url, std::string_view rest, bool tls) {
  Endpoint out;
  out.tls = tls;
  const auto end = std::min(rest.find_first_of("/?#"), rest.size());
  auto authority = rest.substr(0, end);
  auto tail = rest.substr(end);
  if (tail.find('@') != std::string_view::npos)
    return invalid(url,
                   "an \"@\" stands after \"/\", \"?\" or \"#\"; inside a password write these as "
                   "%2F, %3F and %23");
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (const auto why = read_login(authority.substr(0, at), out)) return invalid(url, *why);
    authority.remove_prefix(at + 1);
  }
  if (const auto why = read_address(authority, out)) return invalid(url, *why);
  if (tail.find_first_of("?#") != std::string_view::npos)
    return invalid(url, "nothing may follow the database (no \"?\" and no \"#\")");
  if (tail.size() > 1 && !parse_db(tail.substr(1), out.db))
    return invalid(url, std::string(kDbRule));
  return out;
}

// ---- unix:// and embedded: ----

Result<Endpoint> parse_unix(std::string_view url, std::string_view rest) {
  Endpoint out;
  out.unix_socket = true;
  if (rest.find('#') != std::string_view::npos)
    return invalid(url, "there is a \"#\"; inside a path write it as %23");
  if (const auto at = rest.substr(0, rest.find('/')).rfind('@'); at != std::string_view::npos) {
    if (const auto why = read_login(rest.substr(0, at), out)) return invalid(url, *why);
    rest.remove_prefix(at + 1);
  }
  const auto query_at = std::min(rest.find('?'), rest.size());
  const auto path = percent_decoded(rest.substr(0, query_at));
  if (!path)
    return invalid(url,
                   "the path has a \"%\" without two hex digits after it (write %25), or a NUL");
  if (!path->starts_with('/') || path->size() < 2)
    return invalid(url, "the path must be absolute: three slashes, as in unix:///run/emq.sock");
  if (path->size() > kLongestSocketPath)
    return invalid(url, "the path has " + std::to_string(path->size()) +
                            " bytes; a socket's path has " + std::to_string(kLongestSocketPath) +
                            " at most");
  out.path = *path;
  if (query_at == rest.size()) return out;
  const auto query = rest.substr(query_at + 1);
  if (!query.starts_with("db=")) return invalid(url, "after \"?\" only db=N may stand");
  if (!parse_db(query.substr(3), out.db)) return invalid(url, std::string(kDbRule));
  return out;
}

Result<Endpoint> parse_embedded(std::string_view url, std::string_view rest) {
  Endpoint out;
  out.embedded = true;
  if (rest.empty()) return out;
  if (rest.find_first_of("?#") != std::string_view::npos)
    return invalid(url, "there is a \"?\" or \"#\"; inside a folder write them as %3F and %23");
  // "embedded:///folder" is how those write it who think of unix:///
  if (rest.starts_with("///")) rest.remove_prefix(2);
  const auto dir = percent_decoded(rest);
  if (!dir)
    return invalid(url,
                   "the folder has a \"%\" without two hex digits after it (write %25), or a NUL");
  if (!dir->starts_with('/') || dir->starts_with("//"))
    return invalid(url, "the folder must be absolute, as in embedded:/var/lib/emq");
  out.embedded_dir = *dir;
  return out;
}

}  // namespace

Result<Endpoint> parse_url(std::string_view url) {
  if (url.empty()) return invalid(url, "it is empty");
  const auto colon = url.find(':');
  const auto scheme = lower(url.substr(0, colon));
  if (colon != std::string_view::npos && scheme == "embedded")
    return parse_embedded(url, url.substr(colon + 1));
  if (colon == std::string_view::npos || !url.substr(colon).starts_with("://"))
    return invalid(url, "it does not begin with a scheme, as in redis://localhost:6379");
  const auto rest = url.substr(colon + 3);
  if (scheme == "redis" || scheme == "valkey") return parse_redis(url, rest, /*tls=*/false);
  if (scheme == "unix") return parse_unix(url, rest);
  if (scheme == "rediss" || scheme == "valkeys") return parse_redis(url, rest, /*tls=*/true);
  // However other clients spell them: redis+sentinel, rediss+cluster, redis-sentinel, sentinel.
  if (scheme.find("sentinel") != std::string_view::npos)
    return unsupported(url, scheme, "finding a server through Sentinel");
  if (scheme.find("cluster") != std::string_view::npos)
    return unsupported(url, scheme, "a cluster of several nodes");
  return invalid(url, "its scheme is not redis, rediss, valkey, valkeys, unix or embedded");
}

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.embedded) return "embedded:" + percent_encoded(endpoint.embedded_dir, "/._-~");
  const auto db = std::to_string(endpoint.db);
  const auto user = endpoint.user.empty() ? "" : percent_encoded(endpoint.user, "._-~") + "@";
  if (endpoint.unix_socket)
    return "unix://" + user + percent_encoded(endpoint.path, "/._-~") +
           (endpoint.db == 0 ? "" : "?db=" + db);
  std::string out = (endpoint.tls ? "rediss://" : "redis://") + user;
  if (endpoint.host.find(':') == std::string::npos)
    out += endpoint.host;
  else
    out += "[" + percent_encoded(endpoint.host, ":.") + "]";
  out += ":" + std::to_string(endpoint.port);
  if (endpoint.db != 0) out += "/" + db;
  return out;
}

}  // namespace echomq::inline v2::wire
