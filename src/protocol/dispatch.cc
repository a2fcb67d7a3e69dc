// SPDX-License-Identifier: MIT
#include "protocol/dispatch.h"

#include <utility>

namespace echomq::inline v2::protocol {

void dispatch(const std::shared_ptr<wire::Connection>& connection, ScriptCall call,
              std::chrono::milliseconds timeout, wire::Answer answer) {
  auto bytes = call.encode(/*by_source=*/false);
  connection->send(std::move(bytes), timeout,
                   [connection, call = std::move(call), timeout,
                    answer = std::move(answer)](Result<wire::Reply> reply) mutable {
                     if (reply && reply->is_error() && reply->text.starts_with("NOSCRIPT"))
                       connection->send(call.encode(/*by_source=*/true), timeout,
                                        std::move(answer));
                     else
                       answer(std::move(reply));
                   });
}

}  // namespace echomq::inline v2::protocol
