// SPDX-License-Identifier: MIT
// What the verbs of one run of `emq` share: the address of the server, how to connect, how to fail.
//
// Each verb is a file with one function declare_VERB(app, session): it adds a sub-command to the
// option parser and, when that sub-command was chosen, leaves what is to be done in session.run.
// main() calls it after the whole command line was read, so that a wrong option never does half of
// the work.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "echomq/client.h"
#include "exit_code.h"
#include "output.h"

namespace emq {

struct Session {
  std::string url = echomq::url_from_env();
  bool json = false;
  bool allow_eviction = false;
  std::string v1_prefixes = "emq,bull";
  echomq::TlsOptions tls{};
  std::function<Exit()> run{};

  // A sub-command whose help ends with `examples` and the exit codes.
  CLI::App* declare(CLI::App& app, const std::string& verb, const std::string& description,
                    const std::string& examples);
  void declare_json(CLI::App& verb, const std::string& what);
  // --url alone; and with what else concerns the server.
  void declare_url(CLI::App& verb);
  void declare_server(CLI::App& verb);

  // `name` is shown by the server's CLIENT LIST. Log lines from `least` on go to stderr.
  [[nodiscard]] echomq::Result<echomq::Client> connect(
      std::string_view name = "emq", echomq::LogLevel least = echomq::LogLevel::error) const;
  Exit fail(const echomq::Error& error) const { return report(error, json); }
};

void declare_up(CLI::App& app, Session& session);
void declare_add(CLI::App& app, Session& session);
void declare_work(CLI::App& app, Session& session);
void declare_status(CLI::App& app, Session& session);
void declare_job(CLI::App& app, Session& session);
void declare_list(CLI::App& app, Session& session);
void declare_logs(CLI::App& app, Session& session);
void declare_workers(CLI::App& app, Session& session);
void declare_retry(CLI::App& app, Session& session);
void declare_promote(CLI::App& app, Session& session);
void declare_remove(CLI::App& app, Session& session);
void declare_clean(CLI::App& app, Session& session);
void declare_drain(CLI::App& app, Session& session);
void declare_sweep(CLI::App& app, Session& session);
void declare_obliterate(CLI::App& app, Session& session);
void declare_metrics(CLI::App& app, Session& session);
void declare_pause(CLI::App& app, Session& session);
void declare_resume(CLI::App& app, Session& session);
void declare_change(CLI::App& app, Session& session);
void declare_wait(CLI::App& app, Session& session);
void declare_limit(CLI::App& app, Session& session);
void declare_dedup(CLI::App& app, Session& session);
void declare_schedule(CLI::App& app, Session& session);
void declare_flow(CLI::App& app, Session& session);
void declare_events(CLI::App& app, Session& session);
void declare_id(CLI::App& app, Session& session);
void declare_keys(CLI::App& app, Session& session);
void declare_fence(CLI::App& app, Session& session);
void declare_migrate(CLI::App& app, Session& session);
void declare_acl(CLI::App& app, Session& session);
void declare_probe(CLI::App& app, Session& session);
void declare_doctor(CLI::App& app, Session& session);
void declare_bench(CLI::App& app, Session& session);
Exit print_version(const Session& session);

}  // namespace emq
