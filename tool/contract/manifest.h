// SPDX-License-Identifier: MIT
// lua/manifest.txt: the committed record of the script set. A script whose text differs from its
// line stops the build until somebody has said that the change is meant.
//
//   revision 3
//   job/finish 6 7 1 6 9 errors=EMQFENCE statuses=ok,stale,gone,done 4f1c...
//
// A line holds: name, fixed keys, fixed arguments, keys of an item, further keys of an item,
// arguments of an item, class words, statuses ('-' for none), SHA1 of what is sent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/bundle.h"

namespace echomq::inline v2::contract {

std::string manifest_text(const Bundle& bundle, int revision);

// N of the first line `revision N` (N > 0), or nothing where the text begins otherwise.
std::optional<int> manifest_revision(const std::string& text);

// One sentence for each script that differs between a committed manifest and the scripts there are.
std::vector<std::string> manifest_changes(const std::string& committed, const std::string& present);

}  // namespace echomq::inline v2::contract
