// SPDX-License-Identifier: MIT
// The socket of an embedded server, before a client connects to it: nothing is left there when the
// server starts, and short questions show whether it has.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "echomq/result.h"
#include "wire/embedded_folder.h"
#include "wire/resp.h"

namespace echomq::inline v2::wire {

// Removes a socket that a dead server left behind. Under the folder's lock, so no server of ours
// can be behind one that is there; others might, and are left alone.
std::optional<Error> clear_socket(const EmbeddedFolder& folder);

// One command on a connection of its own. nullopt: nobody listens, or no whole answer came in time.
std::optional<Reply> ask(const EmbeddedFolder& folder,
                         std::initializer_list<std::string_view> words);

}  // namespace echomq::inline v2::wire
