// SPDX-License-Identifier: MIT
// emq events: what has happened to the jobs of a queue, and with --follow what happens. It also
// writes an event of one's own, and says how many are kept.
#include "echomq/events.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/signals.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Event;
using echomq::EventPlace;
using echomq::EventType;
using std::chrono::milliseconds;

// For people a long payload is cut here; --json has all of it.
constexpr std::size_t kShownPayload = 200;
constexpr milliseconds kLook{100};  // how often it is asked whether the listener has stopped

struct EventsOptions {
  std::string queue;
  std::string from;
  bool follow = false;
  std::optional<std::string> emit;
  std::optional<std::string> payload;
  std::optional<std::string> keep;
  bool exactly = false;
  std::optional<std::string> trim;
};

constexpr std::uint64_t kMostEntries = 10'000'000;

Json event_json(const Event& event) {
  Json out{{"id", event.id}, {"event", echomq::name(event.type)}};
  if (event.type == EventType::gap) {
    out["missed"] = event.missed == 0 ? Json(nullptr) : Json(event.missed);
    return out;
  }
  out["at_ms"] = event.at_ms;
  if (!event.job.empty()) out["job"] = to_utf8(event.job);
  if (event.type == EventType::custom || event.type == EventType::other)
    out["name"] = to_utf8(event.name);
  if (event.type == EventType::custom) put_bytes(out, "payload", event.payload);
  return out;
}

Style colour_of(EventType type) {
  switch (type) {
    case EventType::completed: return Style::green;
    case EventType::failed: return Style::red;
    case EventType::gap: return Style::yellow;
    default: return Style::plain;
  }
}

std::string line_of(const Event& event) {
  if (event.type == EventType::gap)
    return paint(Style::yellow,
                 event.missed == 0 ? std::string("(events were missed, the numbering began anew)")
                                   : fmt::format("({} entries were missed)",
                                                 grouped(static_cast<std::int64_t>(event.missed))),
                 stdout);
  auto what = event.job;
  if (event.type == EventType::custom) {
    what = event.name;
    if (!event.payload.empty()) what += ' ' + event.payload.substr(0, kShownPayload);
    if (event.payload.size() > kShownPayload)
      what += fmt::format(" ... ({} bytes)", event.payload.size());
  }
  const auto& word = event.type == EventType::other ? event.name : std::string(name(event.type));
  std::string text;
  for (const char c : printable(what)) text += c == '\n' ? ' ' : c;
  return fmt::format("{}  {} {}", utc(event.at_ms),
                     paint(colour_of(event.type), fmt::format("{:<10}", printable(word)), stdout),
                     text);
}

void show(const Event& event, const Session& session) {
  if (session.json)
    print_json(event_json(event));
  else
    put(stdout, line_of(event) + "\n");
}

// Until a signal comes, the listener stops, or nobody reads any more.
Exit follow(const echomq::RawQueue& queue, const EventPlace& from, const Session& session) {
  const echomq::Signals stop{SIGTERM, SIGINT};
  const echomq::QueueEvents events{queue, {.from = from}, [&session](const Event& event) {
                                     show(event, session);
                                     std::fflush(stdout);
                                   }};
  while (!stop.wait(1, kLook)) {
    if (const auto status = events.status(); !status) return session.fail(status.error());
    if (std::ferror(stdout) != 0) break;
  }
  return Exit::ok;
}

Exit list(const echomq::RawQueue& queue, EventPlace from, const Session& session) {
  while (true) {
    const auto page = echomq::read_events(queue, from);
    if (!page) return session.fail(page.error());
    for (const auto& event : page->events) show(event, session);
    if (!page->more) return Exit::ok;
    from = EventPlace::after(page->next);
  }
}

Exit emit(echomq::RawQueue& queue, const EventsOptions& typed, const Session& session) {
  const auto id = queue.emit_event(*typed.emit, typed.payload.value_or(""));
  if (!id) return session.fail(id.error());
  if (session.json)
    print_json({{"id", *id}});
  else
    print("{}\n", *id);
  return Exit::ok;
}

Exit trim(echomq::RawQueue& queue, std::uint64_t keep, const Session& session) {
  const auto removed = queue.trim_events(keep);
  if (!removed) return session.fail(removed.error());
  if (session.json)
    print_json({{"removed", *removed}});
  else
    print("{} entries removed\n", grouped(static_cast<std::int64_t>(*removed)));
  return Exit::ok;
}

EventPlace place_of(const EventsOptions& typed) {
  if (typed.from == "now" || (typed.from.empty() && typed.follow)) return EventPlace::now();
  if (typed.from == "beginning" || typed.from.empty()) return EventPlace::beginning();
  return EventPlace::after(typed.from);
}

Exit events(const EventsOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  std::uint64_t entries = 0;
  if (typed.keep || typed.trim) {
    const auto read = typed.keep ? whole_number("--keep", *typed.keep, 1, kMostEntries)
                                 : whole_number("--trim", *typed.trim, 0, kMostEntries);
    if (!read) return session.fail(read.error());
    entries = *read;
  }
  auto client = session.connect("emq-events");
  if (!client) return session.fail(client.error());
  echomq::RawQueue queue{*client, typed.queue};
  if (typed.emit) return emit(queue, typed, session);
  if (typed.keep) {
    const auto set = queue.set_event_cap({.entries = entries, .exact = typed.exactly});
    return set ? Exit::ok : session.fail(set.error());
  }
  if (typed.trim) return trim(queue, entries, session);
  const auto from = place_of(typed);
  return typed.follow ? follow(queue, from, session) : list(queue, from, session);
}

}  // namespace

void declare_events(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "events", "Show what happened to the jobs of a queue, one line for each job and step",
      "  emq events mail\n"
      "  emq events mail --follow --json | jq -r 'select(.event == \"failed\") | .job'\n"
      "  emq events mail --from 1234-0\n"
      "  emq events mail --emit deployed --payload v7\n"
      "  emq events mail --keep 50000\n"
      "The server keeps about the last 10000 entries, each with up to 256 events, or as many as "
      "--keep said. What was removed since --from is told in a line of its own. Times are UTC by "
      "the server's clock.\n");
  auto typed = std::make_shared<EventsOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue")->required();
  verb->add_option("--from", typed->from,
                   "beginning (what is kept), now, or the id of an event: after that one. Default: "
                   "beginning, with --follow now")
      ->type_name("PLACE");
  verb->add_flag("--follow", typed->follow,
                 "Go on until Ctrl-C or SIGTERM; a queue that is not there yet is waited for");
  auto* emit = verb->add_option("--emit", typed->emit,
                                "Write an event of your own and print its id; 1 to 255 of A-Z a-z "
                                "0-9 . _ -, and no event of EchoMQ's");
  emit->type_name("NAME");
  verb->add_option("--payload", typed->payload, "With --emit: any text, at most 8 KiB")
      ->type_name("TEXT")
      ->needs(emit);
  auto* keep = verb->add_option("--keep", typed->keep,
                                "From now on about so many entries are kept, 1 to 10,000,000");
  keep->type_name("N");
  verb->add_flag("--exactly", typed->exactly, "With --keep: so many, which costs the server more")
      ->needs(keep);
  auto* trim = verb->add_option("--trim", typed->trim, "Remove all but the newest so many now");
  trim->type_name("N");
  for (auto* act : {emit, keep, trim}) act->excludes("--from", "--follow");
  emit->excludes(keep);
  emit->excludes(trim);
  keep->excludes(trim);
  session.declare_server(*verb);
  session.declare_json(
      *verb,
      "A line {\"id\",\"event\",\"at_ms\",\"job\",\"name\",\"payload\",\"missed\"} "
      "for each event, as far as they apply; with --emit {\"id\"}, with --trim {\"removed\"}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return events(*typed, session); }; });
}

}  // namespace emq
