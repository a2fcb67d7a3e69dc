// SPDX-License-Identifier: MIT
#include "support/library_test.h"

#include <map>
#include <utility>

#include "echomq/keyspace.h"
#include "job/record.h"
#include "support/dump.h"

namespace echomq::test {

LibraryTest::LibraryTest(TestServer& on) : server(on) {}

LibraryTest::~LibraryTest() {
  // On a server of the test's own, which may be dead by now, nothing needs to be cleaned.
  if (&server != &shared_server()) return;
  for (const auto& [key, content] : dump_queue(redis, name)) redis({"DEL", key});
  redis({"ZREM", reserve_key(Reserve::queues), name});
}

ClientOptions LibraryTest::options() const {
  ClientOptions options;
  options.log = log.sink();
  return options;
}

std::vector<std::string> LibraryTest::add(const std::vector<std::string>& data,
                                          const JobOptions& how) {
  std::vector<echomq::NewJob<>> jobs;
  for (const auto& bytes : data) jobs.push_back({bytes, how});
  auto results = queue.add_bulk(jobs).value();
  std::vector<std::string> ids;
  for (auto& result : results) ids.push_back(std::move(result).value());
  return ids;
}

std::vector<std::string> LibraryTest::add_many(std::size_t count, const JobOptions& how) {
  std::vector<std::string> data;
  for (std::size_t i = 0; i < count; ++i) data.push_back(std::to_string(i));
  return add(data, how);
}

std::string LibraryTest::field(const std::string& id, const std::string& name_of_field) {
  return redis({"HGET", job_key(name, id), name_of_field}).text;
}

void LibraryTest::age_add(const std::string& id, std::int64_t ms) {
  const auto head = field(id, "head");
  const auto added = job::read_head(head).value().added_ms;
  redis({"HSET", job_key(name, id), "head",
         std::to_string(added - ms) + head.substr(head.find(':'))});
}

unsigned LibraryTest::unused_node() {
  unsigned node = 1'023;
  while (redis({"HEXISTS", reserve_key(Reserve::nodes), std::to_string(node)}).integer == 1) --node;
  return node;
}

void LibraryTest::set_meta(const std::string& field_of_meta, const std::string& value) {
  redis({"HSET", key_of(Structure::meta), field_of_meta, value});
}

std::map<std::string, std::string> places(RawClient& redis, const std::string& queue) {
  std::map<std::string, std::string> found;
  const auto note = [&found](const std::string& id, Structure structure) {
    auto& states = found[id];
    states += (states.empty() ? "" : " ") + std::string(word(structure));
  };
  for (const auto structure : {Structure::wait, Structure::crashed})
    for (const auto& id : texts(redis({"LRANGE", key(queue, structure), "0", "-1"})))
      note(id, structure);
  for (const auto structure :
       {Structure::prioritized, Structure::active, Structure::delayed, Structure::completed,
        Structure::failed, Structure::waiting_children})
    // Without the sentinel of `active`, which is at infinity.
    for (const auto& id : texts(redis({"ZRANGEBYSCORE", key(queue, structure), "-inf", "(inf"})))
      note(id, structure);
  return found;
}

Result<Client> OwnServerTest::connect_with(AclOptions rights) {
  rights.user = "least";
  std::vector<std::string> words{"ACL", "SETUSER", rights.user, ">least"};
  for (auto& rule : acl_rules(acl_line(rights).value())) words.push_back(std::move(rule));
  EXPECT_EQ(redis(words).text, "OK");
  return connect("unix://least:least@" + server.socket_path(), options());
}

}  // namespace echomq::test
