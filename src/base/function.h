// SPDX-License-Identifier: MIT
// Function: a callable that is moved, never copied, and called at most as often as its owner likes.
// std::function demands copyable captures, and std::move_only_function is C++23: the callbacks of
// the I/O loop own buffers and promises, so they need this.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace echomq::inline v2 {

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}  // NOLINT: implicit, like std::function

  // Implicit, like std::function. The constraint keeps it from being chosen for a copy or a move.
  // NOLINTBEGIN
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Function> &&
           std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>) Function(F&& callable)
      : target_(std::make_unique<Holder<std::remove_cvref_t<F>>>(std::forward<F>(callable))) {}
  // NOLINTEND

  R operator()(Args... args) { return target_->call(std::forward<Args>(args)...); }
  explicit operator bool() const noexcept { return target_ != nullptr; }

 private:
  struct Target {
    virtual ~Target() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Target {
    explicit Holder(F callable) : callable_(std::move(callable)) {}
    R call(Args... args) override { return callable_(std::forward<Args>(args)...); }
    F callable_;
  };

  std::unique_ptr<Target> target_;
};

using Task = Function<void()>;

}  // namespace echomq::inline v2
