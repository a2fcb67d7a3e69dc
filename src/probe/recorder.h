// SPDX-License-Identifier: MIT
// Recorder: a Link that writes down all that is said through it and how it was answered, so that it
// can be said again about another queue and compared: a call is pure when answers and contents are
// the same ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/dump.h"
#include "probe/link.h"

namespace echomq::inline v2::probe {

class Recorder : public Link {
 public:
  explicit Recorder(Link& link) : link_(link) {}

  void send(std::string_view bytes) override;
  using Link::receive;
  Reply receive(std::chrono::milliseconds deadline) override;

  void forget();

  // Says all of it again through `link`, about the queue `to` instead of `from`, whose names have
  // the same length and appear in nothing else. Answers the first answer that is another one, or
  // nothing.
  std::string replay(Link& link, const std::string& from, const std::string& to) const;

 private:
  struct Said {
    std::string bytes;
    std::vector<std::string> answers{};
  };

  Link& link_;
  std::vector<Said> sent_;
};

// `text`, and all keys and contents of `dump`, with another name in it.
std::string renamed(std::string text, std::string_view from, std::string_view to);
Dump renamed(const Dump& dump, std::string_view from, std::string_view to);

}  // namespace echomq::inline v2::probe
