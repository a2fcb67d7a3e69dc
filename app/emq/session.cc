// SPDX-License-Identifier: MIT
#include "session.h"

#include <utility>

#include "argument.h"

namespace emq {

CLI::App* Session::declare(CLI::App& app, const std::string& verb, const std::string& description,
                           const std::string& examples) {
  auto* command = app.add_subcommand(verb, description);
  command->footer("Examples:\n" + examples + "\n" + kExitCodes);
  return command;
}

void Session::declare_json(CLI::App& verb, const std::string& what) {
  verb.add_flag("--json", json, what);
}

void Session::declare_url(CLI::App& verb) {
  verb.add_option(
          "--url", url,
          "Server: redis://HOST, rediss://HOST (TLS), unix:///SOCKET, embedded:/FOLDER. Default: "
          "EMQ_URL, and when "
          "that is unset the private server of `emq up`, started for this run if it does not run")
      ->type_name("URL");
}

void Session::declare_server(CLI::App& verb) {
  declare_url(verb);
  verb.add_flag("--allow-eviction", allow_eviction,
                "Accept a server whose maxmemory-policy may drop jobs");
  verb.add_option(
          "--v1-prefixes", v1_prefixes,
          "Refuse queues that stand on the server under these prefixes of the v1 wire; \"\" where "
          "BullMQ runs beside")
      ->type_name("LIST")
      ->capture_default_str();
  verb.add_option("--ca", tls.ca_file,
                  "TLS: the authorities to trust (PEM) instead of the system's")
      ->type_name("FILE");
  verb.add_option("--cert", tls.certificate_file, "TLS: a client certificate (PEM) to show")
      ->type_name("FILE");
  verb.add_option("--key", tls.key_file, "TLS: the key of --cert (PEM)")->type_name("FILE");
  verb.add_option("--server-name", tls.host_name,
                  "TLS: the name that the server's certificate must bear, if not the URL's host")
      ->type_name("NAME");
}

echomq::Result<echomq::Client> Session::connect(std::string_view name,
                                                echomq::LogLevel least) const {
  echomq::ClientOptions options;
  options.allow_eviction = allow_eviction;
  options.v1_prefixes = comma_list(v1_prefixes);
  options.name = name;
  options.tls = tls;
  options.log = [least](echomq::LogLevel level, std::string_view line) {
    if (level < least) return;
    put(stderr, "emq: " + printable(line) + "\n");
  };
  return echomq::connect(url, std::move(options));
}

}  // namespace emq
