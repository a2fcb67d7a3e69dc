// SPDX-License-Identifier: MIT
#include "probe/recorder.h"

#include <utility>

namespace echomq::inline v2::probe {

void Recorder::send(std::string_view bytes) {
  sent_.push_back({std::string(bytes)});
  link_.send(bytes);
}

Reply Recorder::receive(std::chrono::milliseconds deadline) {
  auto reply = link_.receive(deadline);
  if (sent_.empty()) return reply;
  // Who is told so says it again by the source; the second time the server would know it.
  if (reply.is_error() && reply.text.starts_with("NOSCRIPT"))
    sent_.pop_back();
  else
    sent_.back().answers.push_back(show(reply));
  return reply;
}

void Recorder::forget() { sent_.clear(); }

std::string Recorder::replay(Link& link, const std::string& from, const std::string& to) const {
  for (const auto& said : sent_) {
    link.send(renamed(said.bytes, from, to));
    for (const auto& expected : said.answers) {
      const auto answer = renamed(show(link.receive()), to, from);
      if (answer != expected)
        return std::string("answered ")
            .append(answer)
            .append(" when said again, and ")
            .append(expected)
            .append(" at first");
    }
  }
  return {};
}

std::string renamed(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Dump renamed(const Dump& dump, std::string_view from, std::string_view to) {
  Dump all;
  for (const auto& [key, content] : dump) all[renamed(key, from, to)] = renamed(content, from, to);
  return all;
}

}  // namespace echomq::inline v2::probe
