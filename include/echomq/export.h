// SPDX-License-Identifier: MIT
// Which symbols the shared library shows: only what is marked ECHOMQ_API.
#pragma once

#define ECHOMQ_API __attribute__((visibility("default")))
