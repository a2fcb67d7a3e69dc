// SPDX-License-Identifier: MIT
#include "contract/walk.h"

#include <utility>

namespace echomq::inline v2::contract {
namespace {

class Walker {
 public:
  void block(const Block& statements) {
    for (const Statement* statement : statements) {
      tree_.statements.push_back(statement);
      for (const Expression* target : statement->targets)
        expression({target, nullptr, 0, statement});
      for (const Expression* value : statement->values) expression({value, nullptr, 0, statement});
      for (const Variable* variable : statement->variables)
        if (variable->function != nullptr) function(*variable->function);
      for (const Block& inner : statement->blocks) block(inner);
    }
  }

  Tree take() { return std::move(tree_); }

 private:
  void function(const Function& entered) {
    const Function* outer = std::exchange(inside_, &entered);
    block(entered.body);
    inside_ = outer;
  }

  void expression(Use use) {
    use.inside = inside_;
    tree_.uses.push_back(use);
    const Expression& at = *use.expression;
    if (at.function != nullptr) function(*at.function);
    for (std::size_t slot = 0; slot < at.parts.size(); ++slot)
      expression({at.parts[slot], &at, slot, use.statement});
  }

  Tree tree_;
  const Function* inside_ = nullptr;
};

}  // namespace

Tree walk(const Chunk& chunk) {
  Walker walker;
  walker.block(chunk.body);
  return walker.take();
}

}  // namespace echomq::inline v2::contract
