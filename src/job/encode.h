// SPDX-License-Identifier: MIT
// A job on its way to the server: options checked and turned into what the script stores. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/options.h"
#include "echomq/result.h"

namespace echomq::inline v2::job {

struct EncodedJob {
  std::string id{};  // the custom id; empty: to be minted
  std::string name{};
  std::string data{};
  std::string opts{};  // JSON with the field names of docs/protocol.md; empty: all default
  std::int64_t delay_ms = 0;
  unsigned priority = 0;
  bool lifo = false;
  std::optional<Deduplication> deduplication{};

  // What the job weighs against the limit of a batch.
  [[nodiscard]] std::size_t bytes() const {
    const auto more = deduplication ? deduplication->id.size() + 32 : 0;
    return name.size() + data.size() + opts.size() + more + 64;
  }
};

// A rule of retention, whose values are named `option`.age and so on.
Result<void> check_keep(const std::string& option, const Keep& keep);

// Errors: invalid_argument, invalid_name, too_large, encoding; each names the option and its value.
Result<void> check_job(std::string_view data, const JobOptions& options, std::size_t data_limit);
Result<void> check_deduplication_id(std::string_view id);
// Of a job that was checked.
EncodedJob encode_checked(std::string data, const JobOptions& options);
// Both.
Result<EncodedJob> encode_job(std::string data, const JobOptions& options, std::size_t data_limit);

// The options again, from the stored JSON. Total: what it does not know or cannot read keeps its
// default, because a job must not be lost over an option that a newer version wrote.
JobOptions decode_opts(std::string_view json);

// The same with the job that waits for this one, a reference; empty: none.
struct StoredOptions {
  JobOptions options{};
  std::string parent{};
};
StoredOptions decode_stored(std::string_view json);
// The stored JSON of a job that has a parent: names and ids need no escape.
std::string with_parent(std::string opts, const std::string& parent);

// How long to wait after `failures` failed attempts; `draw` is uniform in [0,1).
std::chrono::milliseconds backoff_delay(const Backoff& backoff, unsigned failures, double draw);

// Is this text UTF-8 (RFC 3629: no surrogates, no overlong forms)?
bool is_utf8(std::string_view text) noexcept;

}  // namespace echomq::inline v2::job
