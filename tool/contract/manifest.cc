// SPDX-License-Identifier: MIT
#include "contract/manifest.h"

#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

namespace echomq::inline v2::contract {
namespace {

constexpr std::string_view kRevisionWord = "revision ";

std::string list(const Words& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ",") + word;
  return joined.empty() ? "-" : joined;
}

std::map<std::string, std::string> lines_by_name(const std::string& text) {
  std::map<std::string, std::string> lines;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);  // the revision
  while (std::getline(in, line)) lines[line.substr(0, line.find(' '))] = line;
  return lines;
}

}  // namespace

std::string manifest_text(const Bundle& bundle, int revision) {
  std::ostringstream out;
  out << kRevisionWord << revision << "\n";
  for (const Script& script : bundle.scripts) {
    const Header& header = script.header;
    out << script.name << ' ' << header.keys.size() << ' ' << header.args.size() << ' '
        << header.item_keys.size() << ' ' << header.more_keys.size() << ' '
        << header.item_args.size() << " errors=" << list(header.errors)
        << " statuses=" << list(header.statuses) << ' ' << script.sha1 << "\n";
  }
  return out.str();
}

std::optional<int> manifest_revision(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  if (!line.starts_with(kRevisionWord)) return {};
  int revision = 0;
  const char* end = line.data() + line.size();
  const auto [stop, fault] = std::from_chars(line.data() + kRevisionWord.size(), end, revision);
  if (fault != std::errc() || stop != end || revision < 1) return {};
  return revision;
}

std::vector<std::string> manifest_changes(const std::string& committed,
                                          const std::string& present) {
  const auto before = lines_by_name(committed);
  const auto after = lines_by_name(present);
  std::vector<std::string> changes;
  for (const auto& [name, line] : after) {
    const auto old = before.find(name);
    if (old == before.end())
      changes.push_back("script " + name + " is new");
    else if (old->second != line)
      changes.push_back("script " + name + " differs from the manifest");
  }
  for (const auto& [name, line] : before)
    if (!after.contains(name)) changes.push_back("script " + name + " is gone");
  // Same scripts, another spelling of the file: the hash over its lines would differ all the same.
  if (changes.empty() && committed != present)
    changes.emplace_back("the manifest is not in the form that is written");
  return changes;
}

}  // namespace echomq::inline v2::contract
