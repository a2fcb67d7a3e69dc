// SPDX-License-Identifier: MIT
// What an embedded server is asked for, and the command line that this becomes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "echomq/embedded.h"
#include "wire/embedded_folder.h"

namespace echomq::inline v2::wire {

// The first option that is outside its range, or excludes another.
std::optional<Error> check(const EmbeddedOptions& options);

// The path of the server program: the wanted one, or one of those that are known, when empty.
Result<std::string> find_server(const std::string& wanted);

// argv of a server in that folder.
std::vector<std::string> arguments(const std::string& program, const EmbeddedFolder& folder,
                                   const EmbeddedOptions& options);

}  // namespace echomq::inline v2::wire
