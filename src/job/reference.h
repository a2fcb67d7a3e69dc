// SPDX-License-Identifier: MIT
// Reference: how something of another queue is named, `<queue>:<id>`: a child, a parent, or the
// plan of a flow. Neither part holds a colon. Pure.
#pragma once

#include <string>
#include <string_view>

namespace echomq::inline v2::job {

struct Reference {
  std::string queue;
  std::string id;
};

inline std::string reference(std::string_view queue, std::string_view id) {
  return std::string(queue).append(1, ':').append(id);
}

// How the edges of all children of that job end: `<...>:<queue>:<id>`. Whose child a job is, its
// own edge tells.
inline std::string edge_ending(std::string_view queue, std::string_view id) {
  return ":" + reference(queue, id);
}

// What has no colon names no queue.
inline Reference read_reference(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {{}, std::string(text)};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace echomq::inline v2::job
