// SPDX-License-Identifier: MIT
// emq job: everything that is known of one job.
#include "echomq/job.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Backoff;
using echomq::JobInfo;
using echomq::Keep;

// For people a long text is cut here; --json has all of it.
constexpr std::size_t kShown = 4'096;

Json keep_json(const std::optional<Keep>& keep) {
  if (!keep) return nullptr;
  return {{"count", keep->count}, {"age_s", keep->age.count()}};
}

Json options_json(const echomq::JobOptions& options) {
  Json backoff = nullptr;
  if (options.backoff.kind != Backoff::Kind::none)
    backoff = {{"type", options.backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential"},
               {"delay_ms", options.backoff.delay.count()},
               {"jitter", options.backoff.jitter}};
  return {{"attempts", options.attempts},
          {"backoff", backoff},
          {"delay_ms", options.delay.count()},
          {"priority", options.priority},
          {"lifo", options.lifo},
          {"keep_completed", keep_json(options.keep_completed)},
          {"keep_failed", keep_json(options.keep_failed)}};
}

Json to_json(const JobInfo& job) {
  const auto time = [](std::int64_t ms) { return ms == 0 ? Json(nullptr) : Json(ms); };
  Json out{{"queue", job.queue}, {"id", job.id}};
  if (const auto branded = echomq::brand_id(job.id)) out["branded"] = *branded;
  put_bytes(out, "name", job.name);
  out["state"] = name(job.state);
  put_bytes(out, "data", job.data);
  out["options"] = options_json(job.options);
  out["attempts_made"] = job.attempts_made;
  out["attempts_started"] = job.attempts_started;
  out["crashes"] = job.crashes;
  out["added_ms"] = time(job.added_ms);
  out["due_ms"] = time(job.due_ms);
  out["processed_ms"] = time(job.processed_ms);
  out["finished_ms"] = time(job.finished_ms);
  put_bytes(out, "worker", job.worker);
  put_bytes(out, "progress", job.progress);
  out["result"] = nullptr;
  if (job.result) put_bytes(out, "result", *job.result);
  put_bytes(out, "failed_reason", job.failed_reason);
  return out;
}

Style colour_of(echomq::JobState state) {
  switch (state) {
    case echomq::JobState::completed: return Style::green;
    case echomq::JobState::failed: return Style::red;
    case echomq::JobState::active: return Style::yellow;
    default: return Style::plain;
  }
}

std::string describe(const Backoff& backoff) {
  if (backoff.kind == Backoff::Kind::none) return "none";
  auto text =
      fmt::format("{}, {} ms", backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential",
                  backoff.delay.count());
  if (backoff.jitter > 0) text += fmt::format(", jitter {}", backoff.jitter);
  return text;
}

std::string describe(const Keep& keep) {
  const auto count = keep.count < 0 ? "any number" : grouped(keep.count);
  return keep.age.count() == 0 ? count : count + ", for " + length(keep.age);
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
                       base64(bytes.substr(0, kShown)));
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
  line("backoff", describe(job.options.backoff));
  line("priority",
       job.options.lifo ? "front of the line (lifo)" : std::to_string(job.options.priority));
  if (job.options.delay.count() != 0) line("delay", length(job.options.delay));
  if (job.options.keep_completed) line("keep completed", describe(*job.options.keep_completed));
  if (job.options.keep_failed) line("keep failed", describe(*job.options.keep_failed));
  if (!job.worker.empty()) line_of_bytes("worker", job.worker);
  line_of_bytes("data", job.data);
  if (!job.progress.empty()) line_of_bytes("progress", job.progress);
  if (job.result) line_of_bytes("result", *job.result);
  if (!job.failed_reason.empty()) line_of_bytes("failed reason", job.failed_reason);
}

Exit job(const std::string& queue_name, std::string id, const Session& session) {
  if (const auto name = echomq::queue_name(queue_name); !name) return session.fail(name.error());
  if (echomq::is_branded_id(id)) {
    auto decimal = echomq::unbrand_id(id);
    if (!decimal) return session.fail(decimal.error());
    id = *std::move(decimal);
  }
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, queue_name};
  const auto found = queue.job(id);
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
