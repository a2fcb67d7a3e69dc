// SPDX-License-Identifier: MIT
// emq bench: measures EchoMQ against raw HSETs and against BullMQ. What is measured and how stands
// in docs/benchmarks.md; app/bench does it.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "argument.h"
#include "bench/bench.h"
#include "bench/floor.h"
#include "bench/migration.h"
#include "bench/ours.h"
#include "bench/process.h"
#include "echomq/signals.h"
#include "session.h"

namespace emq {
namespace {

namespace fs = std::filesystem;
using echomq::ErrorCode;
using echomq::Result;

// The command line as it was typed.
struct BenchOptions {
  std::optional<std::string> url;
  bool erase = false;
  bool quick = false;
  bool without_peer = false;
  std::string peer = "bench/peer";
  std::string persistence = "both";
  std::optional<std::string> repeats;
  std::optional<std::string> rows;
  std::optional<std::string> write;
  std::optional<std::string> subject;
};

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad_value("--write", path, "a file that can be read");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<bench::Settings> settings_of(const BenchOptions& typed) {
  bench::Settings settings;
  settings.program = bench::own_program();
  settings.quick = typed.quick;
  settings.repeats = typed.quick ? 1 : 5;
  if (typed.repeats) {
    const auto repeats = whole_number("--repeats", *typed.repeats, 1, 100);
    if (!repeats) return repeats.error();
    settings.repeats = static_cast<unsigned>(*repeats);
  }
  if (typed.rows) settings.only = comma_list(*typed.rows);
  const auto rows = bench::rows();
  for (const auto& only : settings.only)
    if (std::none_of(rows.begin(), rows.end(),
                     [&only](const auto& row) { return row.starts_with(only); }))
      return bad_value("--rows", only,
                       fmt::format("the beginning of one of {}", fmt::join(rows, ", ")));
  if (typed.url) {
    settings.persistences = {bench::Persistence::as_found};
  } else if (typed.persistence != "both") {
    settings.persistences = {typed.persistence == "off" ? bench::Persistence::off
                                                        : bench::Persistence::everysec};
  }
  if (!typed.without_peer) {
    settings.peer_script = typed.peer + "/peer.mjs";
    if (!fs::exists(settings.peer_script) || !fs::exists(typed.peer + "/node_modules/bullmq"))
      return bad_value("--peer", typed.peer,
                       "the folder of peer.mjs with its packages installed (`./run bench` installs "
                       "them), or --without-peer");
  }
  return settings;
}

// "Intel Xeon, 2 cores"; for people who compare two reports.
std::string machine() {
  std::string model = "unknown processor";
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  return model + ", " + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " cores";
}

std::string heading(const bench::Settings& settings, const bench::Server& server) {
  return fmt::format("Server {}, {}; medians of {} round{}{}.\n\n", server.version(), machine(),
                     settings.repeats, settings.repeats == 1 ? "" : "s",
                     settings.quick ? ", few jobs: not for comparing" : "");
}

int serve(const std::string& who, const std::string& url) {
  auto subject = who == "floor"       ? bench::floor_subject(url)
                 : who == "migration" ? bench::migration_subject(url)
                                      : bench::our_subject(url);
  if (subject) return bench::serve(**subject);
  put(stderr, "emq: " + subject.error().message() + "\n");
  return 1;
}

Exit bench_verb(const BenchOptions& typed, const Session& session) {
  ::signal(SIGPIPE, SIG_IGN);
  if (typed.subject)
    return serve(*typed.subject, typed.url.value_or("")) == 0 ? Exit::ok : Exit::failed;
  auto settings = settings_of(typed);
  if (!settings) return session.fail(settings.error());
  std::string document;
  if (typed.write) {
    auto text = read_file(*typed.write);
    if (!text) return session.fail(text.error());
    // Told now, not after the measuring.
    if (auto ready = bench::with_table(*text, ""); !ready) return session.fail(ready.error());
    document = *std::move(text);
  }
  const echomq::Signals stop{SIGTERM, SIGINT};
  auto server = typed.url ? bench::Server::use(*typed.url, typed.erase) : bench::Server::start();
  if (!server) return session.fail(server.error());
  Progress progress(false);
  settings->stopped = [&stop] { return stop.count() > 0; };
  settings->progress = [&progress](const std::string& text) { progress.show(text); };
  bench::Results results;
  const auto done = bench::run(*server, *settings, results);
  progress.clear();
  const auto table = heading(*settings, *server) + bench::to_markdown(results);
  // What was measured until then may have taken long, so it is shown all the same.
  if (done || !results.all().empty()) {
    if (session.json) {
      Json json{{"server", server->version()},
                {"machine", machine()},
                {"repeats", settings->repeats},
                {"quick", settings->quick},
                {"complete", done.ok()}};
      json.update(bench::to_json(results));
      print_json(json);
    } else {
      put(stdout, table);
    }
  }
  if (!done) return session.fail(done.error());
  if (typed.write) {
    const auto text = bench::with_table(document, table);
    std::ofstream out(*typed.write, std::ios::binary | std::ios::trunc);
    out << *text << std::flush;
    if (!out) return session.fail({ErrorCode::config, "cannot write " + *typed.write, {}});
  }
  return Exit::ok;
}

}  // namespace

void declare_bench(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "bench", "Measure adding, working, latency and memory, beside raw HSETs and BullMQ",
      "  emq bench --quick --without-peer\n"
      "  emq bench --json > bench.json\n"
      "It starts a server of its own. docs/benchmarks.md tells what is measured and how; `./run "
      "bench` in the source tree installs the peer first. Takes about half an hour, with --quick "
      "half a minute.\n");
  auto typed = std::make_shared<BenchOptions>();
  verb->add_flag("--quick", typed->quick,
                 "Few jobs, one round: shows that all works, not how fast it is");
  verb->add_option("--repeats", typed->repeats, "Rounds. Default: 5, with --quick 1")
      ->type_name("N");
  verb->add_option("--persistence", typed->persistence,
                   "Of the own server: off, everysec (append-only file), or both in turn")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"off", "everysec", "both"}))
      ->capture_default_str();
  verb->add_option("--rows", typed->rows,
                   "Only the rows whose names begin so: bulk_add,process_c1,latency,million...")
      ->type_name("LIST");
  verb->add_flag("--without-peer", typed->without_peer, "Without BullMQ, which needs node");
  verb->add_option("--peer", typed->peer, "Folder of the peer's program and packages")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--url", typed->url,
                   "Measure this server as it is set up. It must be on this machine and empty")
      ->type_name("URL");
  verb->add_flag("--erase", typed->erase,
                 "With --url: the server may be elsewhere and hold data, which is all deleted")
      ->needs("--url");
  verb->add_option("--write", typed->write,
                   "Put the table into this file, between its two bench marks")
      ->type_name("FILE");
  // How the bench starts the processes that it measures.
  verb->add_option("--subject", typed->subject)
      ->check(CLI::IsMember({"ours", "floor", "migration"}))
      ->needs("--url")
      ->group("");
  session.declare_json(*verb, "Print {\"ratios\":{..},\"targets\":[..],\"rows\":[..]}");
  verb->callback([typed, &session] {
    session.run = [typed, &session] { return bench_verb(*typed, session); };
  });
}

}  // namespace emq
