// SPDX-License-Identifier: MIT
// A handler of real work: the SHA-256 of a file, and how small zlib makes it. The file is read
// once, in pieces, so that memory stays bounded whatever its size. It knows nothing of queues but
// the error type; digest_worker.cc puts it behind one.
//
// Thread-safety: pure functions of what is on the disk.
#pragma once

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "echomq/json.h"
#include "echomq/result.h"

namespace example {

struct Digest {
  std::string sha256;          // 64 lower-case hexadecimal digits
  std::uint64_t bytes = 0;     // length of the file
  std::uint64_t deflated = 0;  // length of its zlib stream at the default level

  friend bool operator==(const Digest&, const Digest&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Digest, sha256, bytes, deflated)

namespace digest_detail {

inline constexpr std::size_t kPiece = 65'536;

// An open file that closes itself.
class File {
 public:
  // Not blocking, so that a pipe among the files is refused and not waited for.
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] bool is_regular() const {
    struct stat what {};
    return ::fstat(fd_, &what) == 0 && S_ISREG(what.st_mode);
  }
  // Bytes read, 0 at the end, -1 with errno set.
  ::ssize_t read(std::vector<unsigned char>& piece) const {
    for (;;) {
      const auto got = ::read(fd_, piece.data(), piece.size());
      if (got >= 0 || errno != EINTR) return got;
    }
  }

 private:
  int fd_;
};

// A running SHA-256.
class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    ok_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void add(const unsigned char* data, std::size_t size) {
    ok_ = ok_ && EVP_DigestUpdate(context_.get(), data, size) == 1;
  }
  // Empty when the crypto library failed.
  std::string hex() {
    std::vector<unsigned char> raw(EVP_MAX_MD_SIZE);
    unsigned size = 0;
    if (!ok_ || EVP_DigestFinal_ex(context_.get(), raw.data(), &size) != 1) return {};
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += "0123456789abcdef"[raw[i] >> 4];
      text += "0123456789abcdef"[raw[i] & 15];
    }
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
  bool ok_ = false;
};

// A running zlib stream whose output is counted and thrown away.
class Deflated {
 public:
  Deflated() : out_(kPiece), ok_(deflateInit(&stream_, Z_DEFAULT_COMPRESSION) == Z_OK) {}
  ~Deflated() { deflateEnd(&stream_); }
  Deflated(const Deflated&) = delete;
  Deflated& operator=(const Deflated&) = delete;

  void add(unsigned char* data, std::size_t size) { run(data, size, Z_NO_FLUSH); }
  std::uint64_t finish() {
    run(nullptr, 0, Z_FINISH);
    return size_;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  void run(unsigned char* data, std::size_t size, int flush) {
    if (!ok_) return;
    stream_.next_in = data;
    stream_.avail_in = static_cast<uInt>(size);
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<uInt>(out_.size());
      ok_ = deflate(&stream_, flush) != Z_STREAM_ERROR;
      size_ += out_.size() - stream_.avail_out;
    } while (ok_ && stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::vector<unsigned char> out_;
  std::uint64_t size_ = 0;
  bool ok_;
};

inline std::string errno_text() { return std::generic_category().message(errno); }

inline echomq::Error file_error(const char* did, const std::string& path, std::string reason) {
  return {echomq::ErrorCode::invalid_argument,
          std::string("cannot ") + did + " '" + path + "': " + reason +
              "; expected the path of a readable file",
          {{"value", path}, {"reason", std::move(reason)}}};
}

}  // namespace digest_detail

// Reads the file at `path` once. Errors: invalid_argument (no regular file, or it cannot be opened
// or read: the fields "value" and "reason" say what and why), closed (`stop` was asked for half
// way), unsupported (OpenSSL or zlib would not work).
inline echomq::Result<Digest> digest_file(const std::string& path,
                                          const std::stop_token& stop = {}) {
  using namespace digest_detail;
  const File file{path};
  if (!file.is_open()) return file_error("open", path, errno_text());
  if (!file.is_regular()) return file_error("digest", path, "not a regular file");

  Sha256 sha256;
  Deflated deflated;
  Digest digest;
  std::vector<unsigned char> piece(kPiece);
  for (;;) {
    if (stop.stop_requested())
      return echomq::Error{
          echomq::ErrorCode::closed,
          "asked to stop after " + std::to_string(digest.bytes) + " bytes of '" + path + "'",
          {{"value", path}}};
    const auto got = file.read(piece);
    if (got < 0) return file_error("read", path, errno_text());
    if (got == 0) break;
    const auto size = static_cast<std::size_t>(got);
    sha256.add(piece.data(), size);
    deflated.add(piece.data(), size);
    digest.bytes += size;
  }
  digest.deflated = deflated.finish();
  digest.sha256 = sha256.hex();
  if (digest.sha256.empty() || !deflated.ok())
    return echomq::Error{echomq::ErrorCode::unsupported,
                         "OpenSSL or zlib refused to work on '" + path + "'",
                         {{"value", path}}};
  return digest;
}

}  // namespace example
