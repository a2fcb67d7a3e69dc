// SPDX-License-Identifier: MIT
#include "migrate/journal.h"

#include <array>
#include <utility>

#include "base/number.h"
#include "echomq/keyspace.h"
#include "fence/versions.h"
#include "migrate/v1_job.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kLeftWord = "left:";
constexpr std::array<std::pair<MigrationPhase, std::string_view>, 8> kPhases{{
    {MigrationPhase::none, "none"},
    {MigrationPhase::paused, "paused"},
    {MigrationPhase::fenced, "fenced"},
    {MigrationPhase::copied, "copied"},
    {MigrationPhase::verified, "verified"},
    {MigrationPhase::finishing, "finishing"},
    {MigrationPhase::finished, fence::kMigrationFinished},
    {MigrationPhase::aborting, "aborting"},
}};

}  // namespace

std::string_view name(MigrationPhase phase) noexcept {
  for (const auto& [value, word] : kPhases)
    if (value == phase) return word;
  return "unknown";
}

namespace migrate {

std::string place_of(const std::string& url, const std::string& prefix) {
  return url + " " + prefix;
}

Result<Journal> read_journal(Link& target, const MigratedQueue& queue) {
  const auto reply = target.ask({"HGETALL", migration_key(queue.to)});
  if (!reply) return reply.error();
  const auto fields = read_hash(*reply);
  const auto text = [&fields](std::string_view field) { return text_of(fields, field); };
  Journal journal{.source = text("source"),
                  .from = text("from"),
                  .began_ms = to_number<std::int64_t>(text("began")),
                  .was_paused = text("was_paused") == "1",
                  .meta = text("meta"),
                  .id = text("id")};
  for (const auto& [field, value] : fields)
    if (field.starts_with(kLeftWord)) journal.left.emplace(field.substr(kLeftWord.size()), value);
  const auto word = text("phase");
  if (word.empty()) return journal;
  for (const auto& [phase, known] : kPhases)
    if (known == word) {
      journal.phase = phase;
      return journal;
    }
  return Error{ErrorCode::protocol,
               migration_key(queue.to) + " names a phase that this release does not know: " + word,
               {{"queue", queue.to}, {"found", word}}};
}

Result<void> write_journal(Link& target, const MigratedQueue& queue, const Journal& journal) {
  const auto reply = target.ask(
      {"HSET", migration_key(queue.to), "phase", std::string(name(journal.phase)), "source",
       journal.source, "from", journal.from, "began", std::to_string(journal.began_ms),
       "was_paused", journal.was_paused ? "1" : "0", "meta", journal.meta, "id", journal.id});
  if (!reply) return reply.error();
  return {};
}

Result<void> note_phase(Link& target, const MigratedQueue& queue, MigrationPhase phase) {
  const auto reply =
      target.ask({"HSET", migration_key(queue.to), "phase", std::string(name(phase))});
  if (!reply) return reply.error();
  return {};
}

Result<void> note_left(Link& target, const MigratedQueue& queue, const std::string& job,
                       const std::string& why) {
  const auto reply =
      target.ask({"HSET", migration_key(queue.to), std::string(kLeftWord) + job, why});
  if (!reply) return reply.error();
  return {};
}

Result<void> delete_journal(Link& target, const MigratedQueue& queue) {
  const auto reply = target.ask({"DEL", migration_key(queue.to)});
  if (!reply) return reply.error();
  return {};
}

}  // namespace migrate
}  // namespace echomq::inline v2
