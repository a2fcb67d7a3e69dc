// SPDX-License-Identifier: MIT
#include "contract/bundle.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "contract/digest.h"
#include "contract/spelling.h"

namespace echomq::inline v2::contract {
namespace {

constexpr std::string_view kWire = "echomq:2.0.0";

bool is_name(const std::string& text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// The lines that carry code, without trailing blanks: comments and layout cost memory in every
// server's cache, and a reworded comment must not change the SHA1.
std::string code_lines(const std::string& text, const std::vector<Token>& tokens) {
  std::set<int> code;
  for (const Token& token : tokens)
    if (token.kind != Token::Kind::comment && token.kind != Token::Kind::end)
      for (int line = token.at.line; line <= token.last_line; ++line) code.insert(line);
  std::istringstream in(text);
  std::string kept;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    if (!code.contains(++number)) continue;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    kept += line + "\n";
  }
  return kept;
}

void check_bytes(const SourceFile& file, const std::string& code, Problems& problems) {
  const bool ascii = std::all_of(code.begin(), code.end(), [](char c) {
    return c == '\n' || c == '\t' || (c >= ' ' && c <= '~');
  });
  if (!ascii)
    report(
        problems, {file.path, 1},
        "code outside printable ASCII: write such bytes as \\ddd, so that every editor and server "
        "keeps them");
}

struct Unit {
  const SourceFile* file = nullptr;
  std::vector<Token> tokens;
  std::string code;
};

Unit read_unit(const SourceFile& file, Problems& problems) {
  Unit unit{&file, {}, {}};
  std::string_view text = file.text;
  std::string without_shebang;
  if (text.starts_with("#")) {
    report(
        problems, {file.path, 1},
        "shebang line: Dragonfly cannot read it, and a '#!lua' script is refused by a full server");
    without_shebang = "--" + file.text;
    text = without_shebang;
  }
  unit.tokens = tokenize(file.path, text, problems);
  check_spelling(unit.tokens, problems);
  unit.code = code_lines(file.text, unit.tokens);
  check_bytes(file, unit.code, problems);
  return unit;
}

}  // namespace

std::vector<SourceFile> read_sources(const std::filesystem::path& lua_dir) {
  std::vector<SourceFile> files;
  if (!std::filesystem::is_directory(lua_dir))
    throw std::runtime_error(lua_dir.string() + " is not a folder");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(lua_dir)) {
    if (entry.path().extension() != ".lua") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + entry.path().string());
    files.push_back({entry.path().lexically_relative(lua_dir).generic_string(),
                     std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

Bundle make_bundle(const std::vector<SourceFile>& files, Problems& problems) {
  Bundle bundle;
  std::map<std::string, std::string> lib_code;
  std::vector<Unit> bodies;
  for (const SourceFile& file : files) {
    const std::size_t slash = file.path.find('/');
    const std::size_t dot = file.path.rfind(".lua");
    const std::string concept_name = file.path.substr(0, std::min(slash, dot));
    const std::string verb =
        slash == std::string::npos ? "" : file.path.substr(slash + 1, dot - slash - 1);
    if (!is_name(concept_name) || !is_name(verb)) {
      report(problems, {file.path, 1},
             "a script lives in <concept>/<verb>.lua, names of a-z, 0-9 and _");
      continue;
    }
    Unit unit = read_unit(file, problems);
    if (concept_name == "lib") {
      lib_code[verb] = unit.code;
      bundle.libs[verb] = std::move(unit.tokens);
    } else {
      bodies.push_back(std::move(unit));
    }
  }
  for (Unit& unit : bodies) {
    Script script;
    script.path = unit.file->path;
    script.name = script.path.substr(0, script.path.size() - std::string_view(".lua").size());
    script.header = read_header(script.name, unit.tokens, problems);
    script.source = "-- " + script.name + " of " + std::string(kWire) + "\n";
    for (const std::string& lib : script.header.uses) {
      if (lib_code.contains(lib))
        script.source += lib_code[lib];
      else
        report(problems, script.header.uses_at,
               "USES names lib/" + lib + ".lua, which is not there");
    }
    script.source += unit.code;
    script.sha1 = sha1_hex(script.source);
    script.tokens = std::move(unit.tokens);
    bundle.scripts.push_back(std::move(script));
  }
  std::sort(bundle.scripts.begin(), bundle.scripts.end(),
            [](const Script& a, const Script& b) { return a.name < b.name; });
  return bundle;
}

}  // namespace echomq::inline v2::contract
