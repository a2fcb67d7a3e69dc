// SPDX-License-Identifier: MIT
// emq change: another priority, another time, or other data for jobs that are there already.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argument.h"
#include "bulk.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

struct ChangeOptions {
  std::string queue;
  std::vector<std::string> ids;
  std::optional<std::string> priority;
  std::optional<std::string> delay;
  std::optional<std::string> data;
  bool from_stdin = false;
};

// All of it, but no more than the first byte that is too much.
std::string read_stdin() {
  const auto most = echomq::ClientOptions{}.data_limit + 1;
  std::string text(most, '\0');
  text.resize(std::fread(text.data(), 1, most, stdin));
  return text;
}

Exit change(const ChangeOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto ids = plain_ids(typed.ids);
  if (!ids) return session.fail(ids.error());
  const bool is_data = typed.data || typed.from_stdin;
  if (!is_data && !typed.priority && !typed.delay)
    return session.fail(
        bad_value("--priority", "not given", "one of --priority, --delay, --data and --stdin"));
  if (is_data && ids->size() != 1)
    return session.fail(bad_value("ID", (*ids)[1], "one job where its data is changed"));
  unsigned priority = 0;
  if (typed.priority) {
    const auto read = whole_number("--priority", *typed.priority, 0, echomq::kMaxPriority);
    if (!read) return session.fail(read.error());
    priority = static_cast<unsigned>(*read);
  }
  std::chrono::milliseconds delay{0};
  if (typed.delay) {
    const auto read = duration("--delay", *typed.delay);
    if (!read) return session.fail(read.error());
    delay = *read;
  }
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (is_data) {
    const auto data = typed.from_stdin ? read_stdin() : *typed.data;
    return print_results(*ids, {queue.update_data(ids->front(), data)}, session);
  }
  const auto results =
      typed.priority ? queue.change_priority(*ids, priority) : queue.change_delay(*ids, delay);
  if (!results) return session.fail(results.error());
  return print_results(*ids, *results, session);
}

}  // namespace

void declare_change(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "change", "Give jobs another priority, another time, or other data",
      "  emq change mail 274557032793636864 BAT0KHTOWnGLuC --priority 5\n"
      "  emq change mail 274557032793636864 --delay 10m\n"
      "  emq change mail weekly --stdin < report.json\n"
      "A ready job goes behind those that have its new priority already; a delayed or running one "
      "has it from its next turn on. A handler that runs keeps the data that it was given.\n");
  auto typed = std::make_shared<ChangeOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue")->required();
  verb->add_option("ID", typed->ids,
                   "Jobs: decimal, branded (BAT and 11 characters), or custom ids")
      ->required();
  auto* priority = verb->add_option("--priority", typed->priority,
                                    "Of jobs that have not ended: 0 goes first, at most 2,097,151");
  priority->type_name("N");
  auto* delay =
      verb->add_option("--delay", typed->delay, "Of delayed jobs, from now; 0: ready at once");
  delay->type_name("TIME");
  auto* data = verb->add_option("--data", typed->data, "Of one job, in any state");
  data->type_name("TEXT");
  auto* from_stdin =
      verb->add_flag("--stdin", typed->from_stdin, "The same, all that stands on stdin");
  priority->excludes(delay, data, from_stdin);
  delay->excludes(data, from_stdin);
  data->excludes(from_stdin);
  session.declare_server(*verb);
  session.declare_json(*verb, fmt::format("Print {}", kResultsJson));
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return change(*typed, session); }; });
}

}  // namespace emq
