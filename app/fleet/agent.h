// SPDX-License-Identifier: MIT
// What is a member of the fleet, as a process of its own: a program of some runtime that does what
// it is told (bench/subject.h: one JSON command a line on stdin, one JSON answer a line on stdout,
// {"error": TEXT} when it failed; the end of stdin ends it). clients/node/fleet/agent.mjs speaks
// the same language. Bytes are base64, ids and names text, options those of JobOptions as
// test/vectors/options.json has them.
//
//   {"do":"hello","url":U}      connects -> {"runtime":"c++","version":V,"wire":W,"bundle":S,
//                               "can":[...]}   of flow, plant, schedule: what not every runtime
//                               does
//   {"do":"add","queue":Q,"jobs":[{"data":B,"options":{..}}]}
//                               -> {"added":[{"id":I,"deduplicated":D} or {"code":C}]}
//   {"do":"work","queue":Q,"concurrency":C,"lease_ms":L,"name":N,"fail_before":A,"hang":H}
//                               a worker whose handler returns the data; it fails attempts before
//                               A, and with H it never ends
//   {"do":"runs"}               -> {"runs":[{"queue","id","name","data","attempt","crashes",
//                               "traceparent","began_ms","children":[B]}]}   since the last "work"
//   {"do":"stop"}               ends its workers in good order -> {"stats":{..}}
//   {"do":"job","queue":Q,"id":I}   -> {"job":null or {..}}
//   {"do":"counts","queue":Q}   -> {"waiting":N,..}
//   {"do":"pause","queue":Q}  {"do":"resume","queue":Q}  {"do":"remove","queue":Q,"id":I}
//   {"do":"listen","queue":Q}   hears from now on
//   {"do":"heard","queue":Q}    -> {"events":["added 7",..]}
//   {"do":"flow","parent":Q,"child":Q,"data":[B]}   a parent and a child for each of them
//                               -> {"id":I}
//   {"do":"schedule","queue":Q,"every_ms":N,"limit":L}   a scheduler
//   {"do":"plant","queue":Q,"ids":[I],"data":B}   jobs of these ids, as if they were minted
#pragma once

#include <memory>

#include "bench/subject.h"

namespace fleet {

// The member that this program is.
std::unique_ptr<bench::Subject> agent();

}  // namespace fleet
