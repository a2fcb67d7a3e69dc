// SPDX-License-Identifier: MIT
// emq acl: the user line for a server that gives each program no more than it needs.
#include "echomq/acl.h"

#include <memory>

#include "argument.h"
#include "session.h"

namespace emq {
namespace {

Exit acl(const echomq::AclOptions& options, const Session& session) {
  const auto line = echomq::acl_line(options);
  if (!line) return session.fail(line.error());
  if (session.json)
    print_json({{"user", options.user}, {"line", *line}});
  else
    print("{}\n", *line);
  return Exit::ok;
}

}  // namespace

void declare_acl(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "acl",
      "Print the server's user line for clients of EchoMQ: the keys and commands they need, and no "
      "more. Add a password (>secret or #sha256) before you load it; no server is asked",
      "  emq acl --user mailer --queue mail\n"
      "  emq acl >> /etc/valkey/users.acl\n");
  auto options = std::make_shared<echomq::AclOptions>();
  auto no_kill = std::make_shared<bool>(false);
  auto prefixes = std::make_shared<std::string>("emq,bull");
  verb->add_option("--user", options->user, "The user's name")
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--queue", options->queues, "Only this queue; may be repeated")
      ->type_name("QUEUE");
  verb->add_option("--v1-prefixes", *prefixes,
                   "Prefixes under which a v1 queue is looked for; empty for none")
      ->type_name("LIST")
      ->capture_default_str();
  verb->add_flag("--without-kill", *no_kill,
                 "Without CLIENT KILL: what a lost connection still holds may run late");
  verb->add_flag("--wait", options->wait, "With WAIT, for emq add --replicas");
  verb->add_flag("--waitaof", options->waitaof,
                 "With WAITAOF, for emq add --fsync; only for servers from 7.2 on, which know it");
  verb->add_flag("--config-get", options->config_get,
                 "With CONFIG GET, for emq add --fsync on servers before 7.2");
  verb->add_flag(
      "--scan", options->scan,
      "With SCAN, for emq obliterate to find keys that no state names; it tells the names "
      "of all keys of the server");
  session.declare_json(*verb, "Print {\"user\",\"line\"}");
  verb->callback([options, no_kill, prefixes, &session] {
    session.run = [options, no_kill, prefixes, &session] {
      options->client_kill = !*no_kill;
      options->v1_prefixes = comma_list(*prefixes);
      return acl(*options, session);
    };
  });
}

}  // namespace emq
