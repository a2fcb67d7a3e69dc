// SPDX-License-Identifier: MIT
// The end of a server's append-only file after a crash.
//
// What a script wrote stands there between MULTI and EXEC. A server that dies while it writes
// leaves a transaction without its EXEC behind. The next one leaves it out, but servers before the
// fix of August 2026 (valkey-io/valkey #4342) cut the file behind the last whole command instead of
// before the MULTI. What they write afterwards then joins the torn transaction, and a later start
// runs both as one: jobs stand in a state twice, or in none.
//
// So the transaction is cut off before the server sees it. Anything else that is wrong with the
// file is left to the server, which refuses to start with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/result.h"

namespace echomq::inline v2::wire {

// Where the transaction begins whose EXEC the file's end lacks; nullopt: there is none, or the file
// is not one that a crash leaves behind.
std::optional<std::size_t> torn_transaction(std::string_view file) noexcept;

// The newest file that a manifest names: it alone is written to. Empty: it names none.
std::string newest_file(std::string_view manifest);

// Cuts a torn transaction off the append-only file of the server in `folder`, which must not run.
// The number of bytes that were cut. Error: embedded.
Result<std::uint64_t> cut_torn_transaction(const std::string& folder);

}  // namespace echomq::inline v2::wire
