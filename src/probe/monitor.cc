// SPDX-License-Identifier: MIT
#include "probe/monitor.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "echomq/keyspace.h"
#include "protocol/v1_names.h"
#include "wire/command.h"

namespace echomq::inline v2::probe {
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

int hex(char digit) { return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10; }

// Reads one quoted word at `at` and moves behind it.
std::string quoted_word(std::string_view line, std::size_t& at) {
  std::string word;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 >= line.size()) {
      word += line[at];
    } else if (line[at + 1] == 'x' && at + 3 < line.size()) {
      word += static_cast<char>(hex(line[at + 2]) * 16 + hex(line[at + 3]));
      at += 3;
    } else {
      word += escaped(line[++at]);
    }
  }
  ++at;
  return word;
}

bool calls_a_script(const MonitorLine& line) {
  const auto name = upper(line.words[0]);
  return (name == "EVAL" || name == "EVALSHA" || name == "EVAL_RO" || name == "EVALSHA_RO") &&
         line.words.size() > 2;
}

// A call of a script declares them itself, a bare word has none, and questions about commands, the
// auditor's own among them, touch nothing.
bool may_have_keys(const MonitorLine& line) {
  return line.words.size() > 1 && !calls_a_script(line) && upper(line.words[0]) != "COMMAND";
}

// The words of commands that are keys, as the server knows them. Where a command always has them in
// the same places that is asked once (COMMAND INFO), else for each (COMMAND GETKEYS), many at once.
class KeysOfCommands {
 public:
  KeysOfCommands(Link& link, const std::vector<const MonitorLine*>& lines) : link_(link) {
    constexpr std::size_t kAtOnce = 500;
    std::vector<const MonitorLine*> open;
    for (const auto* const line : lines)
      if (may_have_keys(*line) && places_of(line->words[0]).first <= 0) open.push_back(line);
    for (std::size_t from = 0; from < open.size(); from += kAtOnce)
      ask({open.begin() + static_cast<std::ptrdiff_t>(from),
           open.begin() + static_cast<std::ptrdiff_t>(std::min(from + kAtOnce, open.size()))});
  }

  std::vector<std::string> of(const MonitorLine& line, Audit& found) {
    if (!may_have_keys(line)) return {};
    if (const auto places = places_of(line.words[0]); places.first > 0) {
      std::vector<std::string> keys;
      const auto count = static_cast<std::int64_t>(line.words.size());
      const auto last = places.last < 0 ? count + places.last : places.last;
      for (auto i = places.first; i <= last && i < count; i += places.step)
        keys.push_back(line.words[static_cast<std::size_t>(i)]);
      return keys;
    }
    const auto reply = replies_.find(&line);
    if (reply == replies_.end()) return {};
    if (!reply->second.is_error()) return texts(reply->second);
    // HELLO, PING and the like have none; and a connection may say what the server refuses.
    if (line.in_script && reply->second.text.find("no key arguments") == std::string::npos)
      found.violations.push_back("COMMAND GETKEYS " + line.words[0] + ": " + reply->second.text);
    return {};
  }

 private:
  struct Places {
    std::int64_t first = 0;  // 0: they depend on the other words, or there are none
    std::int64_t last = 0;   // below 0: counted from the end
    std::int64_t step = 1;
  };

  Places places_of(const std::string& command) {
    const auto known = places_.find(command);
    if (known != places_.end()) return known->second;
    Places places;
    const auto reply = link_({"COMMAND", "INFO", command});
    if (reply.items.size() == 1 && reply.items[0].items.size() >= 6) {
      const auto& info = reply.items[0].items;
      const auto flags = texts(info[2]);
      if (std::find(flags.begin(), flags.end(), "movablekeys") == flags.end() &&
          info[5].integer > 0)
        places = {info[3].integer, info[4].integer, info[5].integer};
    }
    return places_[command] = places;
  }

  void ask(const std::vector<const MonitorLine*>& lines) {
    std::string questions;
    for (const auto* const line : lines) {
      wire::append_header(questions, 2 + line->words.size());
      wire::append_bulk(questions, "COMMAND");
      wire::append_bulk(questions, "GETKEYS");
      for (const auto& word : line->words) wire::append_bulk(questions, word);
    }
    link_.send(questions);
    for (const auto* const line : lines) replies_[line] = link_.receive();
  }

  Link& link_;
  std::map<std::string, Places> places_;
  std::map<const MonitorLine*, Reply> replies_;
};

// Says so when a key is none of this wire.
void check_key(const std::string& who, const std::string& key, Audit& found) {
  if (is_v1_word_key(key)) return;  // looked at, and repaired
  if (const auto parsed = parse_key(key); !parsed)
    found.violations.push_back(who + " uses " + key + ": " + parsed.error().detail);
}

}  // namespace

MonitorLine parse_monitor_line(std::string_view line) {
  MonitorLine parsed;
  const auto open = line.find('[');
  const auto close = line.find("] ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return parsed;
  parsed.in_script = line.substr(open, close - open).ends_with(" lua");
  for (std::size_t at = close + 2; at < line.size() && line[at] == '"'; ++at)
    parsed.words.push_back(quoted_word(line, at));
  return parsed;
}

std::string Monitor::start() {
  const auto reply = listener_({"MONITOR"});
  return reply.text == "OK" ? "" : reply.text;
}

std::vector<MonitorLine> Monitor::take(Link& link) {
  const auto mark = "end of take " + std::to_string(++marks_);
  link({"PING", mark});
  std::vector<MonitorLine> lines;
  while (true) {
    const auto reply = listener_.receive();
    if (reply.is_error()) return lines;  // lost
    auto line = parse_monitor_line(reply.text);
    if (line.words.size() == 2 && line.words[1] == mark) return lines;
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
}

std::int64_t sent_by_clients(const std::vector<MonitorLine>& lines) {
  return std::count_if(lines.begin(), lines.end(),
                       [](const auto& line) { return !line.in_script; });
}

Audit audit(Link& link, const std::vector<MonitorLine>& lines, std::string_view only) {
  Audit found;
  std::vector<const MonitorLine*> ours;
  bool is_ours = only.empty();
  for (const auto& line : lines) {
    if (!line.in_script && !only.empty())
      is_ours = calls_a_script(line) &&
                std::any_of(line.words.begin() + 3, line.words.end(), [only](const auto& word) {
                  return word.find(only) != std::string::npos;
                });
    if (is_ours) ours.push_back(&line);
  }
  KeysOfCommands keys(link, ours);
  std::string program;
  std::set<std::string> declared;
  for (const auto* const line : ours) {
    if (line->in_script) {
      ++found.commands;
      for (const auto& key : keys.of(*line, found))
        if (!declared.contains(key))
          found.violations.push_back(std::string(program)
                                         .append(" touches ")
                                         .append(key)
                                         .append(" by ")
                                         .append(line->words[0])
                                         .append(" and does not declare it"));
      continue;
    }
    if (!calls_a_script(*line)) {
      for (const auto& key : keys.of(*line, found)) check_key(line->words[0], key, found);
      continue;
    }
    ++found.scripts;
    program = line->words[1];
    found.programs.insert(program);
    declared.clear();
    const auto end = 3 + to_number<std::size_t>(line->words[2]);
    for (std::size_t i = 3; i < line->words.size() && i < end; ++i) declared.insert(line->words[i]);
    for (const auto& key : declared) check_key(program, key, found);
  }
  return found;
}

}  // namespace echomq::inline v2::probe
