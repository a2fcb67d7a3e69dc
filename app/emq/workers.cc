// SPDX-License-Identifier: MIT
// emq workers: which processes hold jobs of a queue, and which jobs.
#include <memory>
#include <string>

#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

Exit workers(const std::string& name, const Session& session) {
  if (const auto bare = echomq::queue_name(name); !bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, name};
  const auto found = queue.workers();
  if (!found) return session.fail(found.error());
  const auto now = client->server_time_ms();
  Table table({{"node", true}, {"process"}, {"alive"}, {"job"}, {"lease ends"}});
  Json all = Json::array();
  for (const auto& worker : *found) {
    Json jobs = Json::array();
    for (const auto& job : worker.jobs) {
      jobs.push_back({{"id", job.id}, {"lease_until_ms", job.lease_until_ms}});
      table.add({std::to_string(worker.node), printable(worker.process),
                 worker.alive ? "yes" : "no", job.id, relative(job.lease_until_ms, now)});
    }
    all.push_back({{"node", worker.node},
                   {"process", to_utf8(worker.process)},
                   {"node_until_ms", worker.node_until_ms},
                   {"alive", worker.alive},
                   {"jobs", jobs}});
  }
  if (session.json)
    print_json({{"workers", all}});
  else if (found->empty())
    print("nobody holds a job of this queue\n");
  else
    table.print();
  return Exit::ok;
}

}  // namespace

void declare_workers(CLI::App& app, Session& session) {
  auto* verb =
      session.declare(app, "workers", "List the processes that hold jobs of a queue, and which",
                      "  emq workers mail\n"
                      "A process that is not alive left its jobs: they run again elsewhere, at "
                      "most two seconds and a third of a lease after their lease ends.\n");
  auto queue = std::make_shared<std::string>();
  verb->add_option("QUEUE", *queue, "The queue")->required();
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"workers\":[{\"node\",\"process\",\"node_until_ms\", \"alive\","
                       " \"jobs\":[{\"id\",\"lease_until_ms\"}]}]}");
  verb->callback(
      [queue, &session] { session.run = [queue, &session] { return workers(*queue, session); }; });
}

}  // namespace emq
