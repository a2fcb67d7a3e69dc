// SPDX-License-Identifier: MIT
// emq probe: what is proved of a server and of the programs that use it.
#include "probe_fleet.h"
#include "session.h"

namespace emq {

void declare_probe(CLI::App& app, Session& session) {
  auto* probe = session.declare(app, "probe", "Prove that the runtimes work together: fleet",
                                "  emq probe fleet\n");
  probe->require_subcommand(1);
  declare_probe_fleet(*probe, session);
}

}  // namespace emq
