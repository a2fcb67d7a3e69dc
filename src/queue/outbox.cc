// SPDX-License-Identifier: MIT
#include "queue/outbox.h"

#include "base/number.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kPlan = "flow:";
constexpr std::string_view kReceipt = "from:";

// Takes what `text` holds before the next colon, and that; nullopt: there is none.
std::optional<std::string_view> take_part(std::string_view& text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto part = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  return part;
}

// `<o|s>:<stamp>:<entries>`
std::optional<PlanNote> read_plan_note(std::string_view field, std::string_view text) {
  PlanNote note{std::string(field.substr(kPlan.size())), std::string(text)};
  const auto kind = take_part(text);
  const auto stamp = take_part(text);
  if (!kind || !stamp) return std::nullopt;
  note.sealed = *kind == "s";
  note.stamp_ms = to_number<std::int64_t>(*stamp);
  note.entries = to_number<std::int64_t>(text);
  return note;
}

// `<last index>:<stamp>`, in the field `from:<queue>:<plan>`
std::optional<Receipt> read_receipt(std::string_view field, std::string_view text) {
  auto name = field.substr(kReceipt.size());
  const auto home = take_part(name);
  const auto colon = text.find(':');
  if (!home || colon == std::string_view::npos) return std::nullopt;
  return Receipt{std::string(field), std::string(text), std::string(*home), std::string(name),
                 to_number<std::int64_t>(text.substr(colon + 1))};
}

}  // namespace

std::string plan_field(std::string_view plan) { return std::string(kPlan).append(plan); }

std::optional<EndMessage> read_message(std::string_view field, std::string_view text) {
  const auto blank = field.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  EndMessage message;
  message.field = field;
  message.child = field.substr(0, blank);
  auto parent = field.substr(blank + 1);
  const auto queue = take_part(parent);
  const auto epoch = take_part(text);
  const auto kind = take_part(text);
  const auto stamp = take_part(text);
  const auto policy = take_part(text);
  if (!queue || !epoch || !kind || !stamp || !policy || kind->size() != 1 || policy->size() != 1)
    return std::nullopt;
  if (kind->front() != 'c' && kind->front() != 'f' && kind->front() != 'r') return std::nullopt;
  message.parent_queue = *queue;
  message.parent = parent;
  message.epoch = *epoch;
  message.kind = static_cast<EndMessage::Kind>(kind->front());
  message.stamp_ms = to_number<std::int64_t>(*stamp);
  message.policy = policy->front();
  message.value = text;
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
