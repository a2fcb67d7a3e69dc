// SPDX-License-Identifier: MIT
#include "support/monitor.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "echomq/keyspace.h"
#include "protocol/registry.h"

namespace echomq::test {
namespace {

char escaped(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'a': return '\a';
    case 'b': return '\b';
    default: return letter;  // the quote and the backslash
  }
}

// Reads one quoted word at `at` and moves behind it.
std::string quoted_word(std::string_view line, std::size_t& at) {
  std::string word;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\') {
      word += line[at];
    } else if (line[at + 1] == 'x') {
      word += static_cast<char>(std::stoi(std::string(line.substr(at + 2, 2)), nullptr, 16));
      at += 3;
    } else {
      word += escaped(line[++at]);
    }
  }
  ++at;
  return word;
}

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word;
}

bool calls_a_script(const MonitorLine& line) {
  const auto name = upper(line.words.at(0));
  return name == "EVAL" || name == "EVALSHA" || name == "EVAL_RO" || name == "EVALSHA_RO";
}

// The words of a command that are keys, as the server knows it.
std::vector<std::string> keys_of(RawClient& redis, const MonitorLine& line) {
  std::vector<std::string> words{"COMMAND", "GETKEYS"};
  words.insert(words.end(), line.words.begin(), line.words.end());
  const auto reply = redis(words);
  if (!reply.is_error()) return texts(reply);
  // HELLO, PING and the like have none; and a connection may say what the server refuses.
  if (!line.in_script || reply.text.find("no key arguments") != std::string::npos) return {};
  throw std::runtime_error("COMMAND GETKEYS " + line.words.at(0) + ": " + reply.text);
}

// What a v1 client may have left in the place of our keys is looked at, and repaired.
bool is_word_of_v1(const std::string& key) {
  const auto at = key.find("}:");
  if (!key.starts_with("emq:{") || at == std::string::npos) return false;
  const auto& words = registry::kV1Words;
  return std::find(words.begin(), words.end(), key.substr(at + 2)) != words.end();
}

// Says so when a key is none of this wire.
void check_key(const std::string& who, const std::string& key, Audit& found) {
  if (is_word_of_v1(key)) return;
  if (const auto parsed = parse_key(key); !parsed)
    found.violations.push_back(who + " uses " + key + ": " + parsed.error().detail);
}

}  // namespace

MonitorLine parse_monitor_line(std::string_view line) {
  const auto open = line.find('[');
  const auto close = line.find("] ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    throw std::runtime_error("not a line of MONITOR: " + std::string(line));
  MonitorLine parsed;
  parsed.in_script = line.substr(open, close - open).ends_with(" lua");
  for (std::size_t at = close + 2; at < line.size() && line[at] == '"'; ++at)
    parsed.words.push_back(quoted_word(line, at));
  if (parsed.words.empty()) throw std::runtime_error("no command: " + std::string(line));
  return parsed;
}

Monitor::Monitor(const TestServer& server) : listener_(server.connect()) {
  if (listener_({"MONITOR"}).text != "OK") throw std::runtime_error("MONITOR was refused");
}

std::vector<MonitorLine> Monitor::take(RawClient& redis) {
  const auto mark = "end of take " + std::to_string(++marks_);
  redis({"ECHO", mark});
  std::vector<MonitorLine> lines;
  while (true) {
    auto line = parse_monitor_line(listener_.receive().text);
    if (line.words.size() == 2 && line.words[1] == mark) return lines;
    lines.push_back(std::move(line));
  }
}

std::int64_t sent_by_clients(const std::vector<MonitorLine>& lines) {
  return std::count_if(lines.begin(), lines.end(),
                       [](const auto& line) { return !line.in_script; });
}

Audit audit(RawClient& redis, const std::vector<MonitorLine>& lines) {
  Audit found;
  std::string program;
  std::set<std::string> declared;
  for (const auto& line : lines) {
    if (line.in_script) {
      ++found.commands;
      for (const auto& key : keys_of(redis, line))
        if (!declared.contains(key))
          found.violations.push_back(program + " touches " + key + " by " + line.words[0] +
                                     " and does not declare it");
      continue;
    }
    if (!calls_a_script(line)) {
      for (const auto& key : keys_of(redis, line)) check_key(line.words[0], key, found);
      continue;
    }
    ++found.scripts;
    program = line.words.at(1);
    found.programs.insert(program);
    const auto first = line.words.begin() + 3;
    declared = {first, first + std::stol(line.words.at(2))};
    for (const auto& key : declared) check_key(program, key, found);
  }
  return found;
}

}  // namespace echomq::test
