// SPDX-License-Identifier: MIT
// Fan-out and fan-in over three queues: a book waits for its chapters, each chapter for its pages.
// A page that cannot be rendered is left out; and one chapter finds out in its handler which pages
// it has, adds them to itself, and waits for them.
//
// Usage: fan_out [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <cstdio>
#include <string>
#include <vector>

#include "echomq/echomq.h"

using namespace std::chrono_literals;
using echomq::ChildFailure;
using echomq::FlowJob;
using echomq::Outcome;

namespace {

std::vector<FlowJob> pages(int count) {
  std::vector<FlowJob> all;
  for (int i = 1; i <= count; ++i)
    all.push_back({.queue = "pages",
                   .data = i == 3 ? "unreadable" : "page",
                   .on_failure = ChildFailure::ignore});
  return all;
}

Outcome render(echomq::Job<>& job) {
  if (job.data() == "unreadable") return Outcome::unrecoverable("it cannot be read");
  return Outcome::done("1");
}

// Runs once when its pages are known beforehand, twice when it adds them itself.
Outcome bind(echomq::Job<>& job) {
  const auto children = job.children();
  if (!children) return Outcome::fail(children.error().message());
  if (job.data() == "later" && children->empty()) {
    if (const auto added = job.add_children(pages(2)); !added)
      return Outcome::fail(added.error().message());
    return Outcome::wait_for_children();
  }
  return Outcome::done(std::to_string(children->completed.size()) + " " +
                       std::to_string(children->ignored.size()));
}

// The sums of what its chapters answered.
Outcome publish(echomq::Job<>& job) {
  const auto children = job.children();
  if (!children) return Outcome::fail(children.error().message());
  int bound = 0;
  int left_out = 0;
  for (const auto& chapter : children->completed) {
    int some = 0;
    int missing = 0;
    if (std::sscanf(chapter.result.value_or("").c_str(), "%d %d", &some, &missing) == 2) {
      bound += some;
      left_out += missing;
    }
  }
  return Outcome::done(std::to_string(bound) + " pages in " +
                       std::to_string(children->completed.size()) + " chapters, " +
                       std::to_string(left_out) + " left out");
}

}  // namespace

int main(int argc, char** argv) try {
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<> books{mq, "books"};
  echomq::Queue<> chapters{mq, "chapters"};
  echomq::Queue<> leaves{mq, "pages"};

  const auto book =
      echomq::Flows(mq)
          .add({.queue = "books",
                .data = "a book",
                .children = {{.queue = "chapters", .data = "one", .children = pages(4)},
                             {.queue = "chapters", .data = "two", .children = pages(5)},
                             {.queue = "chapters", .data = "later"}}})
          .value();

  echomq::Worker renders{leaves, {.concurrency = 4}, render};
  echomq::Worker binds{chapters, {.concurrency = 2}, bind};
  echomq::Worker publishes{books, {}, publish};
  const auto end = books.wait_for_result<std::string>(book.id, 30s);
  if (!end) {
    std::fprintf(stderr, "fan_out: %s\n", end.error().message().c_str());
    return 1;
  }
  std::printf("%s\n", end->c_str());
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "fan_out: %s\n", problem.what());
  return 1;
}
