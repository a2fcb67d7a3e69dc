// SPDX-License-Identifier: MIT
// URLs by tables: what each form means, what is refused and why, and that no password gets out.
#include "wire/url.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <ostream>
#include <string>
#include <string_view>

namespace echomq::wire {
namespace {

Endpoint tcp(std::string_view host, unsigned short port = 6379, int db = 0) {
  Endpoint out;
  out.host = host;
  out.port = port;
  out.db = db;
  return out;
}
Endpoint login(std::string_view user, std::string_view password) {
  Endpoint out = tcp("host");
  out.user = user;
  out.password = password;
  return out;
}
Endpoint with_tls(Endpoint endpoint) {
  endpoint.tls = true;
  return endpoint;
}
Endpoint unix_at(std::string_view path, int db = 0) {
  Endpoint out;
  out.unix_socket = true;
  out.path = path;
  out.db = db;
  return out;
}
Endpoint with_login(Endpoint endpoint) {
  endpoint.user = "bob";
  endpoint.password = "secret";
  return endpoint;
}
Endpoint embedded(std::string_view dir) {
  Endpoint out;
  out.embedded = true;
  out.embedded_dir = dir;
  return out;
}

struct Good {
  std::string_view url;
  Endpoint endpoint;

  friend std::ostream& operator<<(std::ostream& out, const Good& good) { return out << good.url; }
};

class Url : public testing::TestWithParam<Good> {};

TEST_P(Url, IsRead) {
  const auto got = parse_url(GetParam().url);
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_TRUE(*got == GetParam().endpoint) << "read as " << to_string(*got);
}

INSTANTIATE_TEST_SUITE_P(
    All, Url,
    testing::Values(
        Good{"redis://localhost", tcp("localhost")}, Good{"redis://localhost/", tcp("localhost")},
        Good{"valkey://localhost", tcp("localhost")}, Good{"REDIS://localhost", tcp("localhost")},
        Good{"redis://10.0.0.1:7000", tcp("10.0.0.1", 7000)},
        Good{"redis://my_host-1.example.com:65535/15", tcp("my_host-1.example.com", 65535, 15)},
        Good{"redis://[::1]", tcp("::1")},
        Good{"redis://[fe80::1]:7000/2", tcp("fe80::1", 7000, 2)},
        Good{"redis://[fe80::1%25eth0]", tcp("fe80::1%eth0")},
        Good{"redis://:secret@host", login("", "secret")},
        Good{"redis://bob:secret@host", login("bob", "secret")},
        Good{"redis://bob:a:b@host", login("bob", "a:b")},
        Good{"redis://bob:p@ss@host", login("bob", "p@ss")},
        Good{"redis://b%6Fb:%2F%3f%23%40%25@host", login("bob", "/?#@%")},
        Good{"rediss://host:7000", with_tls(tcp("host", 7000))},
        Good{"valkeys://bob:secret@host", with_tls(login("bob", "secret"))},
        Good{"unix:///run/emq.sock", unix_at("/run/emq.sock")},
        Good{"unix://bob:secret@/run/emq.sock", with_login(unix_at("/run/emq.sock"))},
        Good{"unix:///run/emq.sock?db=3", unix_at("/run/emq.sock", 3)},
        Good{"unix:///tmp/a@b:c/s%20%3F", unix_at("/tmp/a@b:c/s ?")},
        Good{"embedded:", embedded("")}, Good{"Embedded:", embedded("")},
        Good{"embedded:/var/lib/emq", embedded("/var/lib/emq")},
        Good{"embedded:///var/lib/emq", embedded("/var/lib/emq")},
        Good{"embedded:/with%20space", embedded("/with space")}));

struct BadUrl {
  std::string url;
  std::string_view says;

  friend std::ostream& operator<<(std::ostream& out, const BadUrl& bad) { return out << bad.url; }
};

class UrlMalformed : public testing::TestWithParam<BadUrl> {};

TEST_P(UrlMalformed, IsRefusedByItsPart) {
  const auto& [url, says] = GetParam();
  const auto got = parse_url(url);
  ASSERT_FALSE(got) << "read as " << to_string(*got);
  EXPECT_EQ(got.error().code, ErrorCode::invalid_url);
  EXPECT_NE(got.error().detail.find(says), std::string::npos) << got.error().detail;
  ASSERT_NE(got.error().field("value"), nullptr);
  EXPECT_NE(got.error().field("expected")->find("redis://"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, UrlMalformed,
    testing::Values(
        BadUrl{"", "empty"}, BadUrl{"localhost", "scheme"}, BadUrl{"localhost:6379", "scheme"},
        BadUrl{"redis:localhost", "scheme"}, BadUrl{"://host", "scheme"},
        BadUrl{"http://host", "scheme"}, BadUrl{"redis://", "host is missing"},
        BadUrl{"redis:///0", "host is missing"}, BadUrl{"redis://:6379", "host is missing"},
        BadUrl{"redis://:pw@", "host is missing"}, BadUrl{"redis://host:", "port"},
        BadUrl{"redis://host:0", "port"}, BadUrl{"redis://host:65536", "port"},
        BadUrl{"redis://host:-1", "port"}, BadUrl{"redis://host:63 79", "port"},
        BadUrl{"redis://[::1]:x", "port"}, BadUrl{"redis://::1", "host is missing"},
        BadUrl{"redis://fe80::1", "brackets"}, BadUrl{"redis://[::1", "\"]\""},
        BadUrl{"redis://[::1]6379", "after \"]\""}, BadUrl{"redis://[host]", "not an IPv6"},
        BadUrl{"redis://[]", "not an IPv6"}, BadUrl{"redis://ho st", "the host may hold"},
        BadUrl{"redis://h%C3%B6st", "the host may hold"},
        BadUrl{"redis://host,other", "the host may hold"}, BadUrl{"redis://host/x", "database"},
        BadUrl{"redis://host/-1", "database"}, BadUrl{"redis://host/1/2", "database"},
        BadUrl{"redis://host/99999999999", "database"},
        BadUrl{"redis://host/1?db=2", "nothing may follow"},
        BadUrl{"redis://host?db=2", "nothing may follow"},
        BadUrl{"redis://host#1", "nothing may follow"}, BadUrl{"redis://bob@host", "user:password"},
        BadUrl{"redis://@host", "user:password"}, BadUrl{"redis://bob:@host", "empty"},
        BadUrl{"redis://b%zzb:pw@host", "the user has"},
        BadUrl{"redis://bob:p%4@host", "the password has"},
        BadUrl{"redis://bob:p%00@host", "the password has"}, BadUrl{"redis://:a/b@host", "%2F"},
        BadUrl{"unix://run/emq.sock", "absolute"}, BadUrl{"unix://", "absolute"},
        BadUrl{"unix:///", "absolute"}, BadUrl{"unix:/run/emq.sock", "scheme"},
        BadUrl{"unix:///a?db=x", "database"}, BadUrl{"unix:///a?", "db=N"},
        BadUrl{"unix:///a?x=1", "db=N"}, BadUrl{"unix:///a?db=1&db=2", "database"},
        BadUrl{"unix:///a#b", "%23"}, BadUrl{"unix:///a%", "the path has"},
        BadUrl{"unix:///a%00", "the path has"},
        BadUrl{"unix:///" + std::string(107, 'a'), "108 bytes"},
        BadUrl{"embedded:folder", "absolute"}, BadUrl{"embedded://folder", "absolute"},
        BadUrl{"embedded:////folder", "absolute"}, BadUrl{"embedded:/a%2", "the folder has"},
        BadUrl{"embedded:/a?b", "%3F"}));

TEST(UrlLimits, TheLongestSocketPathIsAccepted) {
  EXPECT_TRUE(parse_url("unix:///" + std::string(106, 'a')));
}

TEST(UrlUnsupported, WhatComesLaterIsNamed) {
  const auto refused = [](std::string_view url, std::string_view what) {
    const auto got = parse_url(url);
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, ErrorCode::unsupported) << url;
    EXPECT_NE(got.error().detail.find(what), std::string::npos) << got.error().detail;
    EXPECT_NE(got.error().detail.find("not offered yet"), std::string::npos) << got.error().detail;
    EXPECT_EQ(got.error().message().find("hush"), std::string::npos) << got.error().message();
  };
  for (const auto* scheme :
       {"redis+sentinel", "rediss+sentinel", "valkey+sentinel", "redis-sentinel", "sentinel"})
    refused(std::string(scheme) + "://:hush@host/main", "Sentinel");
  refused("rediss+cluster://host", "cluster");
  refused("redis+cluster://host", "cluster");
}

TEST(UrlSecrets, NoErrorQuotesThePassword) {
  for (const std::string_view url :
       {"redis://bob:hush@ho st", "redis://bob:hush@host:x", "redis://:hush@host/x",
        "redis://:hush@", "redis://bob:hush", "redis://:hush", "redis://[::1]:hush",
        "redis://bob:x/hush@host", "redis://bob:hush%@host", "redis://bob:x?hush@host#y",
        "http://bob:hush@host", "bob:hush@host", ":hush", "unix://:hush@run/emq.sock",
        "redis://hush@host", "redis://::hush", "redis://bob:hush@host@"}) {
    const auto got = parse_url(url);
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().message().find("hush"), std::string::npos) << got.error().message();
    for (const auto& [key, value] : got.error().fields)
      EXPECT_EQ(value.find("hush"), std::string::npos) << key << " = " << value;
  }
}

TEST(UrlSecrets, APasswordWithASchemeOrABracketInItIsNotQuoted) {
  for (const std::string_view url : {"bob:hush://@host", "bob:hush://x", "bob@x:hush://y",
                                     "redis://[bob:hush", "redis://[:hush:1", "[bob:hush"}) {
    const auto got = parse_url(url);
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().message().find("hush"), std::string::npos) << got.error().message();
    EXPECT_EQ(got.error().field("value")->find("hush"), std::string::npos) << url;
  }
}

TEST(UrlSecrets, APasswordBehindAMailAddressAndWithoutAHostIsNotQuoted) {
  const auto got = parse_url("redis://bob@example.com:hush");
  ASSERT_FALSE(got);
  EXPECT_EQ(*got.error().field("value"), "redis://***@example.com:***");
  EXPECT_EQ(got.error().message().find("hush"), std::string::npos) << got.error().message();
}

TEST(UrlSecrets, NoErrorCarriesControlCharactersOrNovels) {
  const auto got = parse_url("redis://ho\nst" + std::string(5000, 'x'));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().detail.find('\n'), std::string::npos);
  EXPECT_LT(got.error().detail.size(), 500U);
}

TEST(UrlText, LeavesThePasswordOut) {
  EXPECT_EQ(to_string(*parse_url("redis://bob:hush@host/2")), "redis://bob@host:6379/2");
  EXPECT_EQ(to_string(*parse_url("redis://:hush@host")), "redis://host:6379");
  EXPECT_EQ(to_string(*parse_url("valkey://[fe80::1%25eth0]:1")), "redis://[fe80::1%25eth0]:1");
  EXPECT_EQ(to_string(*parse_url("unix:///a%20b?db=1")), "unix:///a%20b?db=1");
  EXPECT_EQ(to_string(*parse_url("embedded:")), "embedded:");
  EXPECT_EQ(to_string(*parse_url("unix://bob:hush@/a")), "unix://bob@/a");
  EXPECT_EQ(to_string(*parse_url("valkeys://:hush@host")), "rediss://host:6379");
}

TEST(UrlText, ReadsBackAsTheSameEndpoint) {
  const auto any_path = [] {
    return "/a" +
           *rc::gen::resize(30, rc::gen::container<std::string>(rc::gen::suchThat(
                                    rc::gen::arbitrary<char>(), [](char c) { return c != '\0'; })));
  };
  EXPECT_TRUE(rc::check([&] {
    Endpoint endpoint;
    switch (*rc::gen::inRange(0, 3)) {
      case 0: endpoint = unix_at(any_path(), *rc::gen::inRange(0, 100)); break;
      case 1: endpoint = embedded(any_path()); break;
      default:
        endpoint = tcp(*rc::gen::element("host", "10.0.0.1", "::1", "fe80::1%eth0"),
                       static_cast<unsigned short>(*rc::gen::inRange(1, 65536)),
                       *rc::gen::inRange(0, 100));
    }
    const auto got = parse_url(to_string(endpoint));
    if (!got) RC_FAIL(got.error().message());
    RC_ASSERT(*got == endpoint);
  }));
}

}  // namespace
}  // namespace echomq::wire
