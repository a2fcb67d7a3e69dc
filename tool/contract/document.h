// SPDX-License-Identifier: MIT
// docs/scripts.md: the contracts of all scripts on one page, for whoever writes a client.
#pragma once

#include <string>
#include <vector>

#include "contract/bundle.h"

namespace echomq::inline v2::contract {

// Of the files of scripts, in their order; libs have no contract.
std::string document_of(const std::vector<SourceFile>& files);

}  // namespace echomq::inline v2::contract
