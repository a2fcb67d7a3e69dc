// SPDX-License-Identifier: MIT
// What is measured, as a process of its own: EchoMQ ("ours"), raw HSETs ("floor"), or a migration
// (migration.h has its commands). The peer's program, bench/peer/peer.mjs, speaks the same
// language: one JSON command a line on stdin, one JSON answer a line on stdout, {"error": TEXT}
// when it failed. The end of stdin ends it.
//
//   {"do":"bulk_add","queue":Q,"jobs":N,"at_once":M}        N jobs, in calls of M
//   {"do":"add","queue":Q,"jobs":N,"in_flight":M}           N jobs, M at a time, from one thread
//   {"do":"add","queue":Q,"jobs":N,"threads":M}             N jobs, from M blocking threads
//   {"do":"process","queue":Q,"jobs":N,"concurrency":C,"keep":K}  works N waiting jobs to their end
//      -> {"seconds":S,"cpu_us":U}   U: processor time of this process
//   {"do":"work","queue":Q,"concurrency":C}                 starts a worker, and answers {}
//   {"do":"paced_add","queue":Q,"jobs":N,"rate":R}          N jobs, R in a second, stamped
//      -> {"seconds":S,"cpu_us":U}
//   {"do":"collect","jobs":N}                               waits until N jobs have started
//      -> {"latencies_us":[...]}     from the stamp in the job to the start of its handler
//
// "keep" is "default" (1,000 completed jobs, a day) or "all". Every command may have "limit_s",
// after which it fails.
#pragma once

#include <string>

#include "bench/process.h"
#include "echomq/result.h"

namespace bench {

class Subject {
 public:
  virtual ~Subject() = default;
  virtual echomq::Result<Json> run(const Json& command) = 0;
};

// Reads commands until stdin ends; answers the exit code.
int serve(Subject& subject);

// Seconds and processor time between its making and answer().
class Stopwatch {
 public:
  Stopwatch();
  [[nodiscard]] Json answer() const;

 private:
  double begin_s_;
  double begin_cpu_us_;
};

// "limit_s" of a command, or two minutes, from now on.
std::chrono::steady_clock::time_point deadline_of(const Json& command);
echomq::Error too_slow();

}  // namespace bench
