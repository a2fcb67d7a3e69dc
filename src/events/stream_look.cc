// SPDX-License-Identifier: MIT
#include "events/stream_look.h"

#include "base/number.h"
#include "client/client_core.h"
#include "echomq_scripts.h"
#include "protocol/refusal.h"
#include "protocol/version.h"
#include "wire/command.h"

namespace echomq::inline v2 {

std::string look_command(const std::string& meta) {
  auto bytes = wire::command({"HMGET", meta, "version", "min_revision", "event_seq"});
  return bytes;
}

Result<StreamLook> read_look(const wire::Reply& reply, const std::string& queue,
                             const std::string& meta) {
  if (reply.is_error()) return stream_refusal(reply, queue, meta);
  if (reply.items.size() != 3 || reply.items[0].is_null()) return StreamLook{};
  const auto& version = reply.items[0].text;
  if (version != kWireVersion) return protocol::fence_refusal(queue, version, kWireVersion, meta);
  const auto& least = reply.items[1].text;
  if (to_number<int>(least) > scripts::kRevision)
    return protocol::fence_refusal(queue, "revision " + least,
                                   "revision " + std::to_string(scripts::kRevision), meta);
  return StreamLook{true, to_number<std::uint64_t>(reply.items[2].text)};
}

std::string read_command(const std::string& events, const std::string& from, std::size_t entries,
                         std::int64_t block_ms) {
  std::string bytes;
  wire::append_header(bytes, block_ms > 0 ? 8 : 6);
  wire::append_bulk(bytes, "XREAD");
  wire::append_bulk(bytes, "COUNT");
  wire::append_bulk(bytes, static_cast<std::int64_t>(entries));
  if (block_ms > 0) {
    wire::append_bulk(bytes, "BLOCK");
    wire::append_bulk(bytes, block_ms);
  }
  wire::append_bulk(bytes, "STREAMS");
  wire::append_bulk(bytes, std::string_view(events));
  wire::append_bulk(bytes, std::string_view(from));
  return bytes;
}

Error stream_refusal(const wire::Reply& reply, const std::string& queue, const std::string& key) {
  auto error = protocol::refusal(reply.text, queue, key);
  if (is_not_ready(reply.text)) error.code = ErrorCode::loading;
  return error;
}

}  // namespace echomq::inline v2
