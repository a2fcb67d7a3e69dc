// SPDX-License-Identifier: MIT
// contract: the build's reader of lua/. It refuses a script that breaks a rule of lua/README.md, a
// script that changed without the manifest saying so, and writes the C++ side of the rest.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "contract/document.h"
#include "contract/generate.h"
#include "contract/manifest.h"
#include "contract/rules.h"

namespace {

namespace contract = echomq::contract;
namespace fs = std::filesystem;

constexpr const char* kUsage =
    "usage: contract check LUA_DIR                    all rules; exit 1 with file:line messages\n"
    "       contract generate LUA_DIR OUT_H OUT_CC    check, compare with LUA_DIR/manifest.txt, "
    "write\n"
    "       contract manifest LUA_DIR                 check, rewrite LUA_DIR/manifest.txt\n"
    "       contract document LUA_DIR OUT_MD          write the headers of all scripts on one "
    "page\n";

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Only when the content differs, so that a build with nothing changed compiles nothing.
void write_file(const fs::path& path, const std::string& text) {
  if (read_file(path) == text) return;
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

// Prints the findings, with paths that lead to the files; true when there are none.
bool check(const fs::path& lua_dir, contract::Bundle& bundle) {
  contract::Problems problems = contract::check(contract::read_sources(lua_dir), bundle);
  for (contract::Problem& problem : problems) {
    problem.at.file = (lua_dir / problem.at.file).string();
    std::cerr << to_string(problem) << "\n";
  }
  if (!problems.empty())
    std::cerr << problems.size() << " findings; the rules are in "
              << (lua_dir / "README.md").string() << "\n";
  return problems.empty();
}

int revision_of(const fs::path& manifest, const std::string& text) {
  const auto revision = contract::manifest_revision(text);
  if (!revision)
    throw std::runtime_error(manifest.string() +
                             ":1: the first line must be 'revision N', N a number above 0");
  return *revision;
}

int rewrite(const fs::path& lua_dir) {
  contract::Bundle bundle;
  if (!check(lua_dir, bundle)) return 1;
  const fs::path path = lua_dir / "manifest.txt";
  const auto committed = read_file(path);
  const int revision = committed ? revision_of(path, *committed) : 1;
  write_file(path, manifest_text(bundle, revision));
  return 0;
}

int generate(const fs::path& lua_dir, const fs::path& header, const fs::path& source) {
  contract::Bundle bundle;
  if (!check(lua_dir, bundle)) return 1;
  const fs::path path = lua_dir / "manifest.txt";
  const auto committed = read_file(path);
  if (!committed) throw std::runtime_error(path.string() + " is missing: run ./run manifest");
  const int revision = revision_of(path, *committed);
  const std::string present = manifest_text(bundle, revision);
  const auto changes = contract::manifest_changes(*committed, present);
  for (const std::string& change : changes) std::cerr << path.string() << ": " << change << "\n";
  if (!changes.empty()) {
    std::cerr << "raise `revision` in lua/manifest.txt if the change alters behaviour, and run "
                 "./run manifest\n";
    return 1;
  }
  write_file(header, contract::generated_header(bundle, revision));
  write_file(source, contract::generated_source(bundle, header.filename().string(), present));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "check") {
      contract::Bundle bundle;
      return check(words[1], bundle) ? 0 : 1;
    }
    if (words.size() == 4 && words[0] == "generate") return generate(words[1], words[2], words[3]);
    if (words.size() == 2 && words[0] == "manifest") return rewrite(words[1]);
    if (words.size() == 3 && words[0] == "document") {
      write_file(words[2], contract::document_of(contract::read_sources(words[1])));
      return 0;
    }
  } catch (const std::exception& failure) {
    std::cerr << "contract: " << failure.what() << "\n";
    return 1;
  }
  std::cerr << kUsage;
  return 2;
}
