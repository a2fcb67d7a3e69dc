// SPDX-License-Identifier: MIT
// In a program that is built around an Asio loop: what EchoMQ answers arrives as a task of that
// loop, between its other tasks, so that nothing needs a lock. ClientOptions::post is all it takes;
// the library has a loop of its own for its connection and never touches this one by itself.
//
// Usage: asio_loop [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "echomq/echomq.h"

namespace {

using namespace std::chrono_literals;

// Adds one job every few milliseconds, as a service would for each request that comes in.
class Producer {
 public:
  Producer(asio::io_context& loop, echomq::Queue<>& queue, int count, std::function<void()> done)
      : timer_(loop),
        queue_(queue),
        answers_(loop.get_executor()),
        left_(count),
        done_(std::move(done)) {}

  void tick() {
    if (left_ == 0) return finish_when_answered();
    --left_;
    ++missing_;
    queue_.async_add("request", {}, [this](const echomq::Result<echomq::AddedJob>& id) {
      if (std::this_thread::get_id() != loop_thread_) std::abort();
      if (id)
        ++added_;
      else
        std::fprintf(stderr, "%s\n", id.error().message().c_str());
      --missing_;
      finish_when_answered();
    });
    timer_.expires_after(2ms);
    timer_.async_wait([this](std::error_code error) {
      if (!error) tick();
    });
  }
  // Adds no more; what is on its way is waited for.
  void stop() { left_ = 0; }
  [[nodiscard]] int added() const { return added_; }

 private:
  void finish_when_answered() {
    if (left_ > 0 || missing_ > 0 || !answers_.owns_work()) return;
    answers_.reset();
    done_();
  }

  asio::steady_timer timer_;
  echomq::Queue<>& queue_;
  // While answers are owed, the loop must not end: they are posted to it.
  asio::executor_work_guard<asio::io_context::executor_type> answers_;
  const std::thread::id loop_thread_ = std::this_thread::get_id();
  // No atomics and no locks: all of this is touched by the loop's thread alone.
  int left_;
  int missing_ = 0;
  int added_ = 0;
  std::function<void()> done_;
};

}  // namespace

int main(int argc, char** argv) try {
  asio::io_context loop{1};
  asio::signal_set signals(loop, SIGTERM, SIGINT);  // first of all, so that none is missed
  echomq::ClientOptions options;
  options.post = [&loop](std::function<void()> task) { asio::post(loop, std::move(task)); };
  auto mq =
      echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env(), std::move(options)).value();
  echomq::Queue<> requests{mq, "requests"};

  // Handlers run on the worker's own threads, and hand over to the loop what concerns it.
  int finished = 0;
  std::optional<echomq::Worker> worker{
      std::in_place, requests, echomq::WorkerOptions{.concurrency = 4},
      [&](echomq::Job<>&) { asio::post(loop, [&finished] { ++finished; }); }};

  // Shutting down waits for handlers, so it must not happen on the loop that they post to.
  std::thread stopping;
  Producer producer(loop, requests, 50, [&] {
    signals.cancel();
    stopping = std::thread([&worker] { worker.reset(); });
  });
  signals.async_wait([&](std::error_code error, int) {
    if (!error) producer.stop();
  });

  producer.tick();
  loop.run();  // ends when nothing is left to do: no timer, no signal waited for
  stopping.join();
  loop.restart();
  loop.run();  // what handlers posted meanwhile
  std::printf("%d added, %d finished before the stop\n", producer.added(), finished);
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "asio_loop: %s\n", problem.what());
  return 1;
}
