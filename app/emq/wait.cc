// SPDX-License-Identifier: MIT
// emq wait: until a job has ended, and how.
#include <cstdio>
#include <memory>
#include <string>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

struct WaitOptions {
  std::string queue;
  std::string id;
  std::string timeout = "30s";
};

Exit wait(const WaitOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto id = plain_id(typed.id);
  if (!id) return session.fail(id.error());
  const auto timeout = duration("--timeout", typed.timeout);
  if (!timeout) return session.fail(timeout.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  const auto end = queue.wait_until_finished(*id, *timeout);
  if (!end) return session.fail(end.error());
  const bool completed = end->state == echomq::JobState::completed;
  if (session.json) {
    Json out{{"id", *id}, {"state", name(end->state)}, {"kept", end->kept}};
    if (completed && end->result) put_bytes(out, "result", *end->result);
    if (!completed) put_bytes(out, "failed_reason", end->failed_reason);
    print_json(out);
  } else if (completed) {
    // As the handler returned it, for whoever reads it from a pipe.
    if (end->result) put(stdout, *end->result);
    if (end->result && is_terminal(stdout)) put(stdout, "\n");
  } else {
    print(stderr, "{}\n", end->kept ? printable(end->failed_reason) : "it failed");
  }
  return completed ? Exit::ok : Exit::failed;
}

}  // namespace

void declare_wait(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "wait", "Wait until a job has ended, and print what its handler returned",
      "  emq wait thumbs 274557032793636864 --timeout 10s\n"
      "  emq wait thumbs \"$(emq add thumbs shrink cat.png)\" > size.json\n"
      "A job that failed for good is exit code 1, and why it did goes to stderr; one that has not "
      "ended in time is 3.\n");
  auto typed = std::make_shared<WaitOptions>();
  verb->add_option("QUEUE", typed->queue, "The job's queue")->required();
  verb->add_option("ID", typed->id, "Its id: decimal, branded, or custom")->required();
  verb->add_option("--timeout", typed->timeout, "At most so long; 0 only looks")
      ->type_name("TIME")
      ->capture_default_str();
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"id\",\"state\",\"kept\",\"result\"}, of a job that failed "
                       "\"failed_reason\"; kept: its retention has left it there");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return wait(*typed, session); }; });
}

}  // namespace emq
