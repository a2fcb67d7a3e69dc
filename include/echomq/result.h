// SPDX-License-Identifier: MIT
// Errors and results: every operation that can fail returns a Result<T>.
//
//   auto id = queue.add("payload");
//   if (!id) std::cerr << id.error().message() << "\n";     // no exceptions needed
//   std::string text = queue.add("payload").value();        // or: throws echomq::Exception
//
// Result<T> is our own type in every language mode, because a type that changed with -std would
// link silently and break; where the standard library has std::expected it converts to it. Built
// with -fno-exceptions, value() on an error writes the message to stderr and aborts.
//
// Thread-safety: plain values; as safe as an int.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "echomq/export.h"

#if defined(__cpp_exceptions)
#include <exception>
#endif
#if __has_include(<expected>)
#include <expected>
#endif

namespace echomq::inline v2 {

// What went wrong. Each code says what happened to the data: unless the comment says otherwise,
// nothing was written. The numbers are stable; new codes are only added at the end.
enum class ErrorCode : int {
  // The caller's input. Raised before a byte is sent.
  invalid_argument = 1,  // an option outside its range, or options that exclude each other
  invalid_url = 2,       // a server address that cannot be read
  invalid_name = 3,      // a queue name or job id outside the grammar of docs/protocol.md section 3
  too_large = 4,         // data, result or argument over its limit
  encoding = 5,          // text that must be UTF-8 and is not
  unsupported = 6,  // understood, and not offered by this version (the message says which will)
  decode = 7,       // data or a result that is not what its type's codec reads

  // The server or the way to it.
  config = 10,           // the server's settings would lose jobs (an evicting maxmemory-policy)
  unavailable = 11,      // nobody answers there; the command was never sent
  timeout = 12,          // the deadline passed while the command was in flight: outcome unknown
  connection_lost = 13,  // the connection died while the command was in flight: outcome unknown
  loading = 14,          // the server is still loading its data set
  server_too_old = 15,   // the server lacks a command that the protocol needs
  server_error = 16,     // the server answered with an error of its own (the message quotes it)
  denied = 17,           // authentication failed or an ACL rule refused a command
  full = 18,             // the server is at maxmemory: adds are refused, everything else goes on
  closed = 19,           // the client was closed before the operation was sent
  embedded = 20,         // the embedded server could not be started
  tls = 21,           // no trusted connection: a certificate was not accepted, or a TLS file is bad
  backpressure = 22,  // ClientOptions::buffer_limit is reached: nothing was sent, try again later
  queue_full = 23,    // the queue holds as many waiting jobs as it may (Queue::set_max_length): not
                      // added, try again later

  // The protocol.
  fence = 30,  // the keyspace belongs to another wire or version: see FenceError in fence.h
  nodes_exhausted = 31,  // all 1,024 node ids are held by live processes
  wrong_type = 32,       // a key of the queue holds a value of a foreign type
  protocol = 33,         // an answer that this version does not understand

  // One job.
  duplicate = 40,    // a job with that custom id exists already; it was left as it is
  collision = 41,    // a freshly minted id exists already: two processes share a node id
  not_found = 42,    // no such job
  stale = 43,        // the lease is no longer this worker's: another run owns the job
  wrong_state = 44,  // the job is not in a state that allows the operation
  not_durable =
      45,  // added, and not confirmed to be as safe as asked (Durability): it will be worked
};

// The code's name as it is spelled above, "unknown" for a number outside the list.
ECHOMQ_API std::string_view name(ErrorCode code) noexcept;

// A code, one sentence for people, and named values for programs.
struct Error {
  ErrorCode code = ErrorCode::protocol;
  std::string detail;                                       // what was found, expected, and to do
  std::vector<std::pair<std::string, std::string>> fields;  // {"value", "-3"}, {"queue", "mail"}...

  // "<code>: <detail>"
  [[nodiscard]] std::string message() const { return std::string(name(code)) + ": " + detail; }

  // The value of a field, or nullptr.
  [[nodiscard]] const std::string* field(std::string_view key) const noexcept {
    for (const auto& [k, v] : fields)
      if (k == key) return &v;
    return nullptr;
  }

  // True when the operation may or may not have happened (its command was sent, the answer never
  // came). Retrying an add under the same custom id, or reading the job, settles it.
  [[nodiscard]] bool unknown_outcome() const noexcept {
    return code == ErrorCode::timeout || code == ErrorCode::connection_lost;
  }
};

#if defined(__cpp_exceptions)
// Thrown by Result::value() only; no other function of the library throws.
class Exception : public std::exception {
 public:
  explicit Exception(Error error) : error_(std::move(error)), what_(error_.message()) {}
  const char* what() const noexcept override { return what_.c_str(); }
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
  std::string what_;
};
#endif

[[noreturn]] inline void raise(const Error& error) {
#if defined(__cpp_exceptions)
  throw Exception(error);
#else
  std::fputs(error.message().c_str(), stderr);
  std::fputc('\n', stderr);
  std::abort();
#endif
}

template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Error>);

 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // The value; throws Exception (or aborts, without exceptions) when there is none.
  T& value() & {
    if (!ok()) raise(*std::get_if<1>(&state_));
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    if (!ok()) raise(*std::get_if<1>(&state_));
    return *std::get_if<0>(&state_);
  }
  // Of a temporary by value, so that what is read of it lives on:
  // for (const auto& job : queue.jobs(...).value().jobs)
  T value() && {
    if (!ok()) raise(*std::get_if<1>(&state_));
    return std::move(*std::get_if<0>(&state_));
  }
  T value_or(T other) && { return ok() ? std::move(*std::get_if<0>(&state_)) : std::move(other); }

  // Unchecked, like std::expected: only after ok().
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  // Only after !ok().
  [[nodiscard]] const Error& error() const noexcept { return *std::get_if<1>(&state_); }

#if defined(__cpp_lib_expected)
  operator std::expected<T, Error>() && {  // NOLINT: implicit by design
    if (ok()) return std::move(*std::get_if<0>(&state_));
    return std::unexpected(std::move(*std::get_if<1>(&state_)));
  }
#endif

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  void value() const {
    if (error_) raise(*error_);
  }
  [[nodiscard]] const Error& error() const noexcept { return *error_; }

#if defined(__cpp_lib_expected)
  operator std::expected<void, Error>() && {  // NOLINT: implicit by design
    if (ok()) return {};
    return std::unexpected(std::move(*error_));
  }
#endif

 private:
  std::optional<Error> error_;
};

}  // namespace echomq::inline v2
