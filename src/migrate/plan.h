// SPDX-License-Identifier: MIT
// The plan of a migration: all that is known before anything is written.
#pragma once

#include "migrate/session.h"

namespace echomq::inline v2::migrate {

Result<MigrationPlan> make_plan(MigrationSession& session);

// The same look before a run, with an error for what blocks. Jobs that run and producers that add
// do not: it waits for those, and shuts these out. The plan says how many jobs run.
Result<MigrationPlan> look_before_run(MigrationSession& session);

}  // namespace echomq::inline v2::migrate
