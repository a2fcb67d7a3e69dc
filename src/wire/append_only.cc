// SPDX-License-Identifier: MIT
#include "wire/append_only.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/text.h"
#include "wire/fd.h"

namespace echomq::inline v2::wire {
namespace {

enum class Step { done, cut_short, malformed };

// Reads commands as an append-only file has them: an array of bulk strings each, and lines of
// remarks between them.
class Commands {
 public:
  explicit Commands(std::string_view file) : file_(file) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view name() const { return name_; }

  Step next() {
    std::size_t count = 0;
    if (const auto step = number('*', count); step != Step::done) return step;
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view word;
      if (const auto step = bulk(word); step != Step::done) return step;
      if (i == 0) name_ = word;
    }
    return Step::done;
  }

  void skip_remarks() {
    while (at_ < file_.size() && file_[at_] == '#')
      at_ = std::min(file_.find('\n', at_), file_.size() - 1) + 1;
  }

 private:
  // "<type><number>\r\n"
  Step number(char type, std::size_t& value) {
    if (at_ == file_.size()) return Step::cut_short;
    if (file_[at_] != type) return Step::malformed;
    const auto end = file_.find("\r\n", at_);
    if (end == std::string_view::npos) return Step::cut_short;
    const char* const last = file_.data() + end;
    if (std::from_chars(file_.data() + at_ + 1, last, value).ptr != last) return Step::malformed;
    at_ = end + 2;
    return Step::done;
  }

  Step bulk(std::string_view& word) {
    std::size_t size = 0;
    if (const auto step = number('$', size); step != Step::done) return step;
    if (file_.size() - at_ < 2 || file_.size() - at_ - 2 < size) return Step::cut_short;
    word = file_.substr(at_, size);
    at_ += size + 2;
    return Step::done;
  }

  std::string_view file_;
  std::size_t at_ = 0;
  std::string_view name_;
};

bool is_word(std::string_view name, std::string_view capitals) {
  return std::equal(name.begin(), name.end(), capitals.begin(), capitals.end(),
                    [](char found, char wanted) { return upper(found) == wanted; });
}

Error failed(const std::string& path, const std::string& what) {
  const int error = errno;
  return {ErrorCode::embedded,
          path + " cannot be " + what + ": " + std::strerror(error),
          {{"value", path}}};
}

// A file's bytes, as long as this lives.
class Mapped {
 public:
  explicit Mapped(const Fd& fd) {
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || status.st_size == 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  }
  ~Mapped() {
    if (data_ != nullptr && data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  [[nodiscard]] bool failed() const { return data_ == MAP_FAILED; }
  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

std::optional<std::size_t> torn_transaction(std::string_view file) noexcept {
  Commands commands(file);
  std::optional<std::size_t> open;
  for (commands.skip_remarks(); commands.at() < file.size(); commands.skip_remarks()) {
    const auto begin = commands.at();
    switch (commands.next()) {
      case Step::malformed: return std::nullopt;
      case Step::cut_short: return open;
      case Step::done: break;
    }
    if (is_word(commands.name(), "MULTI") && !open) open = begin;
    if (is_word(commands.name(), "EXEC")) open.reset();
  }
  return open;
}

std::string newest_file(std::string_view manifest) {
  // "file NAME seq N type i"; the increments stand in the order in which they were begun.
  std::string newest;
  std::istringstream lines{std::string(manifest)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::array<std::string, 6> word;
    for (auto& one : word) words >> one;
    if (word[0] == "file" && word[5] == "i") newest = word[1];
  }
  return newest;
}

Result<std::uint64_t> cut_torn_transaction(const std::string& folder) {
  const auto files = folder + "/appendonlydir/";
  std::ifstream manifest(files + "appendonly.aof.manifest");
  const auto name = newest_file(std::string{std::istreambuf_iterator<char>(manifest), {}});
  if (name.empty()) return std::uint64_t{0};
  const auto path = files + name;
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return errno == ENOENT ? Result<std::uint64_t>(0) : failed(path, "opened");
  const Mapped file(fd);
  if (file.failed()) return failed(path, "read");
  const auto torn = torn_transaction(file.bytes());
  if (!torn) return std::uint64_t{0};
  if (::ftruncate(fd.get(), static_cast<off_t>(*torn)) != 0 || ::fsync(fd.get()) != 0)
    return failed(path, "cut before its torn transaction");
  return std::uint64_t{file.bytes().size() - *torn};
}

}  // namespace echomq::inline v2::wire
