// SPDX-License-Identifier: MIT
#include "wire/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

namespace echomq::inline v2::wire {
namespace {

// The newest of what OpenSSL noted about the failed call; the others are consequences.
std::string reason() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text != nullptr ? text : "it cannot be read";
}

Error unusable(const char* what, const std::string& file) {
  return {ErrorCode::tls,
          std::string("the ") + what + " " + file + " cannot be used: " + reason(),
          {{"value", file}, {"expected", "a readable PEM file"}}};
}

bool is_address(const std::string& host) {
  in6_addr ignored{};
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::make(const TlsOptions& options,
                                                     const std::string& host) {
  if (options.certificate_file.empty() != options.key_file.empty())
    return Error{ErrorCode::invalid_argument,
                 "tls.certificate_file and tls.key_file go together; only \"" +
                     options.certificate_file + options.key_file + "\" is given",
                 {{"option", options.key_file.empty() ? "tls.key_file" : "tls.certificate_file"},
                  {"value", ""},
                  {"expected", "both or neither"}}};
  ERR_clear_error();
  std::shared_ptr<TlsContext> out(new TlsContext);
  out->context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  out->host_ = options.host_name.empty() ? host : options.host_name;
  out->verify_ = options.verify;
  auto* context = out->context_.get();
  if (context == nullptr) return Error{ErrorCode::tls, "TLS cannot be set up: " + reason(), {}};
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!options.ca_file.empty() && SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1)
    return unusable("file of trusted authorities", options.ca_file);
  if (!options.ca_dir.empty() && SSL_CTX_load_verify_dir(context, options.ca_dir.c_str()) != 1)
    return unusable("folder of trusted authorities", options.ca_dir);
  if (options.ca_file.empty() && options.ca_dir.empty()) SSL_CTX_set_default_verify_paths(context);
  if (options.certificate_file.empty()) return out;
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1)
    return unusable("client certificate", options.certificate_file);
  // OpenSSL would ask the terminal, or read standard input, for the password of a key that has one.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable("key of the client certificate", options.key_file);
  return out;
}

bool TlsContext::expect_host(ssl_st* session) const {
  if (host_.empty()) return true;
  // An address is never sent as SNI (RFC 6066, section 3), and is compared as an address.
  if (is_address(host_))
    return !verify_ || X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host_.c_str()) == 1;
  if (SSL_set_tlsext_host_name(session, host_.c_str()) != 1) return false;
  SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return !verify_ || SSL_set1_host(session, host_.c_str()) == 1;
}

std::string verify_problem(const ssl_st* session) {
  const auto result = SSL_get_verify_result(session);
  return result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
}

}  // namespace echomq::inline v2::wire
