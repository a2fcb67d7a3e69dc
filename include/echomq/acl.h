// SPDX-License-Identifier: MIT
// Least privilege: the server's access rules for a client of EchoMQ, computed from the scripts that
// this library carries.
//
//   ACL SETUSER takes what follows "user NAME"; an ACL file takes the whole line.
#pragma once

#include <string>
#include <vector>

#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

struct AclOptions {
  std::string user = "echomq";        // without blanks
  std::vector<std::string> queues{};  // only these; empty: all
  // The v1 prefixes that the client looks under when it opens a queue, read only, and of `queues`
  // alone where there are any: give what ClientOptions::v1_prefixes has.
  std::vector<std::string> v1_prefixes{"emq", "bull"};
  // CLIENT KILL, with which a client ends its own lost connection, so that nothing that it said
  // there can run late. The server cannot limit it to one's own connections. Without it a claim
  // that runs late is found and given back by the lease's renewal instead.
  bool client_kill = true;
  // What Durability needs: WAIT for replicated; for fsynced WAITAOF, which servers before 7.2 do
  // not know (they refuse the line), or there CONFIG GET.
  bool wait = false;
  bool waitaof = false;
  bool config_get = false;
  // SCAN, with which an obliteration finds what no state of the queue names any more, because
  // somebody deleted keys by hand. It tells the names of all keys of the server, so nobody has it
  // who need not. Without it such keys stay, and the report says that nobody looked.
  bool scan = false;
};

// "user NAME on resetkeys resetchannels -@all ~... +...", in one line and without a password: add
// >password or #sha256, or nopass. The order of its words is fixed.
// Errors: invalid_argument (the user's name), invalid_name (a queue or prefix outside the grammar).
ECHOMQ_API Result<std::string> acl_line(const AclOptions& options = {});

// The other side of the fence: for the services that still use v1.
struct V1AclOptions {
  std::string user = "bullmq";                // without blanks
  std::vector<std::string> prefixes{"bull"};  // where they may work: the prefixes of their queues
};

// "user NAME on resetkeys resetchannels ~bull:* ...", in one line and without a password, for the
// clients of v1: all of the server that they use, and no key of ours; a queue under the prefix emq
// may not have its name in braces, for such keys are ours. Together with acl_line() of no v1
// prefix neither side can touch the other's keys, whatever its client does.
// Errors: invalid_argument (the user's name), invalid_name (a prefix outside the grammar, or none).
ECHOMQ_API Result<std::string> v1_acl_line(const V1AclOptions& options = {});

}  // namespace echomq::inline v2
