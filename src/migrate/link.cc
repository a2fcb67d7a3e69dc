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
#include "wire/reply_form.h"
#include "wire/tls.h"
#include "wire/url.h"

namespace echomq::inline v2::migrate {

std::string command_of(const std::vector<std::string>& words) {
  std::string bytes;
  wire::append_header(bytes, words.size());
  for (const auto& word : words) wire::append_bulk(bytes, word);
  return bytes;
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

Result<Replies> Link::ask_all(Commands commands) {
  auto replies = ask_each(std::move(commands));
  if (!replies) return replies;
  for (const auto& reply : *replies)
    if (reply.is_error()) return protocol::refusal(reply.text, {}, {});
  return replies;
}

Result<Replies> Link::ask_each(Commands commands) {
  if (commands.empty()) return Replies{};
  const auto began = std::chrono::steady_clock::now();
  // On the loop only.
  struct Asked {
    Function<void(Result<Replies>)> done;
    Replies replies;
    std::size_t missing;
    std::optional<Error> problem{};

    void take(std::size_t i, Result<wire::Reply> reply) {
      if (!reply)
        problem = reply.error();
      else
        replies[i] = *std::move(reply);
      if (--missing > 0) return;
      if (problem) return done(*std::move(problem));
      done(std::move(replies));
    }
  };
  auto replies = core_->wait_for<Replies>([this, &commands](Function<void(Result<Replies>)> done) {
    const auto asked =
        std::make_shared<Asked>(Asked{std::move(done), Replies(commands.size()), commands.size()});
    for (std::size_t i = 0; i < commands.size(); ++i)
      connection_->send(
          std::move(commands[i]), core_->options().command_timeout,
          [asked, i](Result<wire::Reply> reply) { asked->take(i, std::move(reply)); });
  });
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began);
  auto longest = longest_ms_.load();
  while (took.count() > longest && !longest_ms_.compare_exchange_weak(longest, took.count()))
    ;
  return replies;
}

Result<wire::Reply> Link::ask(const std::vector<std::string>& words) {
  Commands commands;
  commands.push_back(command_of(words));
  auto replies = ask_all(std::move(commands));
  if (!replies) return replies.error();
  return std::move(replies->front());
}

Result<Replies> Link::page(const std::vector<std::string>& words, std::string& at) {
  auto reply = ask(words);
  if (!reply) return reply.error();
  if (reply->items.size() != 2) return Error{ErrorCode::protocol, "an odd answer to SCAN", {}};
  at = std::move(reply->items[0].text);
  return std::move(reply->items[1].items);
}

Result<std::int64_t> Link::now_ms() {
  const auto time = ask({"TIME"});
  if (!time) return time.error();
  if (time->items.size() != 2) return Error{ErrorCode::protocol, "an odd answer to TIME", {}};
  return wire::number_of(time->items[0]) * 1'000 + wire::number_of(time->items[1]) / 1'000;
}

Result<wire::Reply> Link::call(ScriptCall call, const std::string& queue, const std::string& meta) {
  auto reply =
      core_->wait_for<wire::Reply>([this, &call](Function<void(Result<wire::Reply>)> done) mutable {
        protocol::dispatch(connection_, std::move(call), core_->options().command_timeout,
                           std::move(done));
      });
  if (reply && reply->is_error()) return protocol::refusal(reply->text, queue, meta);
  return reply;
}

}  // namespace echomq::inline v2::migrate
