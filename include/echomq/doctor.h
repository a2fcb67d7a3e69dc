// SPDX-License-Identifier: MIT
// The doctor: is this production server fit for queues, and are the queues on it well?
//
//   auto report = echomq::examine("redis://db.example").value();
//   for (const auto& finding : report.findings)
//     if (finding.health == echomq::Health::bad) page_somebody(finding.what, finding.advice);
//
// It reads only: it takes no node id, opens no queue and calls no script, and it looks at bounded
// samples, so it may run beside full load. What an ACL denies is unknown, which is no fault. It
// starts no server: of an embedded: URL the server must be running.
//
// Thread-safety: may be called from any thread; it blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/connection.h"
#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

enum class Health {
  good,
  unknown,  // it could not be looked at
  warning,  // it works, and somebody should know
  bad,      // jobs can be lost or stand still
};

// "good", "unknown", "warning", "bad".
ECHOMQ_API std::string_view name(Health health) noexcept;

struct Finding {
  std::string what;   // "persistence", "orphans"
  std::string queue;  // empty: of the server
  Health health = Health::good;
  std::string found;   // what is so
  std::string advice;  // what to do; empty where all is well
};

struct DoctorOptions {
  // Of each queue so many entries of each kind are looked at, 1..10,000.
  std::size_t sample = 100;
  // So many queues, those that were opened last first; 1..10,000.
  std::size_t queues = 100;
  TlsOptions tls{};
};

struct ECHOMQ_API DoctorReport {
  std::string url;  // without a password
  std::vector<Finding> findings;

  // The worst of all findings; unknown is better than a warning.
  [[nodiscard]] Health worst() const;
};

// Errors: invalid_url, invalid_argument (options), unavailable, timeout, tls, denied, loading,
// server_too_old, embedded (nobody runs that folder's server), connection_lost.
ECHOMQ_API Result<DoctorReport> examine(std::string_view url, const DoctorOptions& options = {});

}  // namespace echomq::inline v2
