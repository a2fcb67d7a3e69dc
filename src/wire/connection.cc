// SPDX-License-Identifier: MIT
#include "wire/connection.h"

#include "wire/asio_throw.h"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <deque>
#include <random>
#include <utility>

#include "base/clock.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;
using Socket = asio::generic::stream_protocol::socket;

constexpr milliseconds kBackoffFirst{50};
constexpr milliseconds kBackoffMost{2'000};
constexpr milliseconds kDeadlineCheck{25};

class StreamConnection final : public Connection,
                               public std::enable_shared_from_this<StreamConnection> {
 public:
  StreamConnection(Loop& loop, ConnectionOptions options)
      : loop_(loop),
        options_(std::move(options)),
        resolver_(loop.context()),
        random_(std::random_device{}()) {}

  void start() override { connect(); }

  void close() override {
    if (state_ == State::closed) return;
    state_ = State::closed;
    on_ready = nullptr;
    on_down = nullptr;
    shut_socket();
    if (retry_) retry_->cancel();
    if (deadlines_) deadlines_->cancel();
    fail_written({ErrorCode::connection_lost,
                  "the client was closed while the command was in flight: outcome unknown",
                  {}});
    auto waiting = std::move(waiting_);
    waiting_.clear();
    for (auto& command : waiting) command.answer(closed_error());
  }

  void drop(const std::string& why) override {
    if (state_ == State::ready || state_ == State::greeting)
      down({ErrorCode::connection_lost, why, {}});
  }

  void send(std::string bytes, milliseconds timeout, Answer answer) override {
    if (state_ == State::closed) {
      loop_.post([answer = std::move(answer)]() mutable { answer(closed_error()); });
      return;
    }
    Command command{std::move(bytes), monotonic_ms() + timeout, std::move(answer)};
    if (state_ == State::ready)
      write(std::move(command));
    else
      waiting_.push_back(std::move(command));
    watch_deadlines();
  }

  [[nodiscard]] bool ready() const override { return state_ == State::ready; }
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }

 private:
  enum class State { idle, connecting, greeting, ready, backing_off, closed };

  struct Command {
    std::string bytes;
    milliseconds deadline;
    Answer answer;
  };
  struct Written {
    milliseconds deadline;
    milliseconds at;
    Answer answer;  // empty once it has given up: the reply is still owed by the socket
  };

  static Error closed_error() {
    return {ErrorCode::closed, "the client was closed before the command was sent", {}};
  }

  void connect() {
    state_ = State::connecting;
    ++generation_;
    const auto generation = generation_;
    socket_ = std::make_shared<Socket>(loop_.context());
    attempt_ = loop_.after(options_.connect_timeout, [self = shared_from_this(), generation] {
      if (self->generation_ == generation &&
          (self->state_ == State::connecting || self->state_ == State::greeting))
        self->down(self->unavailable("no answer within the connect timeout"));
    });
    if (options_.endpoint.unix_socket) {
      connect_to(asio::local::stream_protocol::endpoint(options_.endpoint.path), generation);
      return;
    }
    resolver_.async_resolve(
        options_.endpoint.host, std::to_string(options_.endpoint.port),
        [self = shared_from_this(), generation](std::error_code error, auto found) {
          if (self->generation_ != generation || self->state_ != State::connecting) return;
          if (error) return self->down(self->unavailable(error.message()));
          self->candidates_.assign(found.begin(), found.end());
          self->connect_next(generation);
        });
  }

  // A name may stand for several addresses: one after the other.
  void connect_next(std::uint64_t generation) {
    const auto endpoint = candidates_.front().endpoint();
    candidates_.pop_front();
    connect_to(endpoint, generation);
  }

  void connect_to(const Socket::endpoint_type& endpoint, std::uint64_t generation) {
    socket_->async_connect(
        endpoint, [self = shared_from_this(), generation](std::error_code error) {
          if (self->generation_ != generation || self->state_ != State::connecting) return;
          if (error && !self->candidates_.empty()) {
            self->socket_ = std::make_shared<Socket>(self->loop_.context());
            return self->connect_next(generation);
          }
          if (error) return self->down(self->unavailable(error.message()));
          self->greet();
        });
  }

  void greet() {
    state_ = State::greeting;
    candidates_.clear();
    if (!options_.endpoint.unix_socket) {
      std::error_code ignored;
      socket_->set_option(asio::ip::tcp::no_delay(true), ignored);
      socket_->set_option(asio::socket_base::keep_alive(true), ignored);
    }
    parser_ = RespParser();
    greetings_.clear();
    auto hello = handshake(options_.endpoint, options_.client_name, client_id_);
    greetings_expected_ = hello.replies;
    out_ = std::move(hello.bytes);
    flush();
    read();
  }

  void greeted(Reply reply) {
    greetings_.push_back(std::move(reply));
    if (greetings_.size() < greetings_expected_) return;
    auto info = judge_handshake(greetings_, options_.allow_eviction);
    greetings_.clear();
    if (!info) return down(info.error());
    client_id_ = info->client_id;
    state_ = State::ready;
    failures_ = 0;
    attempt_->cancel();
    if (on_ready) on_ready(*info);
    if (state_ != State::ready) return;
    auto waiting = std::move(waiting_);
    waiting_.clear();
    for (auto& command : waiting) write(std::move(command));
  }

  void write(Command command) {
    out_ += command.bytes;
    written_.push_back({command.deadline, monotonic_ms(), std::move(command.answer)});
    if (flush_posted_ || writing_) return;
    // Posted, so that everything that this turn of the loop sends leaves in one write.
    flush_posted_ = true;
    loop_.post([self = shared_from_this()] {
      self->flush_posted_ = false;
      self->flush();
    });
  }

  void flush() {
    if (writing_ || out_.empty() || (state_ != State::ready && state_ != State::greeting)) return;
    writing_ = true;
    auto bytes = std::make_shared<std::string>(std::move(out_));
    out_.clear();
    asio::async_write(*socket_, asio::buffer(*bytes),
                      [self = shared_from_this(), bytes, socket = socket_,
                       generation = generation_](std::error_code error, std::size_t) {
                        if (self->generation_ != generation || self->socket_ != socket) return;
                        self->writing_ = false;
                        if (error) return self->down(self->lost(error.message()));
                        self->flush();
                      });
  }

  void read() {
    socket_->async_read_some(asio::buffer(input_),
                             [self = shared_from_this(), socket = socket_,
                              generation = generation_](std::error_code error, std::size_t size) {
                               if (self->generation_ != generation || self->socket_ != socket)
                                 return;
                               if (error) return self->down(self->lost(error.message()));
                               self->last_heard_ = monotonic_ms();
                               self->parser_.feed({self->input_.data(), size});
                               self->take_replies(generation);
                               if (self->generation_ == generation && self->socket_ == socket)
                                 self->read();
                             });
  }

  void take_replies(std::uint64_t generation) {
    while (generation_ == generation && socket_) {
      auto next = parser_.next();
      if (!next) return down(lost(next.error().detail));
      if (!*next) return;
      Reply reply = **std::move(next);
      if (reply.kind == Reply::Kind::push) continue;
      if (state_ == State::greeting) {
        greeted(std::move(reply));
      } else if (written_.empty()) {
        return down(lost("an answer that nothing asked for"));
      } else {
        auto answer = std::move(written_.front().answer);
        written_.pop_front();
        if (answer) answer(std::move(reply));
      }
    }
  }

  // The socket is gone, or was never there: what was written has an unknown outcome, the rest
  // waits.
  void down(const Error& why) {
    if (state_ == State::closed || state_ == State::backing_off) return;
    state_ = State::backing_off;
    last_problem_ = why;
    shut_socket();
    if (attempt_) attempt_->cancel();
    retry_ = loop_.after(next_backoff(), [self = shared_from_this()] {
      if (self->state_ == State::backing_off) self->connect();
    });
    fail_written({ErrorCode::connection_lost,
                  why.detail + "; the command was in flight: outcome unknown", why.fields});
    if (on_down) on_down(why);
  }

  void shut_socket() {
    if (socket_) {
      std::error_code ignored;
      socket_->close(ignored);
      socket_.reset();
    }
    resolver_.cancel();
    candidates_.clear();
    writing_ = false;
    out_.clear();
  }

  void fail_written(const Error& why) {
    auto written = std::move(written_);
    written_.clear();
    for (auto& command : written)
      if (command.answer) command.answer(why);
  }

  // The first attempt after a loss comes at once (with jitter, so that a fleet does not return in
  // step).
  milliseconds next_backoff() {
    auto most = kBackoffFirst * (1 << std::min(failures_, 6));
    most = std::min(most, kBackoffMost);
    ++failures_;
    std::uniform_int_distribution<std::int64_t> draw(most.count() / 2, most.count());
    return milliseconds(draw(random_));
  }

  void watch_deadlines() {
    if (deadlines_armed_) return;
    deadlines_armed_ = true;
    deadlines_ = loop_.after(kDeadlineCheck, [self = shared_from_this()] {
      self->deadlines_armed_ = false;
      self->check_deadlines();
    });
  }

  void check_deadlines() {
    if (state_ == State::closed) return;
    const auto now = monotonic_ms();
    std::vector<Answer> unsent;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (it->deadline > now) {
        ++it;
        continue;
      }
      unsent.push_back(std::move(it->answer));
      it = waiting_.erase(it);
    }
    std::vector<Answer> late;
    bool deaf = false;
    for (auto& command : written_) {
      if (!command.answer || command.deadline > now) continue;
      deaf = deaf || last_heard_ < command.at;
      late.push_back(std::move(command.answer));
      command.answer = nullptr;
    }
    for (auto& answer : unsent) answer(unavailable("not connected within the deadline"));
    for (auto& answer : late)
      answer(Error{ErrorCode::timeout,
                   "the server did not answer within the deadline: outcome unknown",
                   {}});
    if (deaf) drop("the server went silent past a deadline");
    if (!waiting_.empty() || !written_.empty()) watch_deadlines();
  }

  Error unavailable(const std::string& why) const {
    std::string detail = "no server at " + to_string(options_.endpoint) + ": " + why;
    if (last_problem_ && last_problem_->detail.find(why) == std::string::npos &&
        state_ != State::connecting)
      detail += " (last: " + last_problem_->detail + ")";
    return {ErrorCode::unavailable, detail, {{"url", to_string(options_.endpoint)}}};
  }

  Error lost(const std::string& why) const {
    return {ErrorCode::connection_lost,
            "lost the connection to " + to_string(options_.endpoint) + ": " + why,
            {{"url", to_string(options_.endpoint)}}};
  }

  Loop& loop_;
  ConnectionOptions options_;
  asio::ip::tcp::resolver resolver_;
  std::deque<asio::ip::tcp::resolver::results_type::value_type> candidates_;
  std::shared_ptr<Socket> socket_;
  State state_ = State::idle;
  std::uint64_t generation_ = 0;
  std::int64_t client_id_ = 0;
  int failures_ = 0;
  std::minstd_rand random_;
  std::shared_ptr<Loop::Timer> attempt_;
  std::shared_ptr<Loop::Timer> retry_;
  std::shared_ptr<Loop::Timer> deadlines_;
  bool deadlines_armed_ = false;

  std::deque<Command> waiting_;
  std::deque<Written> written_;
  std::string out_;
  bool writing_ = false;
  bool flush_posted_ = false;
  std::array<char, 65'536> input_{};
  RespParser parser_;
  std::vector<Reply> greetings_;
  std::size_t greetings_expected_ = 0;
  milliseconds last_heard_{0};
  std::optional<Error> last_problem_;
};

}  // namespace

std::shared_ptr<Connection> Connection::make(Loop& loop, ConnectionOptions options) {
  return std::make_shared<StreamConnection>(loop, std::move(options));
}

}  // namespace echomq::inline v2::wire
