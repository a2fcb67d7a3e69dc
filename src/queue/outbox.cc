// SPDX-License-Identifier: MIT
#include "queue/outbox.h"

#include <utility>

#include "base/number.h"
#include "base/parts.h"
#include "job/reference.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kPlan = "flow:";
constexpr std::string_view kReceipt = "from:";

// `<o|s>:<stamp>:<entries>`
std::optional<PlanNote> read_plan_note(std::string_view field, std::string_view text) {
  PlanNote note{std::string(field.substr(kPlan.size())), std::string(text)};
  Parts parts(text);
  const auto kind = parts.part();
  const auto stamp = parts.part();
  if (!kind || !stamp) return std::nullopt;
  note.sealed = *kind == "s";
  note.stamp_ms = to_number<std::int64_t>(*stamp);
  note.entries = to_number<std::int64_t>(parts.rest());
  return note;
}

// `<last index>:<stamp>`, in the field `from:<queue>:<plan>`
std::optional<Receipt> read_receipt(std::string_view field, std::string_view text) {
  auto [home, plan] = job::read_reference(field.substr(kReceipt.size()));
  Parts parts(text);
  if (home.empty() || !parts.part()) return std::nullopt;
  return Receipt{std::string(field), std::string(text), std::move(home), std::move(plan),
                 to_number<std::int64_t>(parts.rest())};
}

}  // namespace

std::string plan_field(std::string_view plan) { return std::string(kPlan).append(plan); }

std::string message_field(std::string_view child, std::string_view parent_queue,
                          std::string_view parent) {
  return std::string(child).append(1, ' ').append(job::reference(parent_queue, parent));
}

std::optional<EndMessage> read_message(std::string_view field, std::string_view text) {
  Parts names(field, ' ');
  const auto child = names.part();
  if (!child) return std::nullopt;
  auto [queue, parent] = job::read_reference(names.rest());
  Parts parts(text);
  const auto epoch = parts.part();
  const auto kind = parts.part();
  const auto stamp = parts.part();
  const auto policy = parts.part();
  if (queue.empty() || !epoch || !kind || !stamp || !policy || kind->size() != 1 ||
      policy->size() != 1)
    return std::nullopt;
  if (kind->front() != 'c' && kind->front() != 'f' && kind->front() != 'r') return std::nullopt;
  EndMessage message;
  message.field = field;
  message.child = *child;
  message.parent_queue = std::move(queue);
  message.parent = std::move(parent);
  message.epoch = *epoch;
  message.kind = static_cast<EndMessage::Kind>(kind->front());
  message.stamp_ms = to_number<std::int64_t>(*stamp);
  message.policy = policy->front();
  message.value = parts.rest();
  return message;
}

std::vector<EndMessage> read_messages(const wire::Reply& pairs) {
  std::vector<EndMessage> messages;
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2)
    if (auto message = read_message(pairs.items[i].text, pairs.items[i + 1].text))
      messages.push_back(*std::move(message));
  return messages;
}

OutboxPage read_outbox(const wire::Reply& pairs) {
  OutboxPage page;
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2) {
    const auto& field = pairs.items[i].text;
    const auto& text = pairs.items[i + 1].text;
    ++page.entries;
    if (field.starts_with(kPlan)) {
      if (auto note = read_plan_note(field, text)) page.plans.push_back(*std::move(note));
    } else if (field.starts_with(kReceipt)) {
      if (auto receipt = read_receipt(field, text)) page.receipts.push_back(*std::move(receipt));
    } else if (auto message = read_message(field, text)) {
      page.messages.push_back(*std::move(message));
    }
  }
  return page;
}

}  // namespace echomq::inline v2
