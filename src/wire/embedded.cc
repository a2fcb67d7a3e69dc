// SPDX-License-Identifier: MIT
// The owner's side of the embedded server's process: it is started in its folder, waited for until
// it answers, and stopped. What happens when the owner dies is the guardian's affair.
#include "echomq/embedded.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "wire/append_only.h"
#include "wire/embedded_folder.h"
#include "wire/embedded_program.h"
#include "wire/embedded_socket.h"
#include "wire/fd.h"
#include "wire/guardian.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr int kRetryMs = 10;  // between two questions whether the server is ready
constexpr std::size_t kQuotedLog = 1'000;

// What the server wrote since `from`: its last lines.
std::string log_since(const wire::EmbeddedFolder& folder, off_t from) {
  const wire::Fd fd(::open(folder.log_path().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_size <= from) return "(it wrote nothing)";
  const auto start = std::max(from, status.st_size - static_cast<off_t>(kQuotedLog));
  std::string text(static_cast<std::size_t>(status.st_size - start), '\0');
  const auto size = ::pread(fd.get(), text.data(), text.size(), start);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (const auto line = text.find('\n'); start > from && line != std::string::npos)
    text.erase(0, line + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<Error> wait_until_ready(wire::Guardian& guardian, const wire::EmbeddedFolder& folder,
                                      const EmbeddedOptions& options, milliseconds deadline,
                                      off_t log_start) {
  std::string state = "it does not answer";
  bool slots_given = !options.cluster_enabled;
  while (monotonic_ms() < deadline) {
    if (!guardian.running())
      return folder.error("the server ended while it started; its log says:\n" +
                          log_since(folder, log_start));
    const auto pong = wire::ask(folder, {"PING"});
    if (pong && pong->str().starts_with("LOADING")) {
      state = "it is still loading its data; raise start_timeout";
    } else if (pong && !slots_given) {
      // An error means that it remembers its slots from before.
      slots_given = wire::ask(folder, {"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}).has_value();
      state = "it does not take over the cluster's slots";
    } else if (pong) {
      if (!options.cluster_enabled) return std::nullopt;
      const auto info = wire::ask(folder, {"CLUSTER", "INFO"});
      if (info && info->str().find("cluster_state:ok") != std::string_view::npos)
        return std::nullopt;
    }
    ::poll(nullptr, 0, kRetryMs);
  }
  return folder.error("the server was not ready within " +
                      std::to_string(options.start_timeout.count()) + " ms: " + state +
                      "; its log says:\n" + log_since(folder, log_start));
}

}  // namespace

struct Embedded::State {
  State(wire::EmbeddedFolder chosen, bool is_temporary)
      : folder(std::move(chosen)), temporary(is_temporary) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { stop(); }

  void stop() {
    if (guardian) guardian->stop();
    guardian.reset();
    if (std::exchange(temporary, false) && ::getpid() == owner) {
      std::error_code ignored;
      std::filesystem::remove_all(folder.path(), ignored);
    }
  }

  wire::EmbeddedFolder folder;
  bool temporary;
  pid_t owner = ::getpid();
  std::optional<wire::Guardian> guardian;
};

Embedded::Embedded(std::unique_ptr<State> state) : state_(std::move(state)) {}
Embedded::Embedded(Embedded&&) noexcept = default;
Embedded& Embedded::operator=(Embedded&&) noexcept = default;
Embedded::~Embedded() = default;

Result<Embedded> Embedded::start(const EmbeddedOptions& options) {
  if (auto error = wire::check(options)) return *std::move(error);
  const auto deadline = monotonic_ms() + options.start_timeout;
  auto program = wire::find_server(options.server);
  if (!program) return program.error();
  auto chosen = wire::EmbeddedFolder::choose(options);
  if (!chosen) return chosen.error();
  auto state = std::make_unique<State>(*std::move(chosen), options.temporary);
  const auto& folder = state->folder;
  if (auto error = folder.make()) return *std::move(error);
  const auto lock = folder.take_lock(deadline);
  if (!lock) return lock.error();
  if (auto error = wire::clear_socket(folder)) return *std::move(error);
  const wire::Fd log(::open(folder.log_path().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                            S_IRUSR | S_IWUSR));
  if (!log) return folder.system_error(folder.log_path() + " cannot be opened", errno);
  const off_t log_start = std::max<off_t>(::lseek(log.get(), 0, SEEK_END), 0);
  const auto cut = wire::cut_torn_transaction(folder.path());
  if (!cut) return cut.error();
  if (*cut > 0)
    ::dprintf(log.get(), "EchoMQ: cut %ju bytes of a torn transaction off the append-only file\n",
              static_cast<std::uintmax_t>(*cut));

  auto guardian =
      wire::Guardian::start({wire::arguments(*program, folder, options), log.get(), lock->get()});
  if (!guardian) return guardian.error();
  if (auto error = wait_until_ready(*guardian, folder, options, deadline, log_start))
    return *std::move(error);
  state->guardian.emplace(*std::move(guardian));
  return Embedded(std::move(state));
}

std::string Embedded::url() const { return state_->folder.url(); }
std::string Embedded::dir() const { return state_->folder.path(); }
int Embedded::server_pid() const { return state_->guardian ? state_->guardian->program_pid() : 0; }
void Embedded::stop() { state_->stop(); }

std::string Embedded::default_dir() { return wire::EmbeddedFolder::default_path(); }

std::optional<std::string> Embedded::running_url(std::string_view dir) {
  const std::string given = dir.empty() ? default_dir() : std::string(dir);
  if (given.empty()) return std::nullopt;
  const auto folder = wire::EmbeddedFolder::at(given);
  if (!folder.owned()) return std::nullopt;
  return folder.url();
}

}  // namespace echomq::inline v2
