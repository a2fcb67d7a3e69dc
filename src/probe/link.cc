// SPDX-License-Identifier: MIT
#include "probe/link.h"

#include "wire/command.h"

namespace echomq::inline v2::probe {

Reply Link::operator()(std::initializer_list<std::string_view> words) {
  send(wire::command(words));
  return receive();
}

Reply Link::operator()(const std::vector<std::string>& words) {
  send(wire::command(words));
  return receive();
}

std::vector<Reply> Link::all_of(const std::vector<std::vector<std::string>>& commands) {
  std::string bytes;
  for (const auto& words : commands) wire::append_command(bytes, words);
  send(bytes);
  std::vector<Reply> answers;
  answers.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) answers.push_back(receive());
  return answers;
}

std::vector<std::string> texts(const Reply& reply) {
  std::vector<std::string> all;
  for (const auto& item : reply.items) all.push_back(show(item));
  return all;
}

std::string show(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::null: return "(nil)";
    case Reply::Kind::integer:
    case Reply::Kind::boolean: return std::to_string(reply.integer);
    case Reply::Kind::number: return std::to_string(reply.number);
    case Reply::Kind::text:
    case Reply::Kind::error:
    case Reply::Kind::big: return reply.text;
    default: break;
  }
  std::string all = "[";
  for (const auto& item : reply.items) all += (all.size() > 1 ? " " : "") + show(item);
  return all + "]";
}

}  // namespace echomq::inline v2::probe
