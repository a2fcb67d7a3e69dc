// SPDX-License-Identifier: MIT
// The fixture of the tests of the library: a client and a queue of its own on the shared server
// (or, as OwnServerTest, on a server that the test may stop, fill and kill), a second way to look
// at the server, and the client's log. The queue's keys are deleted afterwards.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/echomq.h"
#include "support/deadline.h"
#include "support/log.h"
#include "support/raw_client.h"
#include "support/server.h"

namespace echomq::test {

// The error of a result; one that no test expects when there is none.
template <class T>
Error error_of(const Result<T>& result) {
  return result ? Error{ErrorCode::protocol, "it succeeded", {}} : result.error();
}

class LibraryTest : public testing::Test {
 protected:
  explicit LibraryTest(TestServer& on = shared_server());
  ~LibraryTest() override;

  // The options of `client`: its log goes to `log`.
  [[nodiscard]] ClientOptions options() const;
  // Another client of the same server, as another process would be.
  [[nodiscard]] Client another() const { return connect(server.url(), options()).value(); }

  // One job each, in one call; answers the ids.
  std::vector<std::string> add(const std::vector<std::string>& data, const JobOptions& how = {});
  std::vector<std::string> add_many(std::size_t count, const JobOptions& how = {});

  [[nodiscard]] Counts counts() { return queue.counts().value(); }
  [[nodiscard]] JobInfo info(const std::string& id) { return queue.job(id).value(); }
  [[nodiscard]] std::string field(const std::string& id, const std::string& name);
  // Where a structure of the queue stands.
  [[nodiscard]] std::string key_of(Structure structure) const { return key(name, structure); }
  // As if the job had been added so long ago.
  void age_add(const std::string& id, std::int64_t ms);
  void set_meta(const std::string& field, const std::string& value);
  // A node id that no process has had.
  [[nodiscard]] unsigned unused_node();

  TestServer& server;
  Log log{};
  std::string name = unique_queue("library");
  Client client = connect(server.url(), options()).value();
  Queue<> queue{client, name};
  RawClient redis = server.connect();
};

namespace detail {
struct ServerFirst {
  TestServer own;
};
}  // namespace detail

class OwnServerTest : private detail::ServerFirst, public LibraryTest {
 protected:
  explicit OwnServerTest(ServerOptions with = {})
      : detail::ServerFirst{TestServer(std::move(with))}, LibraryTest(own) {}

  // As a user with those rights and no others.
  Result<Client> connect_with(AclOptions rights);
};

// Where every job of a queue stands: id -> the states it is in, in the order of the structures,
// separated by blanks. A job that is in none has a hash and no place; it does not appear.
std::map<std::string, std::string> places(RawClient& redis, const std::string& queue);

}  // namespace echomq::test
