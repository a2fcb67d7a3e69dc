// SPDX-License-Identifier: MIT
// The calls of ScriptQueue that are about flows.
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

Reply ScriptQueue::plan(const std::string& id, const flow::Plan& entries, std::size_t first,
                        bool sealed) {
  const auto record = flow_key(name_, id);
  auto out = ScriptCall::of<scripts::FlowPlan>(
      {.meta = keys.meta, .outbox = keys.outbox, .flow = record},
      {.revision = revision, .now = now, .plan = id, .first = first, .sealed = sealed});
  for (const auto& entry : entries)
    out.put_args(scripts::FlowPlan::ItemArgs{.entry = entry.encode()});
  return call(out);
}

Reply ScriptQueue::close_plan(const std::string& id, const std::string& seen) {
  const auto record = flow_key(name_, id);
  return call(
      ScriptCall::of<scripts::FlowClose>({.meta = keys.meta, .outbox = keys.outbox, .flow = record},
                                         {.revision = revision, .plan = id, .seen = seen}));
}

Reply ScriptQueue::add_flow(const std::string& plan, const flow::Plan& entries) {
  using Script = scripts::FlowAdd;
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].queue == name_) own.push_back(i);
  auto out = ScriptCall::of<Script>(
      keys, {.revision = revision, .now = now, .plan = plan, .count = own.size()});
  for (const auto i : own) {
    const auto& entry = entries[i];
    const auto shape = entry.shape();
    out.put_keys(Script::ItemKeys{.job = job(entry.id)});
    if (entry.has_subkeys()) out.put_keys(SubKeys(name_, entry.id).as<Script::MoreKeys>());
    out.put_args(
        Script::ItemArgs{.index = i, .id = entry.id, .shape = shape, .text = entry.text()});
  }
  return call(out);
}

Reply ScriptQueue::wait_for_children(const std::vector<Release>& items) {
  using Script = scripts::FlowWait;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = items.size(),
                                           .keep = keep_failed.count,
                                           .age = keep_failed.age_ms});
  for (const auto& item : items) {
    const SubKeys sub(name_, item.run.id);
    out.put_keys(Script::ItemKeys{.job = job(item.run.id),
                                  .dependencies = sub.dependencies,
                                  .unsuccessful = sub.unsuccessful});
    out.put_args(Script::ItemArgs{.id = item.run.id, .token = item.run.token, .ats = item.ats});
  }
  return call(out);
}

Reply ScriptQueue::settle(const std::vector<EndOfChild>& ends) {
  using Script = scripts::FlowSettle;
  struct Parent {
    std::string id;
    unsigned told = 0;
    std::string messages{};
  };
  std::vector<Parent> parents;
  for (const auto& end : ends) {
    if (parents.empty() || parents.back().id != end.parent) parents.push_back({end.parent});
    auto& text = parents.back().messages;
    text += std::to_string(end.ref.size()) + ":" + std::to_string(end.epoch) + ":";
    text.append(1, end.kind).append(1, ':').append(1, end.policy);
    text += ":" + std::to_string(end.value.size()) + ":" + end.ref + end.value;
    ++parents.back().told;
  }
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = parents.size(),
                                           .keep = keep_failed.count,
                                           .age = keep_failed.age_ms});
  for (const auto& parent : parents) {
    const SubKeys sub(name_, parent.id);
    out.put_keys(Script::ItemKeys{.job = job(parent.id),
                                  .dependencies = sub.dependencies,
                                  .processed = sub.processed,
                                  .failed_children = sub.failed,
                                  .unsuccessful = sub.unsuccessful});
    out.put_args(
        Script::ItemArgs{.id = parent.id, .told = parent.told, .messages = parent.messages});
  }
  return call(out);
}

Reply ScriptQueue::delivered(const std::vector<Delivered>& items) {
  using Script = scripts::FlowDelivered;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = items.size()});
  for (const auto& item : items)
    out.put_args(
        Script::ItemArgs{.field = item.field, .seen = item.seen, .orphaned = item.orphaned});
  return call(out);
}

std::string ScriptQueue::message(const std::string& child, const std::string& parent_queue,
                                 const std::string& parent) {
  return show(redis_({"HGET", keys.outbox, child + " " + parent_queue + ":" + parent}));
}

std::string ScriptQueue::edge(const std::string& parent, Sub sub, const std::string& ref) {
  return show(redis_({"HGET", job_key(name_, parent, sub), ref}));
}

}  // namespace echomq::inline v2::probe
