// SPDX-License-Identifier: MIT
// emq job: everything that is known of one job.
#include "echomq/job.h"

#include <fmt/core.h>

#include <memory>

#include "argument.h"
#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "fleet/base64.h"
#include "job_json.h"
#include "moment.h"
#include "option_lines.h"
#include "session.h"

namespace emq {
namespace {

using echomq::JobInfo;

// For people a long text is cut here; --json has all of it.
constexpr std::size_t kShown = 4'096;

Style colour_of(echomq::JobState state) {
  switch (state) {
    case echomq::JobState::completed: return Style::green;
    case echomq::JobState::failed: return Style::red;
    case echomq::JobState::active: return Style::yellow;
    default: return Style::plain;
  }
}

void line(std::string_view label, std::string_view text) {
  print("{}\n", std::string(paint(Style::dim, fmt::format("{:<16}", label), stdout)).append(text));
}

// Later lines of the text stand beneath the first.
void line_of_bytes(std::string_view label, std::string_view bytes) {
  std::string text;
  for (const char c : printable(bytes.substr(0, kShown))) {
    text += c;
    if (c == '\n') text.append(16, ' ');
  }
  if (!is_utf8(bytes)) {
    text = fmt::format("{} bytes, not UTF-8; base64 {}",
                       grouped(static_cast<std::int64_t>(bytes.size())),
                       fleet::to_base64(bytes.substr(0, kShown)));
  }
  if (bytes.size() > kShown)
    text += fmt::format(" ... ({} bytes; --json has all)",
                        grouped(static_cast<std::int64_t>(bytes.size())));
  line(label, text);
}

void show(const JobInfo& job, std::int64_t now_ms) {
  const auto time = [now_ms](std::string_view label, std::int64_t ms) {
    if (ms != 0) line(label, fmt::format("{}  {}", utc(ms), relative(ms, now_ms)));
  };
  const auto branded = echomq::brand_id(job.id);
  line("id", branded ? fmt::format("{}  {}", job.id, *branded) : job.id);
  line("queue", job.queue);
  line_of_bytes("name", job.name);
  line("state", paint(colour_of(job.state), name(job.state), stdout));
  time("added", job.added_ms);
  time("due", job.due_ms);
  time("processed", job.processed_ms);
  time("finished", job.finished_ms);
  line("attempts", fmt::format("{} of {} made, {} started, {} crashed", job.attempts_made,
                               job.options.attempts, job.attempts_started, job.crashes));
  for (const auto& [label, text] : option_lines(job.options)) line_of_bytes(label, text);
  if (!job.parent.empty()) line("parent", job.parent_queue + ":" + job.parent);
  if (!job.worker.empty()) line_of_bytes("worker", job.worker);
  line_of_bytes("data", job.data);
  if (!job.progress.empty()) line_of_bytes("progress", job.progress);
  if (job.result) line_of_bytes("result", *job.result);
  if (!job.failed_reason.empty()) line_of_bytes("failed reason", job.failed_reason);
}

Exit job(const std::string& queue_name, const std::string& id, const Session& session) {
  if (const auto name = echomq::queue_name(queue_name); !name) return session.fail(name.error());
  const auto plain = plain_id(id);
  if (!plain) return session.fail(plain.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, queue_name};
  const auto found = queue.job(*plain);
  if (!found) return session.fail(found.error());
  if (session.json)
    print_json(to_json(*found));
  else
    show(*found, client->server_time_ms());
  return Exit::ok;
}

}  // namespace

void declare_job(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "job", "Show one job",
      "  emq job mail 274557032793636864\n"
      "  emq job mail BAT0KHTOWnGLuC --json | jq -r .state\n"
      "Times are UTC by the server's clock. With --json, bytes that are not UTF-8 stand in "
      "FIELD_base64, and FIELD is null.\n");
  struct Which {
    std::string queue;
    std::string id;
  };
  auto which = std::make_shared<Which>();
  verb->add_option("QUEUE", which->queue, "The job's queue")->required();
  verb->add_option("ID", which->id, "Its id: decimal, branded (BAT and 11 characters), or custom")
      ->required();
  session.declare_server(*verb);
  session.declare_json(*verb, "Print all of it as one object");
  verb->callback([which, &session] {
    session.run = [which, &session] { return job(which->queue, which->id, session); };
  });
}

}  // namespace emq
