// SPDX-License-Identifier: MIT
// Answers of a server about a stream, built for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wire/resp.h"

namespace echomq_test {

inline echomq::wire::Reply text_of(const std::string& text) {
  echomq::wire::Reply reply;
  reply.kind = echomq::wire::Reply::Kind::text;
  reply.text = text;
  return reply;
}

inline echomq::wire::Reply list_of(std::vector<echomq::wire::Reply> items) {
  echomq::wire::Reply reply;
  reply.kind = echomq::wire::Reply::Kind::array;
  reply.items = std::move(items);
  return reply;
}

// An entry: its id, its fields and values.
inline echomq::wire::Reply entry_of(const std::string& id, const std::vector<std::string>& fields) {
  std::vector<echomq::wire::Reply> words;
  for (const auto& field : fields) words.push_back(text_of(field));
  return list_of({text_of(id), list_of(std::move(words))});
}

}  // namespace echomq_test
