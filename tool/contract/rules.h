// SPDX-License-Identifier: MIT
// The rules of the contract; lua/README.md gives each with its reason. Each function reports what
// it refuses in one script as it is sent, libs included; `check` runs them all over a whole set.
#pragma once

#include "contract/bundle.h"
#include "contract/walk.h"

namespace echomq::inline v2::contract {

struct Reading {
  const Script& script;
  Chunk chunk;  // the libs in the order of USES, then the body
  Tree tree;

  // In the script's own file, not in one of its libs?
  [[nodiscard]] bool in_body(const Position& at) const { return at.file == script.path; }
};

// The part of Lua that is deterministic, bounded, and the same in 5.1 and 5.4.
void check_language(const Reading& reading, Problems& problems);
// redis.call with known commands, and keys that are elements of KEYS, literally.
void check_keys(const Reading& reading, Problems& problems);
// The fence stands before everything else.
void check_fence(const Reading& reading, Problems& problems);
// What the header declares is used, and nothing beyond it.
void check_indexes(const Reading& reading, Problems& problems);
// Class words, statuses and event names: those in the text are those in the header.
void check_words(const Reading& reading, Problems& problems);

// All rules over all scripts, and those between them. Sorted by file and line, without repetitions
// (a fault in a lib is found once for each script that uses it).
Problems check(const std::vector<SourceFile>& files, Bundle& bundle);

}  // namespace echomq::inline v2::contract
