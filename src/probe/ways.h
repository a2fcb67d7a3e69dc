// SPDX-License-Identifier: MIT
// Exercises beside those of scene.h, for ways that jobs take and no exercise there shows. They are
// apart because what is proven of every script again and again needs them not.
#pragma once

#include <vector>

#include "probe/scene.h"

namespace echomq::inline v2::probe {

const std::vector<Exercise>& further_exercises();

}  // namespace echomq::inline v2::probe
