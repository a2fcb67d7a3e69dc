// SPDX-License-Identifier: MIT
// The options of a job: how often it is tried, when it may start, where it stands, how long it is
// kept.
//
// Every value is checked when a job is added, before a byte is sent; a bad one answers
// ErrorCode::invalid_argument or invalid_name with the value and what was expected.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace echomq::inline v2 {

// Limits of one job, the same for every queue.
inline constexpr std::uint64_t kMaxDataBytes = 64ULL
                                               << 20;  // hard limit; see ClientOptions::data_limit
inline constexpr std::uint64_t kMaxResultBytes = 256ULL << 10;  // a larger result fails the job
inline constexpr std::uint64_t kMaxReasonBytes = 8ULL << 10;    // a longer failure reason is cut
inline constexpr unsigned kMaxPriority = (1U << 21) - 1;        // scores stay below 2^53
inline constexpr unsigned kMaxAttempts = 1'000'000;
inline constexpr std::chrono::milliseconds kMaxDelay = std::chrono::hours(24 * 365 * 10);
inline constexpr std::size_t kMaxDeduplicationId = 255;  // bytes
inline constexpr std::int64_t kMaxKeepBytes = std::int64_t{1} << 40;
inline constexpr std::chrono::seconds kMaxKeepAge = std::chrono::hours(24 * 365 * 100);

// How long to wait before the next attempt. n counts the failed attempts, from 1.
//   fixed:       delay
//   exponential: delay * 2^(n-1), at most ten years
// jitter j in [0,1] draws from [d*(1-j), d], so that jobs that failed together do not return
// together.
struct Backoff {
  enum class Kind { none, fixed, exponential };

  Kind kind = Kind::none;              // none: the next attempt starts at once
  std::chrono::milliseconds delay{0};  // >= 0
  double jitter = 0.0;                 // 0..1

  static Backoff fixed(std::chrono::milliseconds delay, double jitter = 0.0) {
    return {Kind::fixed, delay, jitter};
  }
  static Backoff exponential(std::chrono::milliseconds first, double jitter = 0.0) {
    return {Kind::exponential, first, jitter};
  }
};

// How many finished jobs a queue keeps, for how long, and how much of them: the oldest go first.
struct Keep {
  std::int64_t count = 1'000;           // 0: nothing is kept; negative: no limit
  std::chrono::seconds age{24 * 3600};  // 0: no limit; at most a hundred years
  // Data and results (or reasons) together. 0: no limit; at most 2^40. Only jobs that end under a
  // rule with bytes are counted, and a set that has them costs the server a little more.
  std::int64_t bytes = 0;

  static Keep none() { return {0, std::chrono::seconds{0}}; }
  static Keep all() { return {-1, std::chrono::seconds{0}}; }
  friend bool operator==(const Keep&, const Keep&) = default;
};

// How safe an added job must be before its add is answered. It is not kept with the job.
//
// The add itself is as fast as any other; then one wait confirms all that were added meanwhile, on
// a connection of its own. What the server cannot do is refused before anything is added: config
// (it writes no append-only file), unsupported (it has no WAITAOF, Redis 7.2, and appendfsync is
// not always), denied (see AclOptions). An add that is not confirmed in time answers
// ErrorCode::not_durable: the job is in the queue, and will be worked.
struct Durability {
  enum class Kind {
    memory,      // the server has it
    replicated,  // and so have `replicas` of its replicas, in their memory (WAIT)
    fsynced,     // it is in the append-only file, on the disk (WAITAOF)
  };

  Kind kind = Kind::memory;
  unsigned replicas = 0;                     // of replicated: 1..1,000
  std::chrono::milliseconds timeout{1'000};  // of the wait, 1 ms..10 minutes

  static Durability memory() { return {}; }
  static Durability replicated(unsigned replicas,
                               std::chrono::milliseconds timeout = std::chrono::seconds(1)) {
    return {Kind::replicated, replicas, timeout};
  }
  static Durability fsynced(std::chrono::milliseconds timeout = std::chrono::seconds(1)) {
    return {Kind::fsynced, 0, timeout};
  }
};

// At most one job of a queue at a time is wanted for some purpose: an add under an id that a job
// owns already is not stored, and answers that job (AddedJob). Who owns the id gives it free by
// being over, or when its time is; a job that is gone for whatever reason owns nothing.
//
//   simple:    until the owner has completed or failed for good, or is removed
//   throttle:  for `ttl` from the add, whether the owner ends before or runs on; removing it
//              gives the id free
//   debounce:  with JobOptions::delay: a newer add replaces the owner while that is delayed, and
//              `ttl` begins anew, so the last one of a burst is run
//   keep_last_if_active: as simple; an add while the owner runs is kept, the newest of several, and
//              is added when the owner is over (retries and crashes are no end). So at most one
//              runs and one comes after it, with the data that was given last.
struct Deduplication {
  std::string id{};                                // what it is for: UTF-8, 1 to 255 bytes
  std::optional<std::chrono::milliseconds> ttl{};  // how long it is owned, 1 ms to ten years;
                                                   // nullopt: until its owner is over
  bool extend = false;                             // each further add begins `ttl` anew; needs one
  bool replace = false;    // a further add replaces an owner that is delayed
  bool keep_last = false;  // an add while the owner runs is kept; excludes ttl, extend and replace

  static Deduplication simple(std::string id) { return {std::move(id)}; }
  static Deduplication throttle(std::string id, std::chrono::milliseconds ttl) {
    return {std::move(id), ttl};
  }
  static Deduplication debounce(std::string id, std::chrono::milliseconds ttl) {
    return {std::move(id), ttl, true, true};
  }
  static Deduplication keep_last_if_active(std::string id) {
    return {std::move(id), std::nullopt, false, false, true};
  }
};

struct JobOptions {
  unsigned attempts = 1;               // how often it may be tried, 1..1,000,000
  Backoff backoff{};                   // between attempts
  std::chrono::milliseconds delay{0};  // not before now + delay; 0..ten years
  unsigned priority = 0;     // 0 goes first (before every priority), then 1, 2 ... 2,097,151
  bool lifo = false;         // to the front of the line; excludes priority
  std::string id{};          // a custom id [A-Za-z0-9._-]{1,255}: added once while it
                             // exists, a second add answers ErrorCode::duplicate
  std::string name = "job";  // what kind of job; free text, at most 255 bytes
  // Instead of the worker's rule when this job ends: none() drops it at once, another rule is
  // applied to the whole set then. The set is shared, so the rule of a later job or of a worker may
  // still evict it.
  std::optional<Keep> keep_completed{};
  std::optional<Keep> keep_failed{};
  // No attempt begins later than this after the add, a retry neither: the job then ends in `failed`
  // unworked, with a reason that begins with "expired: ". It is looked at when a worker takes it.
  // 1 ms to ten years, and more than `delay`; nullopt: it never expires.
  std::optional<std::chrono::milliseconds> expires_in{};
  Durability durability{};  // what its add waits for
  // The trace that it belongs to, as W3C Trace Context writes it (version 00:
  // "00-<32 hex>-<16 hex>-<2 hex>", lower case), and what vendors say beside it (at most 512
  // printable ASCII characters; not without a traceparent). Handlers read both:
  // RawJob::traceparent().
  std::string traceparent{};
  std::string tracestate{};
  std::optional<Deduplication> deduplication{};  // nullopt: added whatever else is there
};

}  // namespace echomq::inline v2
