// SPDX-License-Identifier: MIT
#include "echomq/result.h"

namespace echomq::inline v2 {

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::invalid_url: return "invalid_url";
    case ErrorCode::invalid_name: return "invalid_name";
    case ErrorCode::too_large: return "too_large";
    case ErrorCode::encoding: return "encoding";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::decode: return "decode";
    case ErrorCode::config: return "config";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::connection_lost: return "connection_lost";
    case ErrorCode::loading: return "loading";
    case ErrorCode::server_too_old: return "server_too_old";
    case ErrorCode::server_error: return "server_error";
    case ErrorCode::denied: return "denied";
    case ErrorCode::full: return "full";
    case ErrorCode::closed: return "closed";
    case ErrorCode::embedded: return "embedded";
    case ErrorCode::tls: return "tls";
    case ErrorCode::backpressure: return "backpressure";
    case ErrorCode::queue_full: return "queue_full";
    case ErrorCode::fence: return "fence";
    case ErrorCode::nodes_exhausted: return "nodes_exhausted";
    case ErrorCode::wrong_type: return "wrong_type";
    case ErrorCode::protocol: return "protocol";
    case ErrorCode::duplicate: return "duplicate";
    case ErrorCode::collision: return "collision";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::stale: return "stale";
    case ErrorCode::wrong_state: return "wrong_state";
    case ErrorCode::not_durable: return "not_durable";
  }
  return "unknown";
}

}  // namespace echomq::inline v2
