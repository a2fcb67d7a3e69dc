// SPDX-License-Identifier: MIT
// The plan of a migration: all that is known before anything is written.
#pragma once

#include "migrate/session.h"

namespace echomq::inline v2::migrate {

Result<MigrationPlan> make_plan(MigrationSession& session);

}  // namespace echomq::inline v2::migrate
