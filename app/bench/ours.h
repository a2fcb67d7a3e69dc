// SPDX-License-Identifier: MIT
// EchoMQ as a program would use it, by its public headers alone.
#pragma once

#include <memory>

#include "bench/subject.h"

namespace bench {

// Errors: those of echomq::connect.
echomq::Result<std::unique_ptr<Subject>> our_subject(const std::string& url);

}  // namespace bench
