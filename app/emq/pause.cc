// SPDX-License-Identifier: MIT
// emq pause and resume: stops the claims of all workers of a queue, and lets them go on.
#include <memory>
#include <string>

#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

Exit set_paused(const std::string& name, bool pause, const Session& session) {
  if (const auto bare = echomq::queue_name(name); !bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, name};
  const auto done = pause ? queue.pause() : queue.resume();
  if (!done) return session.fail(done.error());
  if (session.json) print_json({{"queue", queue.name()}, {"paused", pause}});
  return Exit::ok;
}

void declare_switch(CLI::App* verb, bool pause, Session& session) {
  auto queue = std::make_shared<std::string>();
  verb->add_option("QUEUE", *queue, "The queue")->required();
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"queue\",\"paused\"}");
  verb->callback([queue, pause, &session] {
    session.run = [queue, pause, &session] { return set_paused(*queue, pause, session); };
  });
}

}  // namespace

void declare_pause(CLI::App& app, Session& session) {
  declare_switch(
      session.declare(app, "pause", "Let no worker take further jobs from a queue",
                      "  emq pause mail\n"
                      "Jobs that run are not touched, and adds go on. `emq status` shows it.\n"),
      true, session);
}

void declare_resume(CLI::App& app, Session& session) {
  declare_switch(session.declare(app, "resume", "Let the workers of a paused queue go on",
                                 "  emq resume mail\n"),
                 false, session);
}

}  // namespace emq
