// SPDX-License-Identifier: MIT
// Every expression and statement of a chunk in the order of the text, each with what it stands in.
// The rules are loops over these two lists.
#pragma once

#include <vector>

#include "contract/syntax.h"

namespace echomq::inline v2::contract {

struct Use {
  const Expression* expression = nullptr;
  const Expression* parent = nullptr;  // null where it stands in a statement directly
  std::size_t slot = 0;                // its place in the parent's parts
  const Statement* statement = nullptr;
  const Function* inside = nullptr;  // the function whose body it stands in, null at the top

  // Is it what a call calls?
  [[nodiscard]] bool is_callee() const {
    return parent != nullptr && parent->kind == Expression::Kind::call && slot == 0;
  }
};

struct Tree {
  std::vector<Use> uses;  // an expression stands before its parts
  std::vector<const Statement*> statements;
};

Tree walk(const Chunk& chunk);

}  // namespace echomq::inline v2::contract
