// SPDX-License-Identifier: MIT
#include "client/client_core.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/number.h"
#include "protocol/dispatch.h"
#include "protocol/refusal.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

// Errors that no further attempt will cure.
bool is_final(ErrorCode code) {
  return code == ErrorCode::denied || code == ErrorCode::server_too_old ||
         code == ErrorCode::config || code == ErrorCode::invalid_url ||
         code == ErrorCode::server_error || code == ErrorCode::tls;
}

}  // namespace

ClientCore::ClientCore(wire::Endpoint endpoint, ClientOptions options,
                       std::shared_ptr<wire::TlsContext> tls)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      tls_(std::move(tls)),
      loop_(std::make_shared<wire::Loop>()),
      node_(*this),
      durable_(std::make_shared<DurableLane>(*this)) {}

Result<std::shared_ptr<ClientCore>> ClientCore::connect(wire::Endpoint endpoint,
                                                        ClientOptions options) {
  std::shared_ptr<wire::TlsContext> tls;
  if (endpoint.tls) {
    auto made = wire::TlsContext::make(options.tls, endpoint.host);
    if (!made) return made.error();
    tls = *std::move(made);
  }
  auto core = std::make_shared<ClientCore>(std::move(endpoint), std::move(options), std::move(tls));
  auto connected = core->wait_for<bool>([core](Function<void(Result<bool>)> done) {
    core->start([done = std::move(done)](Result<void> result) mutable {
      if (result)
        done(true);
      else
        done(result.error());
    });
  });
  if (!connected) return connected.error();
  return core;
}

void ClientCore::start(Function<void(Result<void>)> connected) {
  starting_ = std::move(connected);
  main_ = make_lane("");
  main_->on_ready = [weak = weak_from_this()](const wire::ServerInfo& info) {
    if (auto self = weak.lock()) self->ready(info);
  };
  main_->on_down = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) self->went_down(why);
  };
  main_->on_state = [weak = weak_from_this()](ConnectionState state, const std::string& why) {
    auto self = weak.lock();
    if (!self) return;
    self->state_ = state;
    if (self->options_.on_state) self->options_.on_state(state, why);
  };
  start_deadline_ = loop_->after(options_.connect_timeout, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self || !self->starting_) return;
    self->finish_start(self->start_problem_.value_or(
        Error{ErrorCode::timeout,
              "no answer from " + to_string(self->endpoint_) + " within the connect timeout",
              {{"url", to_string(self->endpoint_)}}}));
  });
  main_->start();
}

void ClientCore::finish_start(Result<void> result) {
  if (!starting_) return;
  start_deadline_->cancel();
  auto starting = std::move(starting_);
  starting_ = nullptr;
  if (!result) {
    main_->close();
    closed_ = true;
  } else {
    tick();
  }
  starting(std::move(result));
}

void ClientCore::ready(const wire::ServerInfo& info) {
  ++contact_;
  kill_denied_ = info.kill_denied;
  {
    const std::lock_guard lock(mutex_);
    if (info.run_id != run_id_) clock_.reset();
    version_ = info.version;
    run_id_ = info.run_id;
  }
  const bool first = static_cast<bool>(starting_);
  log(LogLevel::info, "connected to " + to_string(endpoint_) + ", server " + info.version);
  sample_clock(3, [weak = weak_from_this(), first] {
    auto self = weak.lock();
    if (!self) return;
    if (first) {
      self->node_.with([self](Result<void> result) {
        // Lost on the way: the next connection asks again, while there is time.
        if (!result && result.error().unknown_outcome()) return;
        self->finish_start(std::move(result));
      });
      return;
    }
    call_hooks(self->reconnect_hooks_);
  });
}

void ClientCore::went_down(const Error& why) {
  ++contact_;
  log(LogLevel::warning, why.message());
  if (!starting_) return;
  start_problem_ = why;
  if (is_final(why.code)) finish_start(why);
}

void ClientCore::sample_clock(int samples, Function<void()> then) {
  auto bytes = wire::command({"TIME"});
  const auto sent = monotonic_us();
  main_->send(std::move(bytes), options_.command_timeout,
              [weak = weak_from_this(), sent, samples,
               then = std::move(then)](Result<wire::Reply> reply) mutable {
                auto self = weak.lock();
                if (!self || !reply) return;
                if (!reply->is_error() && reply->items.size() == 2) {
                  const auto server = to_number<std::int64_t>(reply->items[0].text) * 1'000'000 +
                                      to_number<std::int64_t>(reply->items[1].text);
                  const auto now = monotonic_us();
                  self->clock_.sample(sent, now, server);
                  self->clock_offset_us_ =
                      self->clock_.now_ms(now) * 1'000 - now + self->jumped_us_;
                } else if (!self->clock_.ready()) {
                  // An ACL denies TIME: the local clock is the best estimate that is left.
                  const auto now = monotonic_us();
                  self->clock_offset_us_ = std::chrono::duration_cast<std::chrono::microseconds>(
                                               std::chrono::system_clock::now().time_since_epoch())
                                               .count() -
                                           now + self->jumped_us_;
                }
                if (samples > 1)
                  self->sample_clock(samples - 1, std::move(then));
                else if (then)
                  then();
              });
}

std::int64_t ClientCore::now_ms() const {
  return (monotonic_us() + clock_offset_us_.load()) / 1'000;
}

// Signs of life: the node id is renewed three times within its lease, and the clock looked at
// again.
void ClientCore::tick() {
  tick_ = loop_->after(options_.node_lease / 3, [weak = weak_from_this()] {
    if (auto self = weak.lock(); self && !self->closed_) self->tick();
  });
  if (!main_->ready()) return;
  sample_clock(1, nullptr);
  node_.renew();
}

void ClientCore::close() {
  if (loop_->inside()) {
    closed_ = true;
    durable_->close();
    if (main_) main_->close();
    return;
  }
  (void)wait_for<bool>([this](Function<void(Result<bool>)> done) {
    if (closed_) return done(true);
    closed_ = true;
    durable_->close();
    node_.give_back([this, done = std::move(done)]() mutable {
      if (main_) main_->close();
      if (tick_) tick_->cancel();
      done(true);
    });
  });
}

ClientCore::~ClientCore() {
  if (!loop_->inside()) {
    close();
    return;
  }
  // The last handle went inside a callback: say goodbye and let the loop end after the answer.
  if (tick_) tick_->cancel();
  durable_->close();
  if (closed_ || !main_) return;
  node_.give_back([loop = loop_, main = main_] { main->close(); });
}

std::string ClientCore::run_id() const {
  const std::lock_guard lock(mutex_);
  return run_id_;
}

std::string ClientCore::server_version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void ClientCore::log(LogLevel level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

// One line for a worker that meets it at each claim, not one for each claim. What is not there is
// opened anew, and no news.
void ClientCore::met_fence(const std::string& queue, const Error& fence) {
  if (fence.code != ErrorCode::fence || protocol::is_absent(fence)) return;
  const auto* const found = fence.field("found");
  auto& known = fenced_[queue];
  if (found == nullptr || known == *found) return;
  known = *found;
  log(LogLevel::warning, fence.message());
  if (options_.on_fence) options_.on_fence(fence);
}

void ClientCore::run_callback(Task task) const {
  if (!options_.post) return task();
  auto shared = std::make_shared<Task>(std::move(task));
  options_.post([shared] { (*shared)(); });
}

// One that is larger than the limit goes through when it is alone.
bool ClientCore::take_buffer(std::size_t bytes) {
  const auto before = buffered_.fetch_add(bytes);
  if (before == 0 || before + bytes <= options_.buffer_limit) return true;
  buffered_ -= bytes;
  return false;
}

std::shared_ptr<void> ClientCore::shared_by_name(
    std::string_view name, const std::function<std::shared_ptr<void>()>& make) {
  const std::lock_guard lock(mutex_);
  if (const auto it = by_name_.find(name); it != by_name_.end())
    if (auto shared = it->second.lock()) return shared;
  auto made = make();
  by_name_.insert_or_assign(std::string(name), made);
  return made;
}

bool is_not_ready(std::string_view error_reply) noexcept {
  constexpr std::array<std::string_view, 4> kWords{"LOADING ", "CLUSTERDOWN ", "MASTERDOWN ",
                                                   "TRYAGAIN "};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return error_reply.starts_with(word); });
}

bool is_weather(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout ||
         code == ErrorCode::connection_lost || code == ErrorCode::loading;
}

void ClientCore::call(ScriptCall call, std::string_view queue, std::string_view probe,
                      Function<void(Result<wire::Reply>)> done) {
  this->call(std::move(call), queue, probe, options_.command_timeout, std::move(done));
}

void ClientCore::call(ScriptCall call, std::string_view queue, std::string_view probe,
                      milliseconds timeout, Function<void(Result<wire::Reply>)> done) {
  protocol::dispatch(
      main_, std::move(call), timeout,
      [weak = weak_from_this(), queue = std::string(queue), probe = std::string(probe),
       done = std::move(done)](Result<wire::Reply> reply) mutable {
        const auto self = weak.lock();
        if (reply && !reply->is_error() && self) self->met_no_fence(queue);
        if (!reply || !reply->is_error()) return done(std::move(reply));
        auto error = protocol::refusal(reply->text, queue, probe);
        if (self) self->met_fence(queue, error);
        if (is_not_ready(reply->text)) error.code = ErrorCode::loading;
        done(std::move(error));
      });
}

void ClientCore::command(std::string bytes, wire::Answer done) {
  main_->send(std::move(bytes), options_.command_timeout, std::move(done));
}

std::shared_ptr<wire::Connection> ClientCore::make_lane(const std::string& purpose) {
  return wire::Connection::make(*loop_, {.endpoint = endpoint_,
                                         .client_name = options_.name + purpose,
                                         .connect_timeout = options_.connect_timeout,
                                         .allow_eviction = options_.allow_eviction,
                                         .tls = tls_});
}

std::shared_ptr<ClientCore::Hook> ClientCore::keep_hook(Hooks& hooks, Hook hook) {
  auto token = std::make_shared<Hook>(std::move(hook));
  std::erase_if(hooks, [](const auto& old) { return old.expired(); });
  hooks.push_back(token);
  return token;
}

// What a hook does may add or drop others.
void ClientCore::call_hooks(const Hooks& hooks) {
  auto present = hooks;
  for (auto& hook : present)
    if (auto alive = hook.lock()) (*alive)();
}

std::shared_ptr<ClientCore::Hook> ClientCore::on_reconnect(Hook hook) {
  return keep_hook(reconnect_hooks_, std::move(hook));
}

std::shared_ptr<ClientCore::Hook> ClientCore::on_jump(Hook hook) {
  return keep_hook(jump_hooks_, std::move(hook));
}

std::shared_ptr<ClockGroup> ClientCore::follow(const std::shared_ptr<ClockGroup>& clock) {
  const std::lock_guard lock(mutex_);
  if (!test_clock_) test_clock_ = clock;
  return test_clock_;
}

// The node id looks as if its holder had been silent for so long: it is renewed before anyone else
// wants it.
void ClientCore::jump(milliseconds ahead) {
  const auto us = std::chrono::microseconds(ahead).count();
  jumped_us_ += us;
  clock_offset_us_ += us;
  if (main_ && main_->ready()) node_.renew();
  call_hooks(jump_hooks_);
}

bool ClientCore::take_crash_permit() {
  if (crash_permit_taken_) return false;
  crash_permit_taken_ = true;
  return true;
}

void ClientCore::give_crash_permit() {
  crash_permit_taken_ = false;
  const auto waiters = std::exchange(permit_waiters_, {});
  for (const auto& waiter : waiters)
    if (auto hook = waiter.lock()) (*hook)();
}

void ClientCore::await_crash_permit(const std::shared_ptr<Hook>& hook) {
  if (!crash_permit_taken_) return (*hook)();
  // Once, however often it asks.
  std::erase_if(permit_waiters_, [&hook](const auto& waiter) {
    const auto other = waiter.lock();
    return other == nullptr || other == hook;
  });
  permit_waiters_.push_back(hook);
}

}  // namespace echomq::inline v2
