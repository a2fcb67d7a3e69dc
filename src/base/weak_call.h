// SPDX-License-Identifier: MIT
// weak_call: a member function as a callback that does not keep its object alive. An object hands
// such callbacks to the parts that it owns: a strong one would be a circle that nobody frees.
#pragma once

#include <utility>

namespace echomq::inline v2 {

// `object` is held by a shared_ptr; once it is gone, a call does nothing.
template <class Object, class... Args>
auto weak_call(Object& object, void (Object::*member)(Args...)) {
  return [weak = object.weak_from_this(), member](Args... args) {
    if (const auto alive = weak.lock()) (alive.get()->*member)(std::forward<Args>(args)...);
  };
}

}  // namespace echomq::inline v2
