// SPDX-License-Identifier: MIT
// emq dedup: shows who owns a deduplication id of a queue, and gives it free.
#include <memory>
#include <string>

#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

struct DedupOptions {
  std::string queue;
  std::string id;
  bool release = false;
};

Exit show_owner(echomq::Queue<>& queue, const DedupOptions& typed, const Session& session,
                std::int64_t now_ms) {
  const auto owner = queue.deduplication_owner(typed.id);
  if (!owner) return session.fail(owner.error());
  if (session.json) {
    Json out{{"queue", queue.name()},
             {"id", typed.id},
             {"job", nullptr},
             {"until_ms", nullptr},
             {"next", nullptr}};
    if (*owner) {
      out["job"] = (*owner)->job;
      if ((*owner)->until_ms != 0) out["until_ms"] = (*owner)->until_ms;
      if (!(*owner)->next.empty()) out["next"] = (*owner)->next;
    }
    print_json(out);
    return Exit::ok;
  }
  if (!*owner) {
    print("nobody owns it\n");
    return Exit::ok;
  }
  const auto until = (*owner)->until_ms;
  print("job    {}\n", (*owner)->job);
  print("until  {}\n",
        until == 0 ? "it has ended or is removed" : utc(until) + ", " + relative(until, now_ms));
  if (!(*owner)->next.empty()) print("next   {}\n", (*owner)->next);
  return Exit::ok;
}

Exit dedup(const DedupOptions& typed, const Session& session) {
  if (const auto bare = echomq::queue_name(typed.queue); !bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (!typed.release) return show_owner(queue, typed, session, client->server_time_ms());
  const auto released = queue.release_deduplication(typed.id);
  if (!released) return session.fail(released.error());
  if (session.json)
    print_json({{"queue", queue.name()}, {"id", typed.id}, {"released", *released}});
  else
    print("{}\n", *released ? "released" : "nobody owned it");
  return Exit::ok;
}

}  // namespace

void declare_dedup(CLI::App& app, Session& session) {
  auto* verb =
      session.declare(app, "dedup", "Show which job owns a deduplication id, or give the id free",
                      "  emq dedup mail digest\n"
                      "  emq dedup mail digest --release\n"
                      "Given free, the id is anyone's; its owner stays as it is. A job that is "
                      "kept until the owner "
                      "has ended (add --dedup-keep-last) is added now, and owns the id then.\n");
  auto typed = std::make_shared<DedupOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue")->required();
  verb->add_option("ID", typed->id, "What add --dedup-id was given")->required();
  verb->add_flag("--release", typed->release, "Give it free");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"queue\",\"id\",\"job\",\"until_ms\",\"next\"}, null where "
                       "there is none; with --release {\"queue\",\"id\",\"released\"}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return dedup(*typed, session); }; });
}

}  // namespace emq
