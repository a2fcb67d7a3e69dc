// SPDX-License-Identifier: MIT
#include "wire/loop.h"

#include "wire/asio_throw.h"

#include <pthread.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <thread>
#include <utility>

namespace echomq::inline v2::wire {

struct Loop::State {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
  std::thread::id id;
};

namespace {

class AsioTimer final : public Loop::Timer {
 public:
  explicit AsioTimer(asio::io_context& context) : timer(context) {}
  void cancel() override { timer.cancel(); }
  asio::steady_timer timer;
};

}  // namespace

Loop::Loop() : state_(std::make_shared<State>()) {
  // The thread takes no signals: they belong to the program, not to a library's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // The thread shares the state, because the last handle may be dropped by a task on this very
  // thread.
  state_->thread = std::thread([state = state_] { state->context.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state_->id = state_->thread.get_id();
}

Loop::~Loop() {
  state_->context.stop();
  if (inside())
    state_->thread.detach();
  else
    state_->thread.join();
}

void Loop::post(Task task) {
  asio::post(state_->context, [task = std::move(task)]() mutable { task(); });
}

bool Loop::inside() const noexcept { return std::this_thread::get_id() == state_->id; }

std::shared_ptr<Loop::Timer> Loop::after(std::chrono::milliseconds delay, Task task) {
  auto timer = std::make_shared<AsioTimer>(state_->context);
  timer->timer.expires_after(delay);
  timer->timer.async_wait([timer, task = std::move(task)](std::error_code cancelled) mutable {
    if (!cancelled) task();
  });
  return timer;
}

asio::io_context& Loop::context() noexcept { return state_->context; }

}  // namespace echomq::inline v2::wire
