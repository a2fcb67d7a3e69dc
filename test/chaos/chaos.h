// SPDX-License-Identifier: MIT
// The fixture of the tests of bad networks: a client and its worker reach the server through a
// proxy that the test torments, while the test itself adds and looks by a way of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/chaos_proxy.h"
#include "support/dump.h"
#include "support/fleet.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {

// What is promised after the end of any fault: work goes on within this time, without help.
inline constexpr std::chrono::seconds kResumes{10};
// Of the workers in these tests.
inline constexpr std::chrono::milliseconds kPoll{500};

// Waits for a time to pass, where what is tested is that something lasts.
inline void last(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  eventually([end] { return std::chrono::steady_clock::now() >= end; }, 2 * time);
}

// Calls `act` in even steps until the time is over.
template <class Act>
void repeatedly(std::chrono::milliseconds step, std::chrono::milliseconds time, Act act) {
  const auto begin = std::chrono::steady_clock::now();
  auto next = begin;
  eventually(
      [&] {
        const auto now = std::chrono::steady_clock::now();
        if (now >= next) {
          act();
          next += step;
        }
        return now >= begin + time;
      },
      2 * time);
}

// Runs of handlers in this process, as expect_all_done() wants them.
inline std::map<std::string, std::vector<std::string>> by_id(const Runs& runs) {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& id : runs.all()) all[id].emplace_back("here");
  return all;
}

// Keeps a queue from running empty, from a thread and a client of its own.
class Feed {
 public:
  Feed(Client client, const std::string& name, std::string data = "x")
      : queue_(client, name), data_(std::move(data)), thread_([this] { run(); }) {}
  ~Feed() { stop(); }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // The ids of all that was added.
  const std::vector<std::string>& stop() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
    return ids_;
  }

 private:
  void run() {
    constexpr std::int64_t kEnough = 100;
    while (!ending_) {
      const auto counts = queue_.counts();
      if (counts && counts->waiting >= kEnough) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      auto added = queue_.add_bulk(std::vector<NewJob<>>(20, {data_, {}}));
      if (!added) continue;
      for (auto& id : *added)
        if (id) ids_.push_back(*std::move(id));
    }
  }

  Queue<> queue_;
  std::string data_;
  std::vector<std::string> ids_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

class Chaos : public LibraryTest {
 protected:
  explicit Chaos(TestServer& on = shared_server()) : LibraryTest(on) {}

  // With little patience, so that tests need little too. Its connections bear the queue's name.
  [[nodiscard]] ClientOptions hasty() const {
    auto how = options();
    how.name = name;
    how.connect_timeout = std::chrono::seconds(1);
    how.command_timeout = std::chrono::seconds(1);
    return how;
  }
  // A client behind the proxy.
  [[nodiscard]] Client far() const { return far(hasty()); }
  [[nodiscard]] Client far(const ClientOptions& how) const {
    return connect(proxy.url(), how).value();
  }

  static WorkerOptions steady(unsigned concurrency = 4) {
    WorkerOptions how;
    how.concurrency = concurrency;
    how.poll = kPoll;
    how.keep_completed = Keep::all();
    return how;
  }

  // Does a worker of a client with this name block on its marker?
  bool blocks(const std::string& client_name) {
    const auto list = redis({"CLIENT", "LIST"}).text;
    const auto look_for = " name=" + client_name + ":block ";
    for (auto at = list.find(look_for); at != std::string::npos; at = list.find(look_for, at + 1)) {
      const auto line = list.substr(at, list.find('\n', at) - at);
      if (line.find(" cmd=bzpopmin") != std::string::npos &&
          line.find(" flags=b") != std::string::npos)
        return true;
    }
    return false;
  }

  // Everything that was added is done, once each but for recorded recoveries (`crashes` at most of
  // a job).
  void expect_done(const std::vector<std::string>& ids, const Runs& runs, unsigned crashes = 0) {
    EXPECT_TRUE(eventually(
        [&] { return queue.counts().value_or({}).completed == std::int64_t(ids.size()); },
        kResumes))
        << "of " << ids.size() << ": " << counts_text() << "\n"
        << log.text();
    auto fresh = server.connect();  // the server may have been away
    expect_all_done(fresh, queue, ids, by_id(runs), crashes);
  }

  std::string counts_text() {
    const auto now = queue.counts();
    if (!now) return now.error().message();
    return "waiting " + std::to_string(now->waiting) + ", active " + std::to_string(now->active) +
           ", delayed " + std::to_string(now->delayed) + ", completed " +
           std::to_string(now->completed) + ", failed " + std::to_string(now->failed);
  }

  // A second queue, seen by the test's own client, with the runs of its jobs.
  class OtherQueue {
   public:
    explicit OtherQueue(Chaos& test) : test_(test) {}
    ~OtherQueue() {
      if (&test_.server == &shared_server()) delete_queue(test_.redis, name);
    }
    OtherQueue(const OtherQueue&) = delete;
    OtherQueue& operator=(const OtherQueue&) = delete;

    void expect_done(const std::vector<std::string>& ids) {
      EXPECT_TRUE(eventually(
          [&] { return queue.counts().value_or({}).completed == std::int64_t(ids.size()); },
          kResumes));
      auto fresh = test_.server.connect();
      expect_all_done(fresh, queue, ids, by_id(runs), 0);
    }

   private:
    Chaos& test_;

   public:
    const std::string name = test_.name + ".other";
    Queue<> queue{test_.client, name};
    Runs runs{};
  };

  // A worker that is busy and an idle one of another queue, each on a client of its own that
  // `connected` makes. Both are at their places when this is made.
  class BusyAndIdle {
   public:
    using Connected = std::function<Client(const ClientOptions&)>;
    using Handler = std::function<void(Job<>&)>;  // of the busy one, which notes its runs itself

    BusyAndIdle(Chaos& test, const Connected& connected, ClientOptions client,
                const WorkerOptions& how, Handler handler)
        : idle(test),
          busy_client_(connected(client)),
          idle_client_(connected(with_name(std::move(client), idle.name))),
          far_idle_(idle_client_, idle.name),
          far_busy_(busy_client_, test.name) {
      EXPECT_TRUE(far_idle_.open());
      idler_.emplace(far_idle_, how, [this](Job<>& job) { idle.runs.note(job.id()); });
      EXPECT_TRUE(eventually([&] { return test.blocks(idle.name); }, kResumes)) << test.log.text();
      worker_.emplace(far_busy_, how, [this, handler = std::move(handler)](Job<>& job) {
        runs.note(job.id());
        handler(job);
      });
    }
    BusyAndIdle(const BusyAndIdle&) = delete;
    BusyAndIdle& operator=(const BusyAndIdle&) = delete;

    void expect_at_work() {
      EXPECT_TRUE(worker_->status());
      EXPECT_TRUE(idler_->status());
    }

    OtherQueue idle;
    Runs runs{};  // of the busy one

   private:
    static ClientOptions with_name(ClientOptions client, const std::string& client_name) {
      client.name = client_name;
      return client;
    }

    Client busy_client_;
    Client idle_client_;
    Queue<> far_idle_;
    Queue<> far_busy_;
    std::optional<Worker> idler_;
    std::optional<Worker> worker_;
  };

  ChaosProxy proxy{server};
};

// The same on a server that the test may kill, fill and demote.
class ChaosOnItsOwnServer : private detail::ServerFirst, public Chaos {
 protected:
  explicit ChaosOnItsOwnServer(ServerOptions with = {})
      : detail::ServerFirst{TestServer(std::move(with))}, Chaos(own) {}
};

}  // namespace echomq::test
