// SPDX-License-Identifier: MIT
#include "queue/ask.h"

#include <memory>
#include <utility>

#include "protocol/refusal.h"

namespace echomq::inline v2 {

Result<wire::Reply> ask(QueueCore& queue, ScriptCall call) {
  if (queue.name_error()) return *queue.name_error();
  auto reply =
      queue.client()->wait_for<wire::Reply>([&](Function<void(Result<wire::Reply>)> done) mutable {
        queue.call(std::move(call), std::move(done));
      });
  if (!reply) return queue.look_error(reply.error());
  return reply;
}

Result<std::vector<wire::Reply>> ask_all(ClientCore& client, std::vector<std::string> commands) {
  using Replies = std::vector<wire::Reply>;
  if (commands.empty()) return Replies{};
  return client.wait_for<Replies>([&](Function<void(Result<Replies>)> done) {
    struct Wait {
      Function<void(Result<Replies>)> done;
      Replies replies;
      std::size_t missing;
      std::optional<Error> problem{};
    };
    const auto count = commands.size();
    auto wait = std::make_shared<Wait>(Wait{std::move(done), Replies(count), count});
    for (std::size_t i = 0; i < count; ++i)
      client.command(std::move(commands[i]), [wait, i](Result<wire::Reply> reply) {
        if (reply)
          wait->replies[i] = *std::move(reply);
        else
          wait->problem = reply.error();
        if (--wait->missing > 0) return;
        if (wait->problem)
          wait->done(*wait->problem);
        else
          wait->done(std::move(wait->replies));
      });
  });
}

Result<std::vector<wire::Reply>> ask_plainly(QueueCore& queue, std::vector<std::string> commands) {
  if (queue.name_error()) return *queue.name_error();
  auto replies = ask_all(*queue.client(), std::move(commands));
  if (!replies) return replies;
  for (const auto& reply : *replies)
    if (reply.is_error()) return protocol::refusal(reply.text, queue.name(), queue.keys().meta);
  return replies;
}

Result<wire::Reply> ask_plainly(QueueCore& queue, std::string command) {
  std::vector<std::string> commands;
  commands.push_back(std::move(command));
  auto replies = ask_plainly(queue, std::move(commands));
  if (!replies) return replies.error();
  return std::move(replies->front());
}

}  // namespace echomq::inline v2
