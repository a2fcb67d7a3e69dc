// SPDX-License-Identifier: MIT
// TCP ports of a test server, for what a unix socket's URL cannot say: a user, a password, TLS.
#pragma once

#include "support/server.h"

namespace echomq::test {

// Lets the server listen on a free port of 127.0.0.1 (a cluster node does already) and answers it.
unsigned short open_port(TestServer& server);
// The same for TLS, once the server has its certificate.
unsigned short open_tls_port(TestServer& server);

}  // namespace echomq::test
