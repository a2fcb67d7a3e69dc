// SPDX-License-Identifier: MIT
#include "probe/lane.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "wire/handshake.h"
#include "wire/stream.h"

namespace echomq::inline v2::probe {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{5'000};

}  // namespace

// Shared with the loop's thread, which may still answer when the Lane is gone.
struct Lane::State : std::enable_shared_from_this<State> {
  std::shared_ptr<wire::TlsContext> tls;
  std::shared_ptr<wire::Stream> stream;

  // On the loop only.
  // A line of MONITOR holds all words of a command.
  wire::RespParser parser{wire::RespLimits{.line = std::size_t{64} << 20}};
  std::array<char, 65'536> buffer;
  std::string unsent;
  bool writing = false;

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::deque<Reply> replies;
  std::string lost;
  bool connected = false;

  void give_up(const std::string& why) {
    {
      const std::lock_guard lock(mutex);
      if (lost.empty()) lost = why;
    }
    changed.notify_all();
    stream->close();
  }

  void read() {
    stream->read_some(buffer.data(), buffer.size(),
                      [self = shared_from_this()](std::error_code error, std::size_t count) {
                        if (error) return self->give_up(error.message());
                        self->parser.feed({self->buffer.data(), count});
                        if (self->take()) self->read();
                      });
  }

  // All whole replies; false when what came is none.
  bool take() {
    while (true) {
      auto next = parser.next();
      if (!next) {
        give_up(next.error().detail);
        return false;
      }
      if (!*next) return true;
      {
        const std::lock_guard lock(mutex);
        replies.push_back(std::move(**next));
      }
      changed.notify_all();
    }
  }

  void write() {
    if (writing || unsent.empty()) return;
    writing = true;
    stream->write(std::exchange(unsent, {}),
                  [self = shared_from_this()](std::error_code error, std::size_t) {
                    self->writing = false;
                    if (error) return self->give_up(error.message());
                    self->write();
                  });
  }

  void connect(wire::Loop& loop, const wire::Endpoint& endpoint) {
    stream = wire::Stream::make(loop, endpoint, tls);
    stream->connect([self = shared_from_this()](Result<void> done) {
      if (!done) return self->give_up(done.error().detail);
      {
        const std::lock_guard lock(self->mutex);
        self->connected = true;
      }
      self->changed.notify_all();
      self->read();
    });
  }
};

Result<std::unique_ptr<Lane>> Lane::open(const wire::Endpoint& endpoint, const TlsOptions& tls,
                                         const std::string& name) {
  auto state = std::make_shared<State>();
  if (endpoint.tls) {
    auto context = wire::TlsContext::make(tls, endpoint.host);
    if (!context) return context.error();
    state->tls = *std::move(context);
  }
  std::unique_ptr<Lane> lane(new Lane(state));
  lane->loop_.post([&loop = lane->loop_, state, endpoint] { state->connect(loop, endpoint); });
  {
    std::unique_lock lock(state->mutex);
    const bool in_time = state->changed.wait_for(
        lock, kConnectPatience, [&] { return state->connected || !state->lost.empty(); });
    if (!in_time || !state->connected)
      return Error{ErrorCode::unavailable,
                   to_string(endpoint) + " does not answer" +
                       (state->lost.empty() ? std::string() : ": " + state->lost),
                   {{"url", to_string(endpoint)}}};
  }
  const auto greeting = wire::handshake(endpoint, name, /*resp2=*/true);
  lane->send(greeting.bytes);
  std::vector<Reply> answers;
  for (std::size_t i = 0; i < greeting.said.size(); ++i) answers.push_back(lane->receive());
  if (!lane->lost().empty())
    return Error{ErrorCode::unavailable,
                 to_string(endpoint) + " was lost: " + lane->lost(),
                 {{"url", to_string(endpoint)}}};
  const auto server = wire::judge_handshake(greeting, answers, /*allow_eviction=*/true);
  if (!server) return server.error();
  return lane;
}

Lane::~Lane() {
  loop_.post([state = state_] {
    if (state->stream) state->stream->close();
  });
}

void Lane::send(std::string_view bytes) {
  loop_.post([state = state_, bytes = std::string(bytes)] {
    state->unsent += bytes;
    state->write();
  });
}

Reply Lane::receive(std::chrono::milliseconds deadline) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, deadline,
                           [this] { return !state_->replies.empty() || !state_->lost.empty(); });
  if (!state_->replies.empty()) {
    auto reply = std::move(state_->replies.front());
    state_->replies.pop_front();
    return reply;
  }
  // From here on no answer could be told from the one that did not come.
  if (state_->lost.empty()) state_->lost = "no answer in time";
  return {.kind = Reply::Kind::error, .text = "LOST " + state_->lost};
}

std::string Lane::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

}  // namespace echomq::inline v2::probe
