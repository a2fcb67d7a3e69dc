// SPDX-License-Identifier: MIT
// The scene of probe/scene.h in a test: it throws std::runtime_error where it cannot be set.
#pragma once

#include <stdexcept>

#include "probe/scene.h"
#include "support/dump.h"

namespace echomq::test {

class Scene : public probe::Scene {
 public:
  explicit Scene(ScriptQueue& queue) : probe::Scene(queue) {
    if (!problem().empty()) throw std::runtime_error(problem());
  }
  // Deletes the queue, so that a server that hundreds of scenes pass over stays small.
  ~Scene() {
    try {
      delete_queue(q.redis(), q.name());
    } catch (const std::runtime_error&) {
      // The server went before: nothing is left to delete.
    }
  }
};

}  // namespace echomq::test
