// SPDX-License-Identifier: MIT
// The vectors of test/vectors: what every runtime that speaks the wire has to make of the same
// input. The Node client runs the same files (clients/node/test/vectors.test.mjs).
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace echomq::test {

// test/vectors/<name>.json; throws std::runtime_error where it is not there.
inline nlohmann::json vectors(const std::string& name) {
  std::ifstream file(std::string(ECHOMQ_SOURCE_DIR) + "/test/vectors/" + name + ".json");
  if (!file) throw std::runtime_error("there are no vectors of the name " + name);
  return nlohmann::json::parse(file);
}

}  // namespace echomq::test
