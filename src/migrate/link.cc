// SPDX-License-Identifier: MIT
#include "migrate/link.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bad_option.h"
#include "protocol/dispatch.h"
#include "protocol/refusal.h"
#include "wire/command.h"
#include "wire/tls.h"
#include "wire/url.h"

namespace echomq::inline v2::migrate {

struct Answers::State {
  std::mutex mutex;
  std::condition_variable arrived;
  Replies replies;
  std::size_t missing = 0;
  std::optional<Error> problem;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::chrono::milliseconds* longest = nullptr;
};

std::string command_of(const std::vector<std::string>& words) {
  std::string bytes;
  wire::append_header(bytes, words.size());
  for (const auto& word : words) wire::append_bulk(bytes, word);
  return bytes;
}

Result<Replies> Answers::get() {
  std::unique_lock lock(state_->mutex);
  state_->arrived.wait(lock, [this] { return state_->missing == 0; });
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - state_->began);
  *state_->longest = std::max(*state_->longest, took);
  if (state_->problem) return *state_->problem;
  return std::move(state_->replies);
}

Result<std::shared_ptr<Link>> Link::open(const std::shared_ptr<ClientCore>& core,
                                         const std::string& url, const TlsOptions& tls) {
  std::shared_ptr<wire::Connection> connection;
  auto address = wire::to_string(core->endpoint());
  if (url.empty()) {
    connection = core->make_lane("-migrate");
  } else {
    auto endpoint = wire::parse_url(url);
    if (!endpoint) return endpoint.error();
    if (endpoint->embedded)
      return bad_option("source_url", url, "the URL of a server that runs already");
    std::shared_ptr<wire::TlsContext> context;
    if (endpoint->tls) {
      auto made = wire::TlsContext::make(tls, endpoint->host);
      if (!made) return made.error();
      context = *std::move(made);
    }
    address = wire::to_string(*endpoint);
    connection =
        wire::Connection::make(core->loop(), {.endpoint = *std::move(endpoint),
                                              .client_name = core->options().name + "-migrate",
                                              .connect_timeout = core->options().connect_timeout,
                                              .allow_eviction = true,
                                              .tls = std::move(context)});
  }
  // Whoever cannot be reached at all is told so at once, and why.
  struct Reached {
    std::mutex mutex;
    std::condition_variable known;
    bool ready = false;
    std::optional<Error> problem;
  };
  auto reached = std::make_shared<Reached>();
  connection->on_ready = [reached](const wire::ServerInfo&) {
    const std::lock_guard lock(reached->mutex);
    reached->ready = true;
    reached->known.notify_one();
  };
  connection->on_down = [reached](const Error& why) {
    const std::lock_guard lock(reached->mutex);
    reached->problem = why;
    reached->known.notify_one();
  };
  core->loop().post([connection] { connection->start(); });
  std::shared_ptr<Link> link(new Link(core, connection, address));
  std::unique_lock lock(reached->mutex);
  const bool told = reached->known.wait_for(lock, core->options().connect_timeout, [&reached] {
    return reached->ready || reached->problem;
  });
  if (reached->ready) return link;
  if (told) return *reached->problem;
  return Error{ErrorCode::timeout, "no answer from " + address + " within the connect timeout", {}};
}

Link::~Link() {
  core_->loop().post([connection = connection_, core = core_] { connection->close(); });
}

Answers Link::begin(Commands commands) {
  Answers answers;
  answers.state_ = std::make_shared<Answers::State>();
  auto state = answers.state_;
  state->longest = &longest_;
  state->missing = commands.size();
  state->replies.resize(commands.size());
  core_->loop().post([state, connection = connection_, timeout = core_->options().command_timeout,
                      commands = std::move(commands)]() mutable {
    for (std::size_t i = 0; i < commands.size(); ++i)
      connection->send(std::move(commands[i]), timeout, [state, i](Result<wire::Reply> reply) {
        const std::lock_guard lock(state->mutex);
        if (!reply)
          state->problem = reply.error();
        else if (reply->is_error())
          state->problem = protocol::refusal(reply->text, {}, {});
        else
          state->replies[i] = *std::move(reply);
        if (--state->missing == 0) state->arrived.notify_one();
      });
  });
  return answers;
}

Result<wire::Reply> Link::ask(const std::vector<std::string>& words) {
  Commands commands;
  commands.push_back(command_of(words));
  auto replies = ask_all(std::move(commands));
  if (!replies) return replies.error();
  return std::move(replies->front());
}

Result<wire::Reply> Link::call(ScriptCall call) {
  return core_->wait_for<wire::Reply>(
      [this, &call](Function<void(Result<wire::Reply>)> done) mutable {
        protocol::dispatch(connection_, std::move(call), core_->options().command_timeout,
                           [done = std::move(done)](Result<wire::Reply> reply) mutable {
                             if (reply && reply->is_error())
                               return done(protocol::refusal(reply->text, {}, {}));
                             done(std::move(reply));
                           });
      });
}

}  // namespace echomq::inline v2::migrate
