// SPDX-License-Identifier: MIT
// emq doctor: is the server fit for queues, and are the queues on it well?
#include "echomq/doctor.h"

#include <memory>

#include "argument.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Health;

struct DoctorOptions {
  std::string sample = "100";
  std::string queues = "100";
  bool all = false;
};

Style style_of(Health health) {
  switch (health) {
    case Health::good: return Style::green;
    case Health::unknown: return Style::dim;
    case Health::warning: return Style::yellow;
    case Health::bad: break;
  }
  return Style::red;
}

// What is well in queues is left out, unless asked for: there may be hundreds.
void print_report(const echomq::DoctorReport& report, bool all) {
  std::size_t left_out = 0;
  for (const auto& finding : report.findings) {
    if (!all && !finding.queue.empty() && finding.health == Health::good) {
      ++left_out;
      continue;
    }
    const auto where = finding.queue.empty() ? std::string() : " of " + finding.queue;
    const auto health = fmt::format("{:<7}", name(finding.health));
    print("{}  {}{}: {}\n", paint(style_of(finding.health), health, stdout), finding.what, where,
          printable(finding.found));
    if (!finding.advice.empty()) print("         {}\n", printable(finding.advice));
  }
  if (left_out > 0) print("good     {} more, of queues (--all prints them)\n", left_out);
}

Json doctor_json(const echomq::DoctorReport& report) {
  Json findings = Json::array();
  for (const auto& finding : report.findings)
    findings.push_back({{"what", finding.what},
                        {"queue", finding.queue.empty() ? Json(nullptr) : Json(finding.queue)},
                        {"health", name(finding.health)},
                        {"found", to_utf8(finding.found)},
                        {"advice", finding.advice}});
  return {{"url", report.url}, {"health", name(report.worst())}, {"findings", std::move(findings)}};
}

Exit doctor(const DoctorOptions& typed, const Session& session) {
  echomq::DoctorOptions options;
  options.tls = session.tls;
  for (const auto& [name, text, value] : {std::tuple{"--sample", &typed.sample, &options.sample},
                                          std::tuple{"--queues", &typed.queues, &options.queues}}) {
    const auto number = whole_number(name, *text, 1, 10'000);
    if (!number) return session.fail(number.error());
    *value = *number;
  }
  const auto report = echomq::examine(session.url, options);
  if (!report) return session.fail(report.error());
  if (session.json)
    print_json(doctor_json(*report));
  else
    print_report(*report, typed.all);
  return report->worst() == Health::bad ? Exit::failed : Exit::ok;
}

}  // namespace

void declare_doctor(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "doctor",
      "Examine a production server and its queues, reading only: each line is good, unknown, a "
      "warning or bad, with what to do",
      "  emq doctor --url redis://db.example\n"
      "  emq doctor --json | jq '.findings[] | select(.health == \"bad\")'\n"
      "Exit code 1: something is bad, so that jobs may be lost or stand still; warnings and what "
      "an "
      "ACL denies (unknown) are 0. It takes no node id, opens no queue and calls no script.\n");
  auto typed = std::make_shared<DoctorOptions>();
  verb->add_option("--sample", typed->sample, "Entries of each kind to look at in a queue")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--queues", typed->queues, "Queues to look at, those opened last first")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--all", typed->all, "Print what is well in queues too");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"url\",\"health\",\"findings\":[{\"what\",\"queue\",\"health\","
                       "\"found\",\"advice\"}]}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return doctor(*typed, session); }; });
}

}  // namespace emq
