// SPDX-License-Identifier: MIT
// What a run of the tests wants, by its environment: the kind of server (see support/server.h), and
// whether scenarios of a minute take a minute.
#pragma once

namespace echomq::test {

bool clusters_wanted();         // ECHOMQ_TEST_CLUSTER=1
bool least_privilege_wanted();  // ECHOMQ_TEST_ACL=1
bool plain_servers_wanted();    // neither
bool long_forms_wanted();       // ECHOMQ_TEST_LONG=1

// Why a test is left out where others than plain ones are wanted.
inline constexpr const char* kServersOfItsOwn =
    "it starts plain servers whatever is wanted, so the plain run has seen it";

}  // namespace echomq::test
