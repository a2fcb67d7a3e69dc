// SPDX-License-Identifier: MIT
// emq schedule: the schedulers of a queue, and the times of a pattern.
#include "echomq/schedule.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "argument.h"
#include "echomq/keyspace.h"
#include "job_json.h"
#include "job_words.h"
#include "moment.h"
#include "option_lines.h"
#include "schedule_words.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Missed;
using echomq::Overlap;
using echomq::Result;
using echomq::SchedulerInfo;
using std::chrono::milliseconds;

const char* state_of(const SchedulerInfo& info) {
  if (info.paused) return "paused";
  return info.next_ms == 0 ? "ended" : "on";
}

Json info_json(const std::string& queue, const SchedulerInfo& info) {
  Json out{{"queue", queue}, {"id", info.id}, {"state", state_of(info)}};
  out["schedule"] = to_json(info.schedule);
  out["name"] = to_utf8(info.options.name);
  put_bytes(out, "data", info.data);
  out["options"] = options_json(info.options);
  out["next_ms"] = time_json(info.next_ms);
  out["made"] = info.made;
  out["skipped"] = info.skipped;
  out["last_ms"] = time_json(info.last_ms);
  out["last_job"] = info.last_job.empty() ? Json(nullptr) : Json(info.last_job);
  return out;
}

// --- next

struct NextOptions {
  ScheduleWords when;
  std::string count = "5";
  std::optional<std::string> from;
};

Exit show_next(const NextOptions& typed, const Session& session) {
  const auto schedule = typed.when.read();
  if (!schedule) return session.fail(schedule.error());
  const auto count = whole_number("--count", typed.count, 1, echomq::kMaxTicksAtOnce);
  if (!count) return session.fail(count.error());
  auto from =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  if (typed.from) {
    const auto at = moment("--from", *typed.from);
    if (!at) return session.fail(at.error());
    from = *at;
  }
  const auto ticks = echomq::next_times(*schedule, from, *count);
  if (!ticks) return session.fail(ticks.error());
  const auto zone = zone_of(*schedule);
  Json rows = Json::array();
  for (const auto tick : *ticks) {
    if (session.json)
      rows.push_back({{"ms", tick}, {"utc", utc(tick)}, {"local", local(tick, zone)}});
    else if (zone == "UTC")
      print("{}\n", utc(tick));
    else
      print("{}  {}\n", local(tick, zone), utc(tick));
  }
  if (session.json) {
    auto out = to_json(*schedule);
    out["next"] = std::move(rows);
    print_json(out);
  }
  return Exit::ok;
}

void declare_next(CLI::App& group, Session& session) {
  auto* verb = session.declare(
      group, "next", "Print the next times of a pattern or an interval; no server is asked",
      "  emq schedule next '0 9 * * 1-5' --tz Europe/Berlin\n"
      "  emq schedule next '@monthly' --from 2026-01-01 --count 12\n"
      "  emq schedule next --every 15m --offset 3m\n");
  auto typed = std::make_shared<NextOptions>();
  verb->add_option("PATTERN", typed->when.pattern,
                   "[second] minute hour day-of-month month day-of-week");
  typed->when.declare(*verb);
  verb->add_option("--count", typed->count, "How many, 1 to 10000")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--from", typed->from, "After that time instead of now")->type_name("MOMENT");
  session.declare_json(*verb, "Print {\"pattern\",..,\"next\":[{\"ms\",\"utc\",\"local\"}]}");
  verb->callback([typed, &session] {
    session.run = [typed, &session] { return show_next(*typed, session); };
  });
}

// --- add

struct ScheduleAddOptions {
  std::string queue;
  std::string id;
  std::string name;
  std::string data;
  ScheduleWords when;
  JobWords job;
  std::optional<std::string> limit;
  bool immediately = false;
  std::string missed = "once";
  std::string overlap = "allow";
};

Result<Missed> missed_rule(const std::string& text) {
  if (text == "skip") return Missed::skip();
  if (text == "once") return Missed::run_once();
  if (text == "all") return Missed::run_all();
  if (text.starts_with("all:")) {
    const auto most = whole_number("--missed", text.substr(4), 1, echomq::kMaxMissedRuns);
    if (most) return Missed::run_all(static_cast<unsigned>(*most));
  }
  return bad_value("--missed", text, "skip, once, all, or all:N with N from 1 to 100");
}

Exit add_scheduler(const ScheduleAddOptions& typed, const Session& session) {
  if (const auto bare = echomq::queue_name(typed.queue); !bare) return session.fail(bare.error());
  auto schedule = typed.when.read();
  if (!schedule) return session.fail(schedule.error());
  if (typed.limit) {
    const auto limit = whole_number("--limit", *typed.limit, 1, echomq::kMaxScheduleLimit);
    if (!limit) return session.fail(limit.error());
    schedule->limit = *limit;
  }
  const auto missed = missed_rule(typed.missed);
  if (!missed) return session.fail(missed.error());
  schedule->missed = *missed;
  if (typed.overlap != "allow" && typed.overlap != "skip")
    return session.fail(bad_value("--overlap", typed.overlap, "allow or skip"));
  schedule->overlap = typed.overlap == "skip" ? Overlap::skip : Overlap::allow;
  schedule->immediately = typed.immediately;
  auto options = typed.job.read();
  if (!options) return session.fail(options.error());
  options->name = typed.name;
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  echomq::Schedulers<> schedulers{queue};
  const auto upserted = schedulers.upsert(typed.id, *schedule, {typed.data, *options});
  if (!upserted) return session.fail(upserted.error());
  if (session.json) {
    print_json({{"queue", queue.name()},
                {"id", typed.id},
                {"changed", upserted->changed},
                {"next_ms", time_json(upserted->next_ms)}});
    return Exit::ok;
  }
  print("{}", upserted->changed ? "" : "it is so already; ");
  if (upserted->next_ms == 0)
    print("no next tick\n");
  else
    print("next {}, {}\n", local(upserted->next_ms, zone_of(*schedule)),
          relative(upserted->next_ms, client->server_time_ms()));
  return Exit::ok;
}

void declare_add_scheduler(CLI::App& group, Session& session) {
  auto* verb = session.declare(
      group, "add", "Make a scheduler, or make the one of that id so",
      "  emq schedule add mail digest send 'to: all' --cron '0 9 * * 1-5' --tz Europe/Berlin\n"
      "  emq schedule add site build-index build --every 15m --offset 3m --overlap skip\n"
      "  emq schedule add mail reminder send --cron '@daily' --end 2026-12-31 --missed skip\n"
      "Said again it changes nothing. Each job has the id SCHEDULER.TICK, the tick in milliseconds "
      "since 1970.\n");
  auto typed = std::make_shared<ScheduleAddOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue; made where there is none")->required();
  verb->add_option("SCHEDULER", typed->id, "Its id: 1 to 200 of A-Z a-z 0-9 . _ -")->required();
  verb->add_option("NAME", typed->name, "What kind of jobs it makes; at most 255 bytes")
      ->required();
  verb->add_option("DATA", typed->data, "The data of each job, bytes as given, at most 1 MiB");
  verb->add_option("--cron", typed->when.pattern,
                   "[second] minute hour day-of-month month day-of-week, or @daily and friends")
      ->type_name("PATTERN");
  typed->when.declare(*verb);
  verb->add_option("--limit", typed->limit, "So many jobs, then no more")->type_name("N");
  verb->add_flag("--immediately", typed->immediately,
                 "With --every: the first one at once. Excludes --start");
  verb->add_option("--missed", typed->missed,
                   "Ticks that no worker made in time: skip, once, all, all:N (the newest N)")
      ->type_name("RULE")
      ->capture_default_str();
  verb->add_option("--overlap", typed->overlap,
                   "While the last job waits or runs: allow, or skip the tick")
      ->type_name("RULE")
      ->capture_default_str();
  typed->job.declare(*verb);
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"queue\",\"id\",\"changed\",\"next_ms\"}");
  verb->callback([typed, &session] {
    session.run = [typed, &session] { return add_scheduler(*typed, session); };
  });
}

// --- the rest

struct SchedulerTarget {
  std::string queue;
  std::string id;
};

// Connects, and does that with the schedulers of the queue.
template <class Act>
Exit with_schedulers(const std::string& name, const Session& session, Act act) {
  if (const auto bare = echomq::queue_name(name); !bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, name};
  echomq::Schedulers<> schedulers{queue};
  return act(schedulers, queue.name(), client->server_time_ms());
}

// All of them, those that are due first in front.
Result<std::vector<SchedulerInfo>> all_schedulers(echomq::Schedulers<>& schedulers) {
  std::vector<SchedulerInfo> all;
  echomq::SchedulerPageOptions options{.limit = echomq::kMaxSchedulerPage};
  do {
    auto page = schedulers.list(options);
    if (!page) return page.error();
    std::move(page->schedulers.begin(), page->schedulers.end(), std::back_inserter(all));
    options.cursor = page->cursor;
  } while (!options.cursor.empty());
  const auto order = [](const SchedulerInfo& info) {
    return std::tuple(info.next_ms == 0, info.next_ms, std::string_view(info.id));
  };
  std::sort(all.begin(), all.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  // One may be on two pages while the server's table grows.
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& a, const auto& b) { return a.id == b.id; }),
            all.end());
  return all;
}

Exit list_schedulers(const std::string& name, const Session& session) {
  return with_schedulers(name, session, [&](auto& schedulers, const auto& queue, auto now_ms) {
    const auto all = all_schedulers(schedulers);
    if (!all) return session.fail(all.error());
    if (session.json) {
      Json rows = Json::array();
      for (const auto& info : *all) rows.push_back(info_json(queue, info));
      print_json({{"queue", queue}, {"schedulers", rows}});
      return Exit::ok;
    }
    Table table({{"scheduler"}, {"when"}, {"next"}, {"made", true}, {"skipped", true}});
    for (const auto& info : *all)
      table.add({info.id, printable(when_of(info.schedule)),
                 info.next_ms == 0 ? state_of(info)
                                   : local(info.next_ms, zone_of(info.schedule)) + ", " +
                                         relative(info.next_ms, now_ms),
                 grouped(static_cast<std::int64_t>(info.made)),
                 grouped(static_cast<std::int64_t>(info.skipped))});
    if (all->empty())
      print("no schedulers\n");
    else
      table.print();
    return Exit::ok;
  });
}

void show_text(const SchedulerInfo& info, std::int64_t now_ms) {
  const auto& schedule = info.schedule;
  const auto& options = info.options;
  const auto zone = zone_of(schedule);
  const auto at = [&](std::int64_t ms) { return local(ms, zone) + ", " + relative(ms, now_ms); };
  const auto line = [](std::string_view label, const std::string& text) {
    print("{:<16}{}\n", label, text);
  };
  const auto number = [](std::uint64_t count) { return grouped(static_cast<std::int64_t>(count)); };
  line("scheduler", info.id);
  line("when", printable(when_of(schedule)));
  if (schedule.start_ms != 0) line("start", at(schedule.start_ms));
  if (schedule.end_ms != 0) line("end", at(schedule.end_ms));
  if (schedule.limit != 0) line("limit", number(schedule.limit));
  line("missed", missed_of(schedule.missed));
  line("overlap", schedule.overlap == Overlap::skip ? "skip" : "allow");
  line("next", info.next_ms == 0 ? state_of(info) : at(info.next_ms));
  line("made", number(info.made));
  line("skipped", number(info.skipped));
  if (info.last_ms != 0) line("last", at(info.last_ms));
  if (!info.last_job.empty()) line("last job", info.last_job);
  line("name", printable(options.name));
  line("attempts", number(options.attempts));
  for (const auto& [label, text] : option_lines(options)) line(label, printable(text));
  line("data", printable(info.data));
}

Exit show_scheduler(const SchedulerTarget& typed, const Session& session) {
  return with_schedulers(typed.queue, session, [&](auto& schedulers, const auto& queue, auto now) {
    const auto info = schedulers.get(typed.id);
    if (!info) return session.fail(info.error());
    if (session.json)
      print_json(info_json(queue, *info));
    else
      show_text(*info, now);
    return Exit::ok;
  });
}

Exit pause_scheduler(const SchedulerTarget& typed, const Session& session) {
  return with_schedulers(typed.queue, session, [&](auto& schedulers, const auto& queue, auto) {
    if (const auto done = schedulers.pause(typed.id); !done) return session.fail(done.error());
    if (session.json) print_json({{"queue", queue}, {"id", typed.id}, {"paused", true}});
    return Exit::ok;
  });
}

Exit resume_scheduler(const SchedulerTarget& typed, const Session& session) {
  return with_schedulers(typed.queue, session, [&](auto& schedulers, const auto& queue, auto now) {
    const auto next = schedulers.resume(typed.id);
    if (!next) return session.fail(next.error());
    if (session.json)
      print_json(
          {{"queue", queue}, {"id", typed.id}, {"paused", false}, {"next_ms", time_json(*next)}});
    else
      print("{}\n",
            *next == 0 ? "it has ended" : "next " + utc(*next) + ", " + relative(*next, now));
    return Exit::ok;
  });
}

Exit remove_scheduler(const SchedulerTarget& typed, const Session& session) {
  return with_schedulers(typed.queue, session, [&](auto& schedulers, const auto& queue, auto) {
    if (const auto done = schedulers.remove(typed.id); !done) return session.fail(done.error());
    if (session.json) print_json({{"queue", queue}, {"id", typed.id}, {"removed", true}});
    return Exit::ok;
  });
}

void declare_of_one(CLI::App* verb, Session& session, const std::string& json,
                    Exit (*act)(const SchedulerTarget&, const Session&)) {
  auto typed = std::make_shared<SchedulerTarget>();
  verb->add_option("QUEUE", typed->queue, "The queue")->required();
  verb->add_option("SCHEDULER", typed->id, "Its id")->required();
  session.declare_server(*verb);
  session.declare_json(*verb, json);
  verb->callback([typed, act, &session] {
    session.run = [typed, act, &session] { return act(*typed, session); };
  });
}

void declare_list_schedulers(CLI::App& group, Session& session) {
  auto* verb =
      session.declare(group, "list", "List the schedulers of a queue, the next to tick first",
                      "  emq schedule list mail\n");
  auto queue = std::make_shared<std::string>();
  verb->add_option("QUEUE", *queue, "The queue")->required();
  session.declare_server(*verb);
  session.declare_json(
      *verb, "Print {\"queue\",\"schedulers\":[{\"id\",\"state\",\"schedule\",\"next_ms\",..}]}");
  verb->callback([queue, &session] {
    session.run = [queue, &session] { return list_schedulers(*queue, session); };
  });
}

}  // namespace

void declare_schedule(CLI::App& app, Session& session) {
  auto* group = session.declare(app, "schedule", "Make, show and end the schedulers of a queue",
                                "  emq schedule next '0 9 * * 1-5' --tz Europe/Berlin\n"
                                "  emq schedule add mail digest send --cron '0 9 * * 1-5'\n"
                                "  emq schedule list mail\n"
                                "`emq schedule VERB --help` tells more.\n");
  group->require_subcommand(1);
  declare_add_scheduler(*group, session);
  declare_list_schedulers(*group, session);
  declare_of_one(
      session.declare(*group, "show", "Show one scheduler", "  emq schedule show mail digest\n"),
      session, "Print {\"queue\",\"id\",\"state\",\"schedule\",\"name\",\"data\",\"options\",..}",
      show_scheduler);
  declare_next(*group, session);
  declare_of_one(
      session.declare(*group, "pause", "Let a scheduler make no more jobs",
                      "  emq schedule pause mail digest\n"
                      "Ticks that pass until `emq schedule resume` are neither made nor missed.\n"),
      session, "Print {\"queue\",\"id\",\"paused\"}", pause_scheduler);
  declare_of_one(session.declare(*group, "resume", "Let a paused scheduler go on",
                                 "  emq schedule resume mail digest\n"),
                 session, "Print {\"queue\",\"id\",\"paused\",\"next_ms\"}", resume_scheduler);
  declare_of_one(session.declare(*group, "remove", "Remove a scheduler; the jobs that it made stay",
                                 "  emq schedule remove mail digest\n"),
                 session, "Print {\"queue\",\"id\",\"removed\"}", remove_scheduler);
}

}  // namespace emq
