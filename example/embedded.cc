// SPDX-License-Identifier: MIT
// A server of one's own: Embedded starts one on a private unix socket, with its own folder, and
// stops it again. What was added is there after a restart. It is gone within two seconds even when
// this process is killed.
//
// Usage: embedded [FOLDER]; without one, a new folder below the temporary one, removed at the end.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "echomq/echomq.h"

namespace {

// With appendfsync "always" an add is on the disk when it answers; with "everysec", the default,
// the last second can be lost when the machine (not this process) dies.
echomq::Embedded start(const std::string& folder) {
  auto server = echomq::Embedded::start({.dir = folder, .appendfsync = "always"}).value();
  std::printf("server %d at %s\n", server.server_pid(), server.url().c_str());
  return server;
}

std::string add(const std::string& url) {
  auto mq = echomq::connect(url).value();
  return echomq::Queue<>{mq, "letters"}.add("remember me").value();
}

std::string read(const std::string& url, const std::string& id) {
  auto mq = echomq::connect(url).value();
  return echomq::Queue<>{mq, "letters"}.job(id).value().data;
}

// A new folder, removed when it goes.
struct TemporaryFolder {
  TemporaryFolder() {
    path = (std::filesystem::temp_directory_path() / "echomq-example-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path;
};

}  // namespace

int main(int argc, char** argv) try {
  std::optional<TemporaryFolder> temporary;
  const std::string folder = argc > 1 ? argv[1] : temporary.emplace().path;

  std::string id;
  {
    auto server = start(folder);
    id = add(server.url());

    // A folder has one owner. Another program connects to the server that runs there.
    const auto second = echomq::Embedded::start({.dir = folder});
    if (second) throw std::runtime_error("a second server was started in the same folder");
    std::printf("%s\n", second.error().message().c_str());
    std::printf("running there: %s\n",
                echomq::Embedded::running_url(folder).value_or("none").c_str());
  }  // stopped here

  auto server = start(folder);
  std::printf("after a restart: %s\n", read(server.url(), id).c_str());
  server.stop();
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "embedded: %s\n", problem.what());
  return 1;
}
