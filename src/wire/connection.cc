// SPDX-License-Identifier: MIT
#include "wire/connection.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <utility>

#include "base/clock.h"
#include "wire/stream.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffFirst{50};
constexpr milliseconds kBackoffMost{2'000};
constexpr milliseconds kDeadlineCheck{25};

class StreamConnection final : public Connection,
                               public std::enable_shared_from_this<StreamConnection> {
 public:
  StreamConnection(Loop& loop, ConnectionOptions options)
      : loop_(loop), options_(std::move(options)), random_(std::random_device{}()) {}

  void start() override { connect(); }

  void close() override {
    if (state_ == State::closed) return;
    enter(State::closed);
    on_ready = nullptr;
    on_down = nullptr;
    on_state = nullptr;
    shut_stream();
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

  void enter(State state, const std::string& why = "") {
    state_ = state;
    if (!on_state) return;
    on_state(state == State::ready         ? ConnectionState::ready
             : state == State::backing_off ? ConnectionState::down
             : state == State::closed      ? ConnectionState::closed
                                           : ConnectionState::connecting,
             why);
  }

  static Error closed_error() {
    return {ErrorCode::closed, "the client was closed before the command was sent", {}};
  }

  void connect() {
    enter(State::connecting);
    ++generation_;
    const auto generation = generation_;
    stream_ = Stream::make(loop_, options_.endpoint, options_.tls);
    attempt_ = loop_.after(options_.connect_timeout, [self = shared_from_this(), generation] {
      if (self->generation_ == generation &&
          (self->state_ == State::connecting || self->state_ == State::greeting))
        self->down(self->unavailable("no answer within the connect timeout"));
    });
    stream_->connect([self = shared_from_this(), generation](Result<void> connected) {
      if (self->generation_ != generation || self->state_ != State::connecting) return;
      if (connected) return self->greet();
      const auto& why = connected.error();
      self->down(why.code == ErrorCode::tls ? self->untrusted(why.detail)
                                            : self->unavailable(why.detail));
    });
  }

  void greet() {
    state_ = State::greeting;
    greeted_.reset();
    parser_ = RespParser();
    say_hello();
    read();
  }

  void say_hello() {
    greetings_.clear();
    hello_ = handshake(options_.endpoint, options_.client_name, resp2_);
    out_ += hello_.bytes;
    flush();
  }

  void greeted(Reply reply) {
    if (greeted_) {
      greeted_->kill_denied = is_denied(reply);
      return come_up(*std::move(greeted_));
    }
    greetings_.push_back(std::move(reply));
    if (greetings_.size() < hello_.said.size()) return;
    if (!resp2_ && lacks_hello(greetings_.front().text)) {
      resp2_ = true;
      return say_hello();
    }
    auto info = judge_handshake(hello_, greetings_, options_.allow_eviction);
    greetings_.clear();
    if (!info) return down(info.error());
    const auto left = leftover(server_, *info);
    info->kill_denied = left == Leftover::unknown;
    if (left != Leftover::connection) return come_up(*std::move(info));
    greeted_ = *std::move(info);
    out_ += kill_command(server_.client_id);
    flush();
  }

  void come_up(ServerInfo info) {
    server_ = std::move(info);
    enter(State::ready);
    failures_ = 0;
    attempt_->cancel();
    if (on_ready) on_ready(server_);
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
    auto bytes = std::move(out_);
    out_.clear();
    stream_->write(std::move(bytes), [self = shared_from_this(), generation = generation_](
                                         std::error_code error, std::size_t) {
      if (!self->current(generation)) return;
      self->writing_ = false;
      // Why a TLS server hung up in the greeting it has said before, and the read gets that.
      if (error && self->state_ == State::greeting && self->options_.tls) return;
      if (error) return self->down(self->lost(error));
      self->flush();
    });
  }

  void read() {
    stream_->read_some(input_.data(), input_.size(),
                       [self = shared_from_this(), generation = generation_](std::error_code error,
                                                                             std::size_t size) {
                         if (!self->current(generation)) return;
                         if (error) return self->down(self->lost(error));
                         self->last_heard_ = monotonic_ms();
                         self->parser_.feed({self->input_.data(), size});
                         self->take_replies(generation);
                         if (self->current(generation)) self->read();
                       });
  }

  // Whether an answer of the stream of that generation still concerns us.
  [[nodiscard]] bool current(std::uint64_t generation) const {
    return generation_ == generation && stream_ != nullptr;
  }

  void take_replies(std::uint64_t generation) {
    while (current(generation)) {
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
    enter(State::backing_off, why.detail);
    last_problem_ = why;
    shut_stream();
    if (attempt_) attempt_->cancel();
    retry_ = loop_.after(next_backoff(), [self = shared_from_this()] {
      if (self->state_ == State::backing_off) self->connect();
    });
    fail_written({ErrorCode::connection_lost,
                  why.detail + "; the command was in flight: outcome unknown", why.fields});
    if (on_down) on_down(why);
  }

  void shut_stream() {
    if (stream_) std::exchange(stream_, nullptr)->close();
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

  // A server that asks for a certificate and gets none says so in the middle of the greeting.
  Error lost(const std::error_code& error) const {
    if (state_ == State::greeting && is_tls_error(error)) return untrusted(error.message());
    return lost(error.message());
  }

  Error untrusted(const std::string& why) const {
    return {ErrorCode::tls,
            "no trusted connection to " + to_string(options_.endpoint) + ": " + why,
            {{"url", to_string(options_.endpoint)}}};
  }

  Error lost(const std::string& why) const {
    return {ErrorCode::connection_lost,
            "lost the connection to " + to_string(options_.endpoint) + ": " + why,
            {{"url", to_string(options_.endpoint)}}};
  }

  Loop& loop_;
  ConnectionOptions options_;
  std::shared_ptr<Stream> stream_;
  State state_ = State::idle;
  std::uint64_t generation_ = 0;
  ServerInfo server_;  // of the last connection that came up
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
  Handshake hello_;
  std::optional<ServerInfo> greeted_;  // of this one, which is ending what is left of the last
  bool resp2_ = false;                 // this server, or what stands before it, has no HELLO
  milliseconds last_heard_{0};
  std::optional<Error> last_problem_;
};

}  // namespace

std::shared_ptr<Connection> Connection::make(Loop& loop, ConnectionOptions options) {
  return std::make_shared<StreamConnection>(loop, std::move(options));
}

}  // namespace echomq::inline v2::wire
