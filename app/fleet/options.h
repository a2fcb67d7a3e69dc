// SPDX-License-Identifier: MIT
// The options of a job in the language of the fleet: as test/vectors/options.json has them, what is
// the default left out.
#pragma once

#include "bench/process.h"
#include "echomq/options.h"

namespace fleet {

echomq::JobOptions options_of(const bench::Json& in);
bench::Json json_of(const echomq::JobOptions& in);

}  // namespace fleet
