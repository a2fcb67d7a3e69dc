// SPDX-License-Identifier: MIT
// Testing a handler and a producer: a private server, a clock that jumps, and no waiting. CHECK
// stands for the assertions of any test framework.
//
// Usage: testing. It starts a server of its own.
#include "echomq/testing.h"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/echomq.h"
#include "echomq/json.h"

#define CHECK(what) \
  (++checks, (what) ? void() : (++failed, std::printf("line %d: " #what "\n", __LINE__), void()))

using namespace std::chrono_literals;
namespace mqt = echomq::testing;

namespace {

int checks = 0;
int failed = 0;

// --- the code under test

struct Mail {
  std::string to;
  std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mail, to, text)

// Says welcome now, and asks after a week.
void register_user(echomq::Queue<Mail>& mails, const std::string& name) {
  mails.add({name, "Welcome!"}, {.attempts = 3, .backoff = echomq::Backoff::fixed(10min)}).value();
  mails.add({name, "How do you like it?"}, {.delay = 7 * 24h}).value();
}

struct Sender {
  std::vector<std::string> sent{};
  int busy = 0;  // so many times the other side is
  std::string operator()(echomq::Job<Mail>& job) {
    if (busy-- > 0) throw std::runtime_error("450 busy");
    sent.push_back(job.data().to + ": " + job.data().text);
    return "250 ok";
  }
};

// --- its tests

void a_new_user_is_welcomed(echomq::Queue<Mail>& mails) {
  register_user(mails, "ada");
  CHECK(mqt::problem(mqt::expect_enqueued(mails, 2)).empty());
  const auto mail = mqt::find_enqueued(
      mails, [](const mqt::EnqueuedJob<Mail>& job) { return job.data.text == "Welcome!"; });
  CHECK(mail && mail->data.to == "ada" && mail->options.attempts == 3);
}

void a_busy_server_gets_the_mail_later(echomq::Queue<Mail>& mails) {
  register_user(mails, "bob");
  Sender sender{.busy = 2};
  const auto send = [&sender](echomq::Job<Mail>& job) { return sender(job); };
  const auto report = mqt::drain(mails, send, {.with_delayed = true, .horizon = 1h}).value();
  CHECK(report.retried == 2 && report.failures[0].reason == "450 busy");
  CHECK(sender.sent == std::vector<std::string>{"bob: Welcome!"});
  CHECK(report.jumped <= 20min && report.left.delayed == 1);
}

void a_week_later_we_ask(mqt::Server& server, echomq::Queue<Mail>& mails) {
  register_user(mails, "cyd");
  Sender sender;
  const auto send = [&sender](echomq::Job<Mail>& job) { return sender(job); };
  mqt::drain(mails, send).value();
  server.advance(7 * 24h).value();
  mqt::drain(mails, send).value();
  CHECK(sender.sent.back() == "cyd: How do you like it?");
}

}  // namespace

int main() {
  auto server = mqt::Server::start().value();
  echomq::Queue<Mail> mails{server.client(), "mails"};
  a_new_user_is_welcomed(mails);
  server.clear().value();
  a_busy_server_gets_the_mail_later(mails);
  server.clear().value();
  a_week_later_we_ask(server, mails);
  std::printf("%d checks, %d failed\n", checks, failed);
  return failed == 0 ? 0 : 1;
}
