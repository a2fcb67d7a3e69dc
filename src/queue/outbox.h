// SPDX-License-Identifier: MIT
// The outbox of a queue: what it holds for others (docs/protocol.md 7). Each entry is of one of
// three kinds, and its name tells which. Pure.
//
//   <child> <parent queue>:<parent>  how a child ended, for its parent
//   flow:<plan>                      a flow that is recorded here, and being added
//   from:<queue>:<plan>              how far a flow that is recorded there was added here
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp.h"

namespace echomq::inline v2 {

struct EndMessage {
  enum class Kind : char { completed = 'c', failed = 'f', reopened = 'r' };

  std::string field;  // its name in the outbox
  std::string child;
  std::string parent_queue;
  std::string parent;
  std::string epoch;  // of the edge, in decimal
  Kind kind = Kind::completed;
  std::int64_t stamp_ms = 0;
  char policy = 'f';
  std::string value;  // completed: `+` and the result, or `>` where that is too large; failed: why
};

struct PlanNote {
  std::string plan;
  std::string text;  // as it stands there
  bool sealed = false;
  std::int64_t stamp_ms = 0;
  std::int64_t entries = 0;
};

struct Receipt {
  std::string field;
  std::string text;
  std::string home;  // the queue where the plan is
  std::string plan;
  std::int64_t stamp_ms = 0;
};

struct OutboxPage {
  std::vector<EndMessage> messages;
  std::vector<PlanNote> plans;
  std::vector<Receipt> receipts;
  std::size_t entries = 0;
};

// nullopt: an entry of another kind, or none that this version can read.
std::optional<EndMessage> read_message(std::string_view field, std::string_view text);
// Fields and messages in turn, as scripts answer those that they wrote.
std::vector<EndMessage> read_messages(const wire::Reply& pairs);
// The second part of an answer of HSCAN.
OutboxPage read_outbox(const wire::Reply& pairs);

// The names of what a child tells its parent, and of the note of a plan.
std::string message_field(std::string_view child, std::string_view parent_queue,
                          std::string_view parent);
std::string plan_field(std::string_view plan);

}  // namespace echomq::inline v2
