// SPDX-License-Identifier: MIT
#include "verdict.h"

#include <fmt/core.h>

#include <cstring>
#include <string>

#include "echomq/options.h"
#include "output.h"

namespace emq {
namespace {

using echomq::Outcome;
using std::chrono::milliseconds;

// sysexits.h calls 75 a temporary failure and 65 bad data.
constexpr int kRetry = 75;
constexpr int kUnrecoverable = 65;
// More than this of stderr does not become part of the reason.
constexpr std::size_t kReasonLines = 20;

// The last lines of what the command wrote to stderr, and not more than a reason may hold.
std::string last_lines(std::string_view errors) {
  while (!errors.empty() && (errors.back() == '\n' || errors.back() == '\r'))
    errors.remove_suffix(1);
  std::size_t at = errors.size();
  for (std::size_t lines = 0; lines < kReasonLines && at != std::string_view::npos && at > 0;
       ++lines)
    at = errors.rfind('\n', at - 1);
  return to_utf8(at == std::string_view::npos || at == 0 ? errors : errors.substr(at + 1));
}

std::string describe(const ChildEnd& end) {
  if (end.how == ChildEnd::How::not_started)
    return std::string("/bin/sh could not be started: ") + std::strerror(end.number);
  const auto what =
      end.how == ChildEnd::How::signaled
          ? fmt::format("killed by signal {} ({})", end.number, ::strsignal(end.number))
          : fmt::format("exit status {}", end.number);
  const auto said = last_lines(end.errors);
  return said.empty() ? what : what + ": " + said;
}

}  // namespace

Outcome judge(const ChildEnd& end, milliseconds retry_delay) {
  // No process to be had: the system is short of something, and the job did nothing wrong.
  if (end.how == ChildEnd::How::not_started) return Outcome::retry_in(retry_delay, describe(end));
  const bool exited = end.how == ChildEnd::How::exited;
  if (exited && end.number == 0) {
    if (end.output.size() > echomq::kMaxResultBytes)
      return Outcome::fail(
          fmt::format("the command wrote more than {} bytes to stdout, which is the job's "
                      "result",
                      echomq::kMaxResultBytes));
    return Outcome::done(end.output);
  }
  if (exited && end.number == kRetry) return Outcome::retry_in(retry_delay, describe(end));
  if (exited && end.number == kUnrecoverable) return Outcome::unrecoverable(describe(end));
  // Ended by us on the way out: another worker does it, and no attempt is spent.
  if (end.stopped)
    return Outcome::retry_in(milliseconds(0), "stopped with its worker; " + describe(end));
  return Outcome::fail(describe(end));
}

std::string_view word(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::done: return "done";
    case Outcome::Kind::fail: return "fail";
    case Outcome::Kind::retry: return "retry";
    case Outcome::Kind::unrecoverable: return "unrecoverable";
    case Outcome::Kind::rate_limited: return "rate_limited";
    case Outcome::Kind::wait_for_children: return "wait_for_children";
  }
  return "";
}

}  // namespace emq
