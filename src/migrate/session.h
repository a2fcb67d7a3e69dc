// SPDX-License-Identifier: MIT
// What the steps of a migration share: both servers, the queues with their journals, the pace, and
// the account of what was found.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "echomq/migration.h"
#include "migrate/journal.h"
#include "migrate/link.h"
#include "migrate/names.h"
#include "migrate/target.h"
#include "migrate/v1_keys.h"
#include "migrate/v1_settings.h"

namespace echomq::inline v2::migrate {

inline constexpr std::size_t kKeptFindings = 1'000;
inline constexpr std::string_view kLooking = "looking";  // the step that changes nothing

struct MovingQueue {
  MigratedQueue names{};
  V1Keys v1;
  QueueKeys keys;
  Journal journal{};
};

class MigrationSession {
 public:
  // Checks the options, reaches both servers and reads the journals, which must be of this source.
  static Result<std::unique_ptr<MigrationSession>> open(const Client& target,
                                                        const MigrationOptions& options);

  [[nodiscard]] Link& source() { return *source_; }
  [[nodiscard]] Link& target() { return *target_; }
  [[nodiscard]] const Unit& unit() const { return unit_; }
  [[nodiscard]] std::vector<MovingQueue>& queues() { return queues_; }
  [[nodiscard]] const MigrationOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t now_ms() const { return core_->now_ms(); }
  // Whether source and target are on the same one.
  [[nodiscard]] bool is_one_server() const { return source_->url() == target_->url(); }
  [[nodiscard]] std::string place() const { return place_of(source_->url(), options_.prefix); }

  // Counts the jobs of all queues, for the progress.
  Result<std::int64_t> count_source();
  Result<MigrationCounts> counts(MovingQueue& queue);
  // What the settings of the target will be; once the source does not change any more.
  Result<Fields> settings(MovingQueue& queue);
  // One queue's phase, in its journal and here.
  Result<void> enter(MovingQueue& queue, MigrationPhase phase);

  // Behind each step: tells the caller, keeps to the rate, and answers `closed` where the caller
  // wants to stop.
  Result<void> step(const MovingQueue& queue, std::string_view word, std::int64_t jobs);
  [[nodiscard]] OnChunk stepper(const MovingQueue& queue);
  void begin_progress(std::int64_t total) {
    total_ = total;
    done_ = 0;
    began_ = std::chrono::steady_clock::now();
  }

 private:
  MigrationSession(std::shared_ptr<ClientCore> core, MigrationOptions options)
      : core_(std::move(core)),
        options_(std::move(options)),
        unit_(options_.prefix, options_.queues) {}

  std::shared_ptr<ClientCore> core_;
  MigrationOptions options_;
  Unit unit_;
  std::shared_ptr<Link> source_;
  std::shared_ptr<Link> target_;
  std::vector<MovingQueue> queues_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// ErrorCode::wrong_state.
Error wrong_phase(const MovingQueue& queue, const std::string& what);

// Journals, pauses, opens the targets, waits for what runs, puts the tombstones; all of that is put
// back where jobs run on, or where a target is there already. Queues that are past it are left
// alone.
Result<void> shut_out(MigrationSession& session);

// Takes the targets away and gives v1 what it had. `counter` makes what is called behind the chunks
// of a queue. `all`: where v1 is shut out for good as well.
Result<void> put_back(MigrationSession& session, bool all,
                      const std::function<OnChunk(const MovingQueue&)>& counter);

}  // namespace echomq::inline v2::migrate
