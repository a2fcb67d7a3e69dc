// SPDX-License-Identifier: MIT
// A server is known by a name, and the name leads elsewhere after a while.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <cstring>
#include <string>

#include "chaos.h"
#include "support/ports.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

// What the name stands for; all others are as the system knows them.
constexpr const char* kName = "moves.test";
std::atomic<const char*> address{"127.0.0.1"};
std::atomic<int> looked_up{0};

}  // namespace
}  // namespace echomq::test

// In place of the system's, for this program and the library in it.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using System = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<System>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node != nullptr && std::strcmp(node, echomq::test::kName) == 0) {
    ++echomq::test::looked_up;
    node = echomq::test::address;
  }
  return system(node, service, hints, found);
}

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

using MovingName = ChaosOnItsOwnServer;

// As in a failover by DNS: the one that it led to is dead, and the other has none of its jobs.
TEST_F(MovingName, P2_LeadsToAnotherServerUnderABlockedWorker) {
  if (server.cluster()) GTEST_SKIP() << kServersOfItsOwn;
  const auto port = open_port(server);
  TestServer other(ServerOptions{.cluster = false});
  auto admin = other.connect();
  ASSERT_EQ(admin({"CONFIG", "SET", "bind", "127.0.0.2", "port", std::to_string(port)}).text, "OK");
  address = "127.0.0.1";
  auto how = hasty();
  auto moving = connect("redis://" + std::string(kName) + ":" + std::to_string(port), how).value();
  Queue<> far_queue{moving, name};
  ASSERT_TRUE(far_queue.open());
  Runs runs;
  Worker worker{far_queue, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  const auto first = queue.add("x").value();
  ASSERT_TRUE(eventually([&] { return runs.times(first) == 1; }, kResumes));
  ASSERT_TRUE(eventually([&] { return blocks(name); }, kResumes));

  const int before = looked_up;
  address = "127.0.0.2";
  server.kill9();
  auto there = connect(other.url(), options()).value();
  const auto second = Queue<>(there, name).add("y").value();
  EXPECT_TRUE(eventually([&] { return runs.times(second) == 1; }, kResumes)) << log.text();
  EXPECT_GT(looked_up, before);
  EXPECT_TRUE(worker.status());
}

}  // namespace
}  // namespace echomq::test
