// SPDX-License-Identifier: MIT
#include "help.h"

#include <sstream>

namespace emq {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLeft = 28;

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    const bool broken = line.size() < text.size();
    text.remove_prefix(line.size() + (broken ? 1 : 0));
    const std::string indent(line.substr(0, line.find_first_not_of(' ')).size(), ' ');
    bool first = true;
    while (first || !line.empty()) {
      const std::size_t room = columns - (first ? 0 : indent.size());
      auto end = line.size();
      if (end > room) {
        end = line.rfind(' ', room);
        if (end == std::string_view::npos || end <= indent.size()) end = line.find(' ', room);
        if (end == std::string_view::npos) end = line.size();
      }
      if (!first) out.append("\n").append(indent);
      out.append(line.substr(0, end));
      const auto next = line.find_first_not_of(' ', end);
      line.remove_prefix(next == std::string_view::npos ? line.size() : next);
      first = false;
    }
    if (broken) out += '\n';
  }
  return out;
}

Help::Help() { column_width(kLeft); }

// What excludes what is said in the descriptions, and the usage line shows what is required.
std::string Help::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0 || option->get_positional()) return "";
  return " " + option->get_type_name();
}

std::string Help::make_option_desc(const CLI::Option* option) const {
  auto text = option->get_description();
  if (option->get_required() && !option->get_positional()) text += " (required)";
  if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
  return wrapped(text, kColumns - kLeft);
}

std::string Help::make_subcommand(const CLI::App* verb) const {
  std::ostringstream out;
  CLI::detail::format_help(out, verb->get_name(),
                           wrapped(verb->get_description(), kColumns - kLeft), kLeft);
  return out.str();
}

std::string Help::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), kColumns) + "\n\n";
}

std::string Help::make_footer(const CLI::App* app) const {
  return wrapped(app->get_footer(), kColumns) + "\n";
}

}  // namespace emq
