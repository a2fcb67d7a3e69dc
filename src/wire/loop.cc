// SPDX-License-Identifier: MIT
#include "wire/loop.h"

#include "wire/asio_throw.h"

#include <pthread.h>

#include <openssl/ssl.h>

#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace echomq::inline v2::wire {

struct Loop::State {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
  std::thread::id id;
  std::atomic<bool> done{false};
};

namespace {

// Threads of loops whose last owner let go on the very thread, which cannot wait for itself. They
// end soon, but must have ended before the process destroys what they use: main() may return at
// any moment.
class Orphans {
 public:
  static Orphans& all() {
    static Orphans orphans;
    return orphans;
  }

  void adopt(std::thread thread, std::shared_ptr<const std::atomic<bool>> done) {
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, [](Orphan& orphan) {
      if (!*orphan.done) return false;
      orphan.thread.join();
      return true;
    });
    threads_.push_back({std::move(thread), std::move(done)});
  }

 private:
  struct Orphan {
    std::thread thread;
    std::shared_ptr<const std::atomic<bool>> done;
  };

  // What the threads use comes first, and so goes after them.
  Orphans() {
    OPENSSL_init_ssl(0, nullptr);
    (void)asio::error::get_system_category();
    (void)asio::error::get_netdb_category();
    (void)asio::error::get_addrinfo_category();
    (void)asio::error::get_misc_category();
  }
  ~Orphans() {
    for (auto& orphan : threads_) {
      if (orphan.thread.get_id() == std::this_thread::get_id())
        orphan.thread.detach();  // a callback called exit()
      else
        orphan.thread.join();
    }
  }

  std::mutex mutex_;
  std::vector<Orphan> threads_;
};

class AsioTimer final : public Loop::Timer {
 public:
  explicit AsioTimer(asio::io_context& context) : timer(context) {}
  void cancel() override { timer.cancel(); }
  asio::steady_timer timer;
};

}  // namespace

Loop::Loop() : state_(std::make_shared<State>()) {
  Orphans::all();  // now, so that it is older than whatever may depend on this loop
  // The thread takes no signals: they belong to the program, not to a library's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // The thread shares the state, because the last handle may be dropped by a task on this very
  // thread.
  state_->thread = std::thread([state = state_] {
    state->context.run();
    state->done = true;
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state_->id = state_->thread.get_id();
}

Loop::~Loop() {
  state_->context.stop();
  if (inside())
    Orphans::all().adopt(std::move(state_->thread), {state_, &state_->done});
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
