// SPDX-License-Identifier: MIT
#pragma once

#include "session.h"

namespace emq {

// One of the probes (`emq probe`).
void declare_probe_fleet(CLI::App& probe, Session& session);

}  // namespace emq
