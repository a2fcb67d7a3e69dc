// SPDX-License-Identifier: MIT
// The members of RawSchedulers: what a scheduler is told, and what is read of it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bad_option.h"
#include "base/number.h"
#include "base/text.h"
#include "echomq/keyspace.h"
#include "echomq/schedule.h"
#include "echomq_scripts.h"
#include "job/encode.h"
#include "protocol/refusal.h"
#include "protocol/version.h"
#include "queue/ask.h"
#include "queue/page_cursor.h"
#include "schedule/definition.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

// So often a scheduler is looked at anew that is another one each time.
constexpr int kSchedulerLooks = 10;

Error no_such_scheduler(const QueueCore& queue, std::string_view id) {
  return {ErrorCode::not_found,
          "queue \"" + queue.name() + "\" has no scheduler " + std::string(id),
          {{"queue", queue.name()}, {"value", std::string(id)}}};
}

Error changed_too_often(const QueueCore& queue, std::string_view id) {
  return {ErrorCode::wrong_state,
          "scheduler " + std::string(id) + " of queue \"" + queue.name() +
              "\" was another one each time that it was looked at; try again",
          {{"queue", queue.name()}, {"value", std::string(id)}}};
}

Result<void> check_template(std::string_view data, const JobOptions& options,
                            std::size_t data_limit) {
  if (!options.id.empty())
    return bad_option("template.id", quoted(options.id),
                      "none: the id of a job says of which scheduler and tick it is");
  if (options.delay.count() != 0)
    return bad_option("template.delay", std::to_string(options.delay.count()),
                      "0: a job that is to start later is one of another schedule");
  if (options.deduplication)
    return bad_option("template.deduplication", quoted(options.deduplication->id),
                      "none: the job of one tick would swallow those of the next; "
                      "Schedule::overlap leaves out ticks while a job waits or runs");
  if (options.durability.kind != Durability::Kind::memory)
    return bad_option("template.durability", "more than memory",
                      "Durability::memory(): nobody waits for the add of a tick");
  return job::check_job(data, options, data_limit);
}

// One of another form reads as default options.
JobOptions read_shape(std::string_view text) {
  std::array<std::size_t, 3> numbers{};
  for (auto& number : numbers) {
    number = to_number<std::size_t>(text);
    text.remove_prefix(std::min(text.find(':'), text.size() - 1) + 1);
  }
  const auto bytes = std::min(numbers[2], text.size());
  auto options = job::decode_opts(text.substr(bytes));
  options.priority = static_cast<unsigned>(std::min<std::size_t>(numbers[0], kMaxPriority));
  options.lifo = numbers[1] != 0;
  options.name = text.substr(0, bytes);
  return options;
}

// The fields of a scheduler's hash, as they came.
struct StoredScheduler {
  std::string def{};
  std::string ran{};
  bool paused = false;
  std::string shape{};
  std::string data{};
};

Result<Schedule> read_schedule(const QueueCore& queue, std::string_view id,
                               const std::string& def) {
  if (auto schedule = schedule::read_definition(def)) return *std::move(schedule);
  return Error{ErrorCode::decode,
               "the schedule of scheduler " + std::string(id) + " of queue \"" + queue.name() +
                   "\" is of an unknown form: " + quoted(def),
               {{"queue", queue.name()}, {"value", std::string(id)}, {"found", def}}};
}

Result<SchedulerInfo> read_scheduler(const QueueCore& queue, std::string_view id,
                                     std::int64_t next_ms, StoredScheduler stored) {
  auto schedule = read_schedule(queue, id, stored.def);
  if (!schedule) return schedule.error();
  auto ran = schedule::read_ran(stored.ran);
  return SchedulerInfo{.id = std::string(id),
                       .schedule = *std::move(schedule),
                       .data = std::move(stored.data),
                       .options = read_shape(stored.shape),
                       .next_ms = next_ms,
                       .paused = stored.paused,
                       .made = ran.made,
                       .skipped = ran.skipped,
                       .last_ms = ran.last_ms,
                       .last_job = std::move(ran.job)};
}

// Of a score: one that is infinite stands for no next tick.
std::int64_t next_of(std::int64_t score) { return score > schedule::kMaxScheduleMs ? 0 : score; }

bool same_count(const std::optional<Schedule>& before, const Schedule& now) {
  return before && before->start_ms == now.start_ms && before->limit == now.limit;
}

// The next tick of a schedule that is new, or of one that goes on; 0: none.
std::int64_t first_tick(const Schedule& schedule, const schedule::Timetable& timetable,
                        const schedule::Ran& ran, bool counts_on, std::int64_t now_ms) {
  if (schedule.limit != 0 && counts_on && ran.made >= schedule.limit) return 0;
  return timetable.first(now_ms, ran.last_ms);
}

// What schedule/put and schedule/pause answer.
struct SchedulerAnswer {
  std::string status{};
  std::string def{};  // as it was
  std::string ran{};
  std::int64_t next_ms = 0;
};

Result<SchedulerAnswer> ask_scheduler(QueueCore& queue, ScriptCall call) {
  auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  if (reply->items.size() != 4)
    return Error{ErrorCode::protocol, "a script of schedulers answered too little", {}};
  auto& items = reply->items;
  return SchedulerAnswer{wire::status_of(items[0], 0, std::string()), std::move(items[1].text),
                         std::move(items[2].text), to_number<std::int64_t>(items[3].text)};
}

Result<void> check_target(const QueueCore& queue, std::string_view id) {
  if (queue.name_error()) return *queue.name_error();
  return check_scheduler_id(id);
}

// Obliterated under us: it is made again, as by an add.
Result<void> open_anew(QueueCore& queue) {
  const auto& client = queue.client();
  const auto forgotten = client->wait_for<bool>([&queue](Function<void(Result<bool>)> done) {
    queue.forget_open();
    done(true);
  });
  if (!forgotten) return forgotten.error();
  return queue.open();
}

Result<SchedulerAnswer> set_scheduler_paused(QueueCore& queue, std::string_view id, bool paused,
                                             const SchedulerAnswer& seen, std::int64_t next_ms) {
  const auto& k = queue.keys();
  const auto hash = scheduler_key(queue.name(), id);
  return ask_scheduler(
      queue, ScriptCall::of<scripts::SchedulePause>(
                 {.meta = k.meta, .schedules = k.schedules, .marker = k.marker, .schedule = hash},
                 {.revision = scripts::kRevision,
                  .id = id,
                  .paused = paused,
                  .def = seen.def,
                  .seen = seen.ran,
                  .next = schedule::tick_text(next_ms)}));
}

}  // namespace

Result<Upserted> RawSchedulers::upsert(std::string_view id, const Schedule& schedule,
                                       const JobTemplate<std::string>& jobs) {
  auto& queue = *core_;
  if (auto ok = check_target(queue, id); !ok) return ok.error();
  const auto timetable = schedule::Timetable::of(schedule);
  if (!timetable) return timetable.error();
  if (auto ok = check_template(jobs.data, jobs.options, queue.client()->options().data_limit); !ok)
    return ok.error();
  if (auto opened = queue.open(); !opened) return opened.error();
  const auto def = schedule::definition_of(schedule);
  const auto shape = schedule::shape_of(job::encode_checked(std::string(), jobs.options));
  const auto& k = queue.keys();
  const auto hash = scheduler_key(queue.name(), id);
  SchedulerAnswer seen;
  bool reopened = false;
  for (int look = 0; look < kSchedulerLooks; ++look) {
    const bool counts_on = same_count(schedule::read_definition(seen.def), schedule);
    const auto next_ms = first_tick(schedule, *timetable, schedule::read_ran(seen.ran), counts_on,
                                    queue.client()->now_ms());
    auto answer = ask_scheduler(
        queue, ScriptCall::of<scripts::SchedulePut>(
                   {.meta = k.meta, .schedules = k.schedules, .marker = k.marker, .schedule = hash},
                   {.revision = scripts::kRevision,
                    .id = id,
                    .def = def,
                    .seen = seen.ran,
                    .next = schedule::tick_text(next_ms),
                    .shape = shape,
                    .data = jobs.data}));
    if (!answer && answer.error().code == ErrorCode::not_found && !std::exchange(reopened, true)) {
      if (auto opened = open_anew(queue); !opened) return opened.error();
      continue;
    }
    if (!answer) return answer.error();
    if (answer->status != "moved") return Upserted{answer->status == "ok", answer->next_ms};
    seen = *std::move(answer);
  }
  return changed_too_often(queue, id);
}

Result<SchedulerInfo> RawSchedulers::get(std::string_view id) {
  auto& queue = *core_;
  if (auto ok = check_target(queue, id); !ok) return ok.error();
  const auto& k = queue.keys();
  const auto hash = scheduler_key(queue.name(), id);
  auto reply = ask(queue, ScriptCall::of<scripts::ScheduleRead>(
                              {.meta = k.meta, .schedules = k.schedules, .schedule = hash},
                              {.revision = scripts::kRevision, .id = id}));
  if (!reply) return reply.error();
  auto& items = reply->items;
  if (items.empty()) return no_such_scheduler(queue, id);
  StoredScheduler stored;
  for (std::size_t i = 1; i + 1 < items.size(); i += 2) {
    const auto& field = items[i].text;
    stored.paused = stored.paused || field == "paused";
    auto* const text = field == "def"     ? &stored.def
                       : field == "ran"   ? &stored.ran
                       : field == "shape" ? &stored.shape
                       : field == "data"  ? &stored.data
                                          : nullptr;
    if (text != nullptr) *text = std::move(items[i + 1].text);
  }
  return read_scheduler(queue, id, next_of(wire::number_of(items[0])), std::move(stored));
}

Result<SchedulerPage> RawSchedulers::list(const SchedulerPageOptions& options) {
  auto& queue = *core_;
  if (queue.name_error()) return *queue.name_error();
  if (options.limit < 1 || options.limit > kMaxSchedulerPage)
    return bad_option("limit", std::to_string(options.limit), "1 to 256");
  const auto cursor = scan_cursor(options.cursor);
  if (!cursor) return cursor.error();
  const auto& k = queue.keys();
  std::vector<std::string> commands;
  commands.push_back(wire::command({"HGET", k.meta, "version"}));
  commands.push_back(
      wire::command({"ZSCAN", k.schedules, *cursor, "COUNT", std::to_string(options.limit)}));
  auto looked = ask_plainly(queue, std::move(commands));
  if (!looked) return looked.error();
  const auto& version = looked->at(0);
  if (version.is_null()) return no_such_queue(queue.name());
  if (version.text != kWireVersion)
    return protocol::fence_refusal(queue.name(), version.text, kWireVersion, k.meta);
  auto& scan = looked->at(1).items;
  if (scan.size() != 2) return Error{ErrorCode::protocol, "ZSCAN answered too little", {}};
  const auto found = wire::scored(scan[1]);
  commands.clear();
  for (const auto& entry : found)
    commands.push_back(wire::command({"HMGET", scheduler_key(queue.name(), entry.member), "def",
                                      "ran", "paused", "shape", "data"}));
  auto hashes = ask_plainly(queue, std::move(commands));
  if (!hashes) return hashes.error();
  SchedulerPage page;
  if (scan[0].text != "0") page.cursor = std::move(scan[0].text);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& items = hashes->at(i).items;
    // Removed meanwhile.
    if (items.size() != 5 || items[0].is_null()) continue;
    auto info = read_scheduler(queue, found[i].member, next_of(found[i].score),
                               {.def = std::move(items[0].text),
                                .ran = std::move(items[1].text),
                                .paused = !items[2].is_null(),
                                .shape = std::move(items[3].text),
                                .data = std::move(items[4].text)});
    if (!info) return info.error();
    page.schedulers.push_back(*std::move(info));
  }
  return page;
}

Result<std::int64_t> RawSchedulers::count() {
  auto& queue = *core_;
  if (queue.name_error()) return *queue.name_error();
  const auto reply = ask_plainly(queue, wire::command({"ZCARD", queue.keys().schedules}));
  if (!reply) return reply.error();
  return wire::number_of(*reply);
}

Result<void> RawSchedulers::pause(std::string_view id) {
  if (auto ok = check_target(*core_, id); !ok) return ok.error();
  const auto answer = set_scheduler_paused(*core_, id, true, {}, 0);
  if (!answer) return answer.error();
  if (answer->status == "gone") return no_such_scheduler(*core_, id);
  return {};
}

Result<std::int64_t> RawSchedulers::resume(std::string_view id) {
  auto& queue = *core_;
  if (auto ok = check_target(queue, id); !ok) return ok.error();
  SchedulerAnswer seen;
  std::int64_t next_ms = 0;
  for (int look = 0; look < kSchedulerLooks; ++look) {
    auto answer = set_scheduler_paused(queue, id, false, seen, next_ms);
    if (!answer) return answer.error();
    if (answer->status == "gone") return no_such_scheduler(queue, id);
    if (answer->status != "moved") return answer->next_ms;
    seen = *std::move(answer);
    auto schedule = read_schedule(queue, id, seen.def);
    if (!schedule) return schedule.error();
    schedule->immediately = false;
    const auto timetable = schedule::Timetable::of(*schedule);
    if (!timetable) return timetable.error();
    next_ms = first_tick(*schedule, *timetable, schedule::read_ran(seen.ran), /*counts_on=*/true,
                         queue.client()->now_ms());
  }
  return changed_too_often(queue, id);
}

Result<void> RawSchedulers::remove(std::string_view id) {
  auto& queue = *core_;
  if (auto ok = check_target(queue, id); !ok) return ok.error();
  auto call = ScriptCall::of<scripts::ScheduleRemove>(queue.keys(),
                                                      {.revision = scripts::kRevision, .count = 1});
  call.put_keys(scripts::ScheduleRemove::ItemKeys{.schedule = scheduler_key(queue.name(), id)});
  call.put_args(scripts::ScheduleRemove::ItemArgs{.id = id});
  const auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  if (wire::status_of(*reply, 0, std::string()) == "gone") return no_such_scheduler(queue, id);
  return {};
}

}  // namespace echomq::inline v2
