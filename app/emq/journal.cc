// SPDX-License-Identifier: MIT
#include "journal.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "output.h"
#include "verdict.h"

namespace emq {
namespace {

using echomq::Outcome;
using std::chrono::milliseconds;

void note_json(const echomq::RawJob& job, const Outcome& outcome, const ChildEnd& end,
               milliseconds took) {
  Json line{{"id", job.id()},           {"name", job.name()},
            {"attempt", job.attempt()}, {"outcome", word(outcome.kind())},
            {"exit", nullptr},          {"signal", nullptr},
            {"ms", took.count()}};
  if (end.how == ChildEnd::How::exited) line["exit"] = end.number;
  if (end.how == ChildEnd::How::signaled) line["signal"] = end.number;
  if (outcome.kind() != Outcome::Kind::done) line["reason"] = outcome.text();
  print_json(line);
}

// Text of others in a line of ours must not look like a line of ours.
std::string one_line(std::string_view text) {
  auto line = printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

void note_text(const echomq::RawJob& job, const Outcome& outcome, milliseconds took) {
  const bool done = outcome.kind() == Outcome::Kind::done;
  const auto style = done                                     ? Style::green
                     : outcome.kind() == Outcome::Kind::retry ? Style::yellow
                                                              : Style::red;
  // In a line for people the reason is what the command said last.
  auto reason = done ? std::string() : outcome.text();
  if (const auto end = reason.rfind('\n'); end != std::string::npos)
    reason = reason.substr(0, reason.find(": ") + 2) + reason.substr(end + 1);
  print("{}  {}  {}  attempt {}  {} ms{}{}\n",
        paint(style, fmt::format("{:<13}", word(outcome.kind())), stdout), job.id(),
        one_line(job.name()), job.attempt(), took.count(), reason.empty() ? "" : "  ",
        one_line(reason));
}

}  // namespace

void Journal::note(const echomq::RawJob& job, const Outcome& outcome, const ChildEnd& end,
                   milliseconds took) {
  if (!json_ && !lines_) return;
  const std::lock_guard lock(mutex_);
  if (json_)
    note_json(job, outcome, end, took);
  else
    note_text(job, outcome, took);
  std::fflush(stdout);
}

void Journal::summary(const echomq::WorkerStats& did) {
  const std::lock_guard lock(mutex_);
  if (json_) {
    print_json({{"summary",
                 {{"completed", did.completed},
                  {"failed", did.failed},
                  {"retried", did.retried},
                  {"released", did.released},
                  {"recovered", did.recovered},
                  {"refused", did.refused},
                  {"unknown", did.unknown}}}});
    return;
  }
  print(stderr, "completed {}, failed {}, retried {}, recovered {}\n", did.completed, did.failed,
        did.retried, did.recovered);
  if (did.refused != 0)
    print(stderr, "{} results were refused: another run owned the job\n", did.refused);
  if (did.unknown != 0) print(stderr, "{} results were sent and their answers lost\n", did.unknown);
}

}  // namespace emq
