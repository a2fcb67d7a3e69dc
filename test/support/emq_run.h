// SPDX-License-Identifier: MIT
// The program `emq`, run as a shell would run it: arguments, environment and input in; exit code
// and both outputs back. EMQ_URL names the test's server unless a test says otherwise, and the
// default folder of private servers is one of the test's own.
//
//   EXPECT_EQ(emq({"status", name}).code, 0);
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/environment.h"
#include "support/folder.h"
#include "support/library_test.h"

namespace echomq::test {

struct EmqRun {
  int code = -1;  // exit code; 128 + the signal that ended it; -1 when it did not end in time
  std::string out{};
  std::string err{};

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
  // Each line of the output as a document.
  [[nodiscard]] std::vector<nlohmann::json> json_lines() const;
  // {"code", "detail", ...} of the error that was reported with --json.
  [[nodiscard]] nlohmann::json error() const { return nlohmann::json::parse(err).at("error"); }
};

struct EmqHow {
  enum class Input { file, pipe };

  std::string input{};
  Input input_is = Input::file;
  Environment environment{};
  bool terminal = false;   // both outputs are one terminal: see `out`
  std::string out_file{};  // stdout goes there instead
};

class EmqProcess {
 public:
  EmqProcess(const std::vector<std::string>& arguments, const EmqHow& how);
  ~EmqProcess();
  EmqProcess(const EmqProcess&) = delete;
  EmqProcess& operator=(const EmqProcess&) = delete;

  void signal(int number) const;
  // Until it has ended.
  EmqRun wait(std::chrono::milliseconds deadline = std::chrono::seconds(60));
  [[nodiscard]] std::string out() const { return content_of(folder_.file("out")); }
  [[nodiscard]] std::string err() const { return content_of(folder_.file("err")); }

 private:
  void start(const std::vector<std::string>& arguments, const EmqHow& how, int in, int out,
             int err);

  Folder folder_;
  ::pid_t pid_ = -1;
  int terminal_ = -1;
  std::jthread feeder_;
};

// A queue on the shared server, and the program pointed at it.
class EmqTest : public LibraryTest {
 protected:
  [[nodiscard]] EmqHow how(EmqHow with = {}) const;
  EmqRun emq(const std::vector<std::string>& arguments, const EmqHow& with = {}) {
    return EmqProcess(arguments, how(with)).wait();
  }
  [[nodiscard]] std::string file(const std::string& file_name) const {
    return folder.file(file_name);
  }

  Folder folder;
};

}  // namespace echomq::test
