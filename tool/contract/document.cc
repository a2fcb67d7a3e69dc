// SPDX-License-Identifier: MIT
#include "contract/document.h"

#include <string_view>

namespace echomq::inline v2::contract {
namespace {

constexpr std::string_view kIntroduction =
    "# The scripts and their contracts\n"
    "\n"
    "Generated from the headers in `lua/` by `./run manifest`; do not edit. How to read one is in\n"
    "[lua/README.md](../lua/README.md): `KEYS` and `ARGV` are the fixed ones in their order, `ITEM "
    "...`\n"
    "repeat for each item of a batch, `MORE KEYS` stand behind the keys of an item that declares "
    "them.\n"
    "What the scripts mean together is in [protocol.md](protocol.md).\n";

// The comment block at the top, without its marks.
std::string header_of(std::string_view text) {
  std::string header;
  while (text.starts_with("--")) {
    const auto end = text.find('\n');
    auto line = text.substr(2, end - 2);
    if (line.starts_with(' ')) line.remove_prefix(1);
    header.append(line).append(1, '\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return header;
}

}  // namespace

std::string document_of(const std::vector<SourceFile>& files) {
  std::string page(kIntroduction);
  for (const auto& file : files) {
    if (file.path.starts_with("lib/")) continue;
    const auto name = file.path.substr(0, file.path.rfind('.'));
    page += "\n## " + name + "\n\n```\n" + header_of(file.text) + "```\n";
  }
  return page;
}

}  // namespace echomq::inline v2::contract
