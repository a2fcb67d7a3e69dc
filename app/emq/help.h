// SPDX-License-Identifier: MIT
// Help texts, laid out for a terminal of 100 columns: the option parser itself breaks no lines.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace emq {

// The text in lines of at most `columns`, broken at blanks; the breaks that it has stay, and a line
// keeps its indent. A word longer than that stands alone.
std::string wrapped(std::string_view text, std::size_t columns);

class Help : public CLI::Formatter {
 public:
  Help();

 protected:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
};

}  // namespace emq
