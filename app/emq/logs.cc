// SPDX-License-Identifier: MIT
// emq logs: what stands in the log of a job, or one more line for it.
#include <memory>
#include <optional>
#include <string>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

struct LogsOptions {
  std::string queue;
  std::string id;
  std::string first = "0";
  std::string limit = "1000";
  std::optional<std::string> append;
};

Exit logs(const LogsOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto id = plain_id(typed.id);
  if (!id) return session.fail(id.error());
  const auto first = whole_number("--first", typed.first, 0, echomq::kMaxLogLines);
  if (!first) return session.fail(first.error());
  const auto limit = whole_number("--limit", typed.limit, 1, echomq::kMaxLogLines);
  if (!limit) return session.fail(limit.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (typed.append) {
    const auto written = queue.log(*id, *typed.append);
    return written ? Exit::ok : session.fail(written.error());
  }
  const auto found = queue.logs(
      *id, {.first = static_cast<std::int64_t>(*first), .limit = static_cast<std::size_t>(*limit)});
  if (!found) return session.fail(found.error());
  if (session.json) {
    Json lines = Json::array();
    for (const auto& line : found->lines) lines.push_back(to_utf8(line));
    print_json({{"lines", lines}, {"count", found->count}});
    return Exit::ok;
  }
  for (const auto& line : found->lines) print("{}\n", printable(line));
  return Exit::ok;
}

}  // namespace

void declare_logs(CLI::App& app, Session& session) {
  auto* verb = session.declare(app, "logs", "Show the log of one job, the oldest line first",
                               "  emq logs mail 274557032793636864\n"
                               "  emq logs mail daily --first 100 --limit 50 --json\n"
                               "  emq logs mail daily --append 'looked at by hand'\n"
                               "The newest 1,000 lines of a job are kept.\n");
  auto options = std::make_shared<LogsOptions>();
  verb->add_option("QUEUE", options->queue, "The job's queue")->required();
  verb->add_option("ID", options->id, "Its id: decimal, branded, or custom")->required();
  verb->add_option("--first", options->first, "The first line wanted; 0 is the oldest")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--limit", options->limit, "At most so many lines, 1 to 1,000")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--append", options->append, "Write this line and print none; at most 8 KiB")
      ->type_name("LINE")
      ->excludes("--first", "--limit");
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"lines\":[..],\"count\":N}; count: how many are kept");
  verb->callback([options, &session] {
    session.run = [options, &session] { return logs(*options, session); };
  });
}

}  // namespace emq
