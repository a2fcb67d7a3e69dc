// SPDX-License-Identifier: MIT
// What the scripts have answered in this run: every item status and every error class word, noted
// by script. At the end of a full run the program compares it with what the scripts declare: a word
// that no test provoked is a word that nobody knows to work.
#pragma once

#include <string>
#include <vector>

#include "protocol/script.h"
#include "wire/resp.h"

namespace echomq::test {

// Notes the answer of one call. Any thread.
void observe(const Script& script, const wire::Reply& reply);

// One line for each declared status or class word that was not observed, and for each one that was
// observed although its script does not declare it; empty when all is as declared.
std::vector<std::string> contract_gaps();

}  // namespace echomq::test
