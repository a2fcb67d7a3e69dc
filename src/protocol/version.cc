// SPDX-License-Identifier: MIT
#include "protocol/version.h"

#include "echomq/version.h"
#include "echomq_scripts.h"

namespace echomq::inline v2 {

std::string_view library_version() noexcept { return kVersion; }
std::string_view wire_version() noexcept { return kWireVersion; }
std::string_view bundle_hash() noexcept { return scripts::kBundleHash; }

}  // namespace echomq::inline v2
