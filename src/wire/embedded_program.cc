// SPDX-License-Identifier: MIT
#include "wire/embedded_program.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "wire/fd.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 6> kOurArguments{
    "--daemonize", "--dir", "--logfile", "--port", "--supervised", "--unixsocket"};

Error bad_option(const std::string& detail, const std::string& value) {
  return {ErrorCode::invalid_argument, "EmbeddedOptions: " + detail, {{"value", value}}};
}

bool is_ours(std::string_view argument) {
  const auto word = lower(argument.substr(0, argument.find_first_of(" \t=")));
  return std::find(kOurArguments.begin(), kOurArguments.end(), word) != kOurArguments.end();
}

bool executable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string look_up(const std::string& name) {
  if (name.find('/') != std::string::npos) return executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path ? path : "") + ":/usr/local/bin:/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const auto end = std::min(folders.find(':', at), folders.size());
    // An empty entry means the current folder: not for a server that is found rather than named.
    auto candidate = folders.substr(at, end - at) + "/" + name;
    if (end > at && executable(candidate)) return candidate;
    at = end + 1;
  }
  return "";
}

// A port of 127.0.0.1 that is free now.
std::string free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, size) != 0 || ::getsockname(fd.get(), generic, &size) != 0)
    return "0";
  return std::to_string(ntohs(address.sin_port));
}

}  // namespace

std::optional<Error> check(const EmbeddedOptions& options) {
  if (options.appendfsync != "always" && options.appendfsync != "everysec" &&
      options.appendfsync != "no")
    return bad_option(
        "appendfsync is \"" + options.appendfsync + "\"; it must be always, everysec or no",
        options.appendfsync);
  if (options.start_timeout <= milliseconds(0))
    return bad_option("start_timeout is " + std::to_string(options.start_timeout.count()) +
                          " ms; it must be above 0",
                      std::to_string(options.start_timeout.count()));
  if (options.temporary && !options.dir.empty())
    return bad_option(
        "temporary makes a folder of its own and excludes dir \"" + options.dir + "\"",
        options.dir);
  if (options.dir.find('\0') != std::string::npos)
    return bad_option("dir contains a NUL byte", std::string(options.dir.c_str()));
  for (const auto& argument : options.extra_args)
    if (is_ours(argument))
      return bad_option(
          "extra_args has \"" + argument + "\", which the embedded server sets itself", argument);
  return std::nullopt;
}

Result<std::string> find_server(const std::string& wanted) {
  const auto names = wanted.empty() ? std::vector<std::string>{"valkey-server", "redis-server"}
                                    : std::vector<std::string>{wanted};
  for (const auto& name : names)
    if (auto found = look_up(name); !found.empty()) return found;
  const std::string what = wanted.empty()
                               ? "neither valkey-server nor redis-server was found in PATH"
                               : "the server program \"" + wanted + "\" was not found";
  return Error{ErrorCode::embedded,
               what +
                   "; install one, as with: apt-get install redis-server; or name it in "
                   "EmbeddedOptions::server",
               {{"value", wanted}, {"expected", "an executable file"}}};
}

std::vector<std::string> arguments(const std::string& program, const EmbeddedFolder& folder,
                                   const EmbeddedOptions& options) {
  std::vector<std::string> out{program,
                               "--port",
                               "0",
                               "--unixsocket",
                               folder.socket_path(),
                               "--unixsocketperm",
                               "700",
                               "--dir",
                               folder.path(),
                               "--logfile",
                               folder.log_path(),
                               "--daemonize",
                               "no",
                               "--appendonly",
                               "yes",
                               "--appendfsync",
                               options.appendfsync,
                               "--save",
                               "",
                               "--maxmemory-policy",
                               "noeviction"};
  if (options.cluster_enabled)
    for (const auto* word : {"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
                             "--bind", "127.0.0.1", "--cluster-port"})
      out.emplace_back(word);
  if (options.cluster_enabled) out.push_back(free_port());
  out.insert(out.end(), options.extra_args.begin(), options.extra_args.end());
  return out;
}

}  // namespace echomq::inline v2::wire
