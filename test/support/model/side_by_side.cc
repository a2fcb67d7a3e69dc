// SPDX-License-Identifier: MIT
#include "support/model/side_by_side.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace echomq::test {
namespace {

constexpr auto kQueue = "model";

}  // namespace

SideBySide::SideBySide(const TestServer& server, std::size_t clients) : model(kQueue) {
  for (std::size_t i = 0; i < clients; ++i) {
    connections_.push_back(std::make_unique<RawClient>(server.connect()));
    clients_.push_back(std::make_unique<ScriptQueue>(*connections_.back(), kQueue));
    clients_.back()->journal = &journal;
  }
  redis()({"FLUSHALL"});
}

std::string SideBySide::run(const Step& step) {
  auto told = answers_differ(step);
  if (told.empty())
    for (const auto& wrong : jobs_out_of_state(model)) told += wrong + "\n";
  return told + difference();
}

std::string SideBySide::answers_differ(const Step& step) {
  auto& client = *clients_.at(step.client);
  client.now = step.now;
  model.now = step.now;
  const auto expected = step.of_model(model);
  const auto told = step.of_scripts(client);
  if (told == expected) return "";
  return "answered: " + expected + " -> " + told + "\n";
}

std::string SideBySide::difference() {
  model.adopt_stream(static_cast<std::size_t>(redis()({"XLEN", model.keys.events}).integer));
  return test::difference(model.keyspace(), dump_all(redis()));
}

std::string difference_after(const TestServer& server, std::size_t clients,
                             std::vector<Step>& steps) {
  SideBySide both(server, clients);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    try {
      auto told = both.answers_differ(steps[i]);
      if (i + 1 < steps.size() && told.empty()) continue;
      steps.resize(i + 1);
      return told + both.difference();
    } catch (const std::logic_error&) {
      return "";  // what the model knows nothing of
    }
  }
  return "";
}

std::vector<Step> shrunk(const TestServer& server, std::size_t clients, std::vector<Step> steps,
                         std::chrono::seconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  // Ever smaller runs of steps are left out, from the back, where they are not missed.
  for (auto length = steps.size() / 2; length > 0; length /= 2) {
    for (auto from = steps.size(); from > 0;) {
      if (std::chrono::steady_clock::now() > end) return steps;
      from -= std::min(from, length);
      auto fewer = steps;
      const auto at = fewer.begin() + static_cast<std::ptrdiff_t>(from);
      fewer.erase(at, at + static_cast<std::ptrdiff_t>(std::min(length, fewer.size() - from)));
      if (difference_after(server, clients, fewer).empty()) continue;
      steps = std::move(fewer);
      from = std::min(from, steps.size());
    }
  }
  return steps;
}

std::string texts_of(const std::vector<Step>& steps) {
  std::string all;
  for (const auto& step : steps)
    all += "  client " + std::to_string(step.client) + " at " + std::to_string(step.now) + ": " +
           step.text + "\n";
  return all;
}

}  // namespace echomq::test
