// SPDX-License-Identifier: MIT
// emq up: the private server, kept running in a terminal or under a supervisor. The other verbs
// find it by themselves when neither --url nor EMQ_URL names another.
#include <cerrno>
#include <csignal>
#include <memory>

#include "echomq/embedded.h"
#include "echomq/signals.h"
#include "session.h"

namespace emq {
namespace {

struct UpOptions {
  std::string dir;
  std::string fsync = "everysec";
};

void announce(const echomq::Embedded& server, const Session& session) {
  if (session.json) {
    print_json({{"url", server.url()}, {"dir", server.dir()}, {"pid", server.server_pid()}});
  } else {
    print("{}\ndata in {}\nstop with Ctrl-C\n", paint(Style::bold, server.url(), stdout),
          server.dir());
  }
  std::fflush(stdout);
}

Exit up(const UpOptions& options, const Session& session) {
  // Before the server is started, so that a Ctrl-C on the way stops it in order too.
  const echomq::Signals stop{SIGTERM, SIGINT};
  echomq::EmbeddedOptions embedded;
  embedded.dir = options.dir;
  embedded.appendfsync = options.fsync;
  auto server = echomq::Embedded::start(embedded);
  if (!server) return session.fail(server.error());
  announce(*server, session);
  while (!stop.wait(1, std::chrono::seconds(1))) {
    if (::kill(server->server_pid(), 0) != 0 && errno == ESRCH)
      return session.fail(
          {echomq::ErrorCode::embedded,
           "the server ended by itself; its log is " + server->dir() + "/server.log",
           {{"dir", server->dir()}}});
  }
  server->stop();
  return Exit::ok;
}

}  // namespace

void declare_up(CLI::App& app, Session& session) {
  auto* verb = session.declare(app, "up", "Start a private server and keep it until Ctrl-C",
                               "  emq up\n"
                               "  emq up --dir /var/lib/mail --fsync always\n"
                               "  emq status --url embedded:/var/lib/mail\n");
  auto options = std::make_shared<UpOptions>();
  verb->add_option("--dir", options->dir,
                   "Folder for the data, the socket and the log. Default: " +
                       echomq::Embedded::default_dir())
      ->type_name("DIR");
  verb->add_option(
          "--fsync", options->fsync,
          "always: an acknowledged job survives a crash of the machine; everysec: about the "
          "last second may be lost, and adding is faster")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"always", "everysec"}))
      ->capture_default_str();
  session.declare_json(*verb, "Print {\"url\",\"dir\",\"pid\"} once it runs");
  verb->callback(
      [options, &session] { session.run = [options, &session] { return up(*options, session); }; });
}

}  // namespace emq
