// SPDX-License-Identifier: MIT
#include "echomq/doctor.h"

#include <algorithm>
#include <utility>

#include "base/bad_option.h"
#include "echomq/embedded.h"
#include "echomq/keyspace.h"
#include "ops/patient.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kMost = 10'000;

// The address of a private server that runs; none is started, since that would write.
Result<wire::Endpoint> address(std::string_view url) {
  auto endpoint = wire::parse_url(url);
  if (!endpoint || !endpoint->embedded) return endpoint;
  const auto dir =
      endpoint->embedded_dir.empty() ? Embedded::default_dir() : endpoint->embedded_dir;
  const auto running = Embedded::running_url(dir);
  if (!running)
    return Error{ErrorCode::embedded,
                 "no private server runs in " + dir + "; `emq up` starts one",
                 {{"dir", dir}}};
  return wire::parse_url(*running);
}

void examine_queues(ops::Patient& patient) {
  const auto names = patient.ask(
      {"ZREVRANGE", reserve_key(Reserve::queues), "0", std::to_string(patient.options.queues - 1)});
  if (!names) return patient.tell_unknown("queues");
  const auto all = patient.count({"ZCARD", reserve_key(Reserve::queues)});
  const auto looked = static_cast<std::int64_t>(names->items.size());
  patient.tell("queues", Health::good,
               looked < all ? "the last " + std::to_string(looked) + " that were opened of " +
                                  std::to_string(all)
                            : std::to_string(looked));
  for (const auto& name : probe::texts(*names)) examine_queue(patient, name);
}

}  // namespace

std::string_view name(Health health) noexcept {
  switch (health) {
    case Health::good: return "good";
    case Health::unknown: return "unknown";
    case Health::warning: return "warning";
    case Health::bad: break;
  }
  return "bad";
}

Health DoctorReport::worst() const {
  auto worst = Health::good;
  for (const auto& finding : findings) worst = std::max(worst, finding.health);
  return worst;
}

Result<DoctorReport> examine(std::string_view url, const DoctorOptions& options) {
  for (const auto& [option, value] :
       {std::pair{"sample", options.sample}, std::pair{"queues", options.queues}})
    if (value < 1 || value > kMost)
      return bad_option(option, std::to_string(value), "1 to " + std::to_string(kMost));
  const auto endpoint = address(url);
  if (!endpoint) return endpoint.error();
  auto lane = probe::Lane::open(*endpoint, options.tls, "emq-doctor");
  if (!lane) return lane.error();
  DoctorReport report;
  report.url = to_string(*endpoint);
  ops::Patient patient(**lane, report, options);
  examine_server(patient);
  examine_queues(patient);
  if (const auto lost = (*lane)->lost(); !lost.empty())
    return Error{ErrorCode::connection_lost, "the server went away: " + lost, {}};
  return report;
}

}  // namespace echomq::inline v2
