// SPDX-License-Identifier: MIT
// emq: EchoMQ on the command line. One file per verb; see session.h for how they fit in.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "help.h"
#include "session.h"

namespace {

using emq::Exit;
using emq::Session;

// A program started with stdin, stdout or stderr closed would get a socket or a job's pipe under
// that number. They are opened first thing.
void open_standard_streams() {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0;) {
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
    fd = ::open("/dev/null", O_RDWR);
  }
}

// The command line was not understood, so whether --json was meant is read from it as it stands.
bool wants_json(int argc, char** argv) {
  char** const end = std::find(argv, argv + argc, std::string_view("--"));
  return std::find(argv, end, std::string_view("--json")) != end;
}

Exit usage(const CLI::App& app, const CLI::ParseError& problem, bool json) {
  const auto chosen = app.get_subcommands();
  const auto help = "emq " + (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help";
  return emq::report({echomq::ErrorCode::invalid_argument,
                      std::string(problem.what()) + "; see " + help,
                      {{"reason", problem.what()}}},
                     json);
}

Exit run(int argc, char** argv) {
  Session session;
  bool version = false;
  CLI::App app{
      "EchoMQ: a job queue on Redis.\n"
      "  emq up                               a private server, no set-up\n"
      "  emq add mail send 'to: you'          add a job to the queue `mail`\n"
      "  emq work mail --exec ./send-mail     run a command for each job",
      "emq"};
  app.formatter(std::make_shared<emq::Help>());
  app.footer(std::string("`emq VERB --help` tells more, with examples.\n") + emq::kExitCodes);
  app.require_subcommand(0, 1);
  app.add_flag("--version", version, "Versions of the library, the wire and the script set");
  session.declare_json(app, "With --version: as JSON");
  emq::declare_up(app, session);
  emq::declare_add(app, session);
  emq::declare_work(app, session);
  emq::declare_status(app, session);
  emq::declare_job(app, session);
  emq::declare_wait(app, session);
  emq::declare_list(app, session);
  emq::declare_logs(app, session);
  emq::declare_workers(app, session);
  emq::declare_retry(app, session);
  emq::declare_promote(app, session);
  emq::declare_change(app, session);
  emq::declare_remove(app, session);
  emq::declare_clean(app, session);
  emq::declare_drain(app, session);
  emq::declare_sweep(app, session);
  emq::declare_obliterate(app, session);
  emq::declare_metrics(app, session);
  emq::declare_pause(app, session);
  emq::declare_resume(app, session);
  emq::declare_limit(app, session);
  emq::declare_dedup(app, session);
  emq::declare_schedule(app, session);
  emq::declare_flow(app, session);
  emq::declare_events(app, session);
  emq::declare_id(app, session);
  emq::declare_keys(app, session);
  emq::declare_fence(app, session);
  emq::declare_migrate(app, session);
  emq::declare_acl(app, session);
  emq::declare_probe(app, session);
  emq::declare_doctor(app, session);
  emq::declare_bench(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return Exit::ok;
  } catch (const CLI::ParseError& problem) {
    return usage(app, problem, wants_json(argc, argv));
  }
  if (version) return emq::print_version(session);
  if (session.run) return session.run();
  return emq::report({echomq::ErrorCode::invalid_argument, "no verb was given; see emq --help", {}},
                     session.json);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  Exit code = run(argc, argv);
  // What was printed counts only once it is out: a full disk must not look like success.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == Exit::ok) {
    std::fputs("emq: cannot write to stdout\n", stderr);
    code = Exit::failed;
  }
  return static_cast<int>(code);
}
