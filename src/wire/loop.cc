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
#include <chrono>
#include <condition_variable>
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

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool left = false;  // its owner went, on the very thread, which cannot wait for itself
  bool done = false;  // the thread is about to end

  void set(bool State::*flag) {
    const std::lock_guard lock(mutex);
    this->*flag = true;
    changed.notify_all();
  }
  bool wait(bool State::*flag, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this, flag] { return this->*flag; });
  }
};

namespace {

// All loops of the process. Their threads use statics (error categories, OpenSSL), which main()
// destroys when it returns: no thread may outlive that. Most are waited for by the owner of their
// loop; the others here.
class Loops {
 public:
  using Shared = std::shared_ptr<Loop::State>;

  // Never destroyed: a client may be a static that is older than this, and then goes later.
  static Loops& all() {
    static auto* const loops = new Loops;
    static const AtExit at_exit;
    return *loops;
  }

  void add(const Shared& loop) {
    const std::lock_guard lock(mutex_);
    std::erase_if(loops_, [](const Shared& old) {
      const bool over = old->wait(&Loop::State::left, milliseconds(0)) &&
                        old->wait(&Loop::State::done, milliseconds(0));
      if (over) old->thread.join();
      return over;
    });
    loops_.push_back(loop);
  }

  void remove(const Shared& loop) {
    const std::lock_guard lock(mutex_);
    std::erase(loops_, loop);
  }

 private:
  using milliseconds = std::chrono::milliseconds;

  struct AtExit {
    // What the threads use comes first, and so goes after them.
    AtExit() {
      OPENSSL_init_ssl(0, nullptr);
      (void)asio::error::get_system_category();
      (void)asio::error::get_netdb_category();
      (void)asio::error::get_addrinfo_category();
      (void)asio::error::get_misc_category();
    }
    ~AtExit() { all().finish(); }
  };

  // Waits for the threads that nobody else waits for: those that were left, and, for a moment,
  // those that are just being left. A client that still has an owner is the owner's to end.
  void finish() {
    const std::lock_guard lock(mutex_);
    for (const auto& loop : loops_) {
      if (loop->id == std::this_thread::get_id()) continue;  // a callback called exit()
      if (!loop->wait(&Loop::State::left, milliseconds(250))) continue;
      if (!loop->wait(&Loop::State::done, milliseconds(1'000))) loop->context.stop();
      if (loop->wait(&Loop::State::done, milliseconds(1'000))) loop->thread.join();
    }
  }

  std::mutex mutex_;
  std::vector<Shared> loops_;
};

class AsioTimer final : public Loop::Timer {
 public:
  explicit AsioTimer(asio::io_context& context) : timer(context) {}
  void cancel() override { timer.cancel(); }
  asio::steady_timer timer;
};

}  // namespace

Loop::Loop() : state_(std::make_shared<State>()) {
  Loops::all().add(state_);
  // The thread takes no signals: they belong to the program, not to a library's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // The thread shares the state, because the last handle may be dropped by a task on this very
  // thread.
  state_->thread = std::thread([state = state_] {
    state->context.run();
    state->set(&State::done);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state_->id = state_->thread.get_id();
}

Loop::~Loop() {
  state_->context.stop();
  if (inside()) {
    state_->set(&State::left);
  } else {
    state_->thread.join();
    Loops::all().remove(state_);
  }
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
