// SPDX-License-Identifier: MIT
#include "contract/generate.h"

#include <cctype>
#include <sstream>
#include <string_view>

#include "contract/digest.h"

namespace echomq::inline v2::contract {
namespace {

constexpr std::string_view kNotice =
    "// SPDX-License-Identifier: MIT\n"
    "// Generated from lua/ by the contract program; edit the scripts instead.\n";

// Up to its end.
void write_members(std::ostream& out, const char* name, const char* type, const Words& members) {
  out << "  struct " << name << " {\n";
  for (const std::string& member : members) out << "    " << type << " " << member << ";\n";
  out << "    template <class F>\n    void each(F&& f) const {\n";
  for (const std::string& member : members) out << "      f(" << member << ");\n";
  out << "    }\n";
}

void write_struct(std::ostream& out, const char* name, const char* type, const Words& members) {
  if (members.empty()) return;
  write_members(out, name, type, members);
  out << "  };\n";
}

// The fixed keys can also be picked by their names, out of all keys of a queue.
void write_fixed_keys(std::ostream& out, const Words& members) {
  if (members.empty()) return;
  write_members(out, "Keys", "std::string_view", members);
  out << "    template <class All>\n    static Keys of(const All& all) {\n      return {";
  for (const std::string& member : members)
    out << (member == members.front() ? "." : ", .") << member << " = all." << member;
  out << "};\n    }\n  };\n";
}

std::string cpp_literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + "\"";
}

// One literal a line: readable in a debugger and in a diff.
void write_text(std::ostream& out, const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::string literal = cpp_literal(line);
    out << "\n        " << literal.substr(0, literal.size() - 1) << "\\n\"";
  }
}

void write_words(std::ostream& out, const std::string& name, const Words& words) {
  if (words.empty()) return;
  out << "constexpr std::string_view " << name << "[] = {";
  for (std::size_t i = 0; i < words.size(); ++i)
    out << (i == 0 ? "" : ", ") << cpp_literal(words[i]);
  out << "};\n";
}

}  // namespace

std::string struct_name(const std::string& script) {
  std::string name;
  bool raise = true;
  for (char c : script) {
    if (c == '/' || c == '_') {
      raise = true;
      continue;
    }
    name += raise ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    raise = false;
  }
  return name;
}

std::string generated_header(const Bundle& bundle, int revision) {
  std::ostringstream out;
  out << kNotice << "#pragma once\n\n#include <span>\n#include <string_view>\n\n"
      << "#include \"protocol/script.h\"\n\nnamespace echomq::inline v2::scripts {\n\n"
      << "// Of the script set; raised when a script behaves differently.\n"
      << "inline constexpr int kRevision = " << revision << ";\n\n"
      << "// SHA1 over lua/manifest.txt.\nextern const std::string_view kBundleHash;\n\n"
      << "// Sorted by name.\nstd::span<const Script* const> all();\n\n"
      << "// What each script may answer, in the order of all().\n"
      << "struct Contract {\n  std::string_view script;\n"
      << "  std::span<const std::string_view> errors;\n"
      << "  std::span<const std::string_view> statuses;\n"
      << "  std::span<const std::string_view> events;\n};\n"
      << "std::span<const Contract> contracts();\n";
  for (const Script& script : bundle.scripts) {
    out << "\n// " << script.name << "\nstruct " << struct_name(script.name) << " {\n"
        << "  static const Script script;\n";
    write_fixed_keys(out, script.header.keys);
    write_struct(out, "ItemKeys", "std::string_view", script.header.item_keys);
    write_struct(out, "MoreKeys", "std::string_view", script.header.more_keys);
    write_struct(out, "Args", "Arg", script.header.args);
    write_struct(out, "ItemArgs", "Arg", script.header.item_args);
    out << "};\n";
  }
  out << "\n}  // namespace echomq::inline v2::scripts\n";
  return out.str();
}

std::string generated_source(const Bundle& bundle, const std::string& header_name,
                             const std::string& manifest) {
  std::ostringstream out;
  out << kNotice << "#include \"" << header_name << "\"\n\nnamespace echomq::inline v2::scripts {\n"
      << "namespace {\n\n";
  for (const Script& script : bundle.scripts) {
    const std::string name = "k" + struct_name(script.name);
    write_words(out, name + "Errors", script.header.errors);
    write_words(out, name + "Statuses", script.header.statuses);
    write_words(out, name + "Events", script.header.emits);
  }
  const auto span = [](const std::string& name, const Words& words) {
    return words.empty() ? "{}" : name;
  };
  // An array of none is no C++: a set without scripts gets empty spans.
  const bool any = !bundle.scripts.empty();
  if (any) {
    out << "\nconstexpr Contract kContracts[] = {\n";
    for (const Script& script : bundle.scripts) {
      const std::string name = "k" + struct_name(script.name);
      out << "    {" << cpp_literal(script.name) << ", "
          << span(name + "Errors", script.header.errors) << ", "
          << span(name + "Statuses", script.header.statuses) << ", "
          << span(name + "Events", script.header.emits) << "},\n";
    }
    out << "};\n\nconstexpr const Script* kAll[] = {\n";
    for (const Script& script : bundle.scripts)
      out << "    &" << struct_name(script.name) << "::script,\n";
    out << "};\n\n";
  }
  out << "}  // namespace\n\nconst std::string_view kBundleHash = "
      << cpp_literal(sha1_hex(manifest)) << ";\n\n"
      << "std::span<const Script* const> all() { return " << (any ? "kAll" : "{}") << "; }\n"
      << "std::span<const Contract> contracts() { return " << (any ? "kContracts" : "{}")
      << "; }\n";
  for (const Script& script : bundle.scripts) {
    const Header& header = script.header;
    out << "\nconstinit const Script " << struct_name(script.name)
        << "::script = {\n    .name = " << cpp_literal(script.name)
        << ",\n    .sha1 = " << cpp_literal(script.sha1) << ",\n    .source =";
    write_text(out, script.source);
    out << ",\n    .keys = " << header.keys.size() << ",\n    .args = " << header.args.size()
        << ",\n    .item_keys = " << header.item_keys.size()
        << ",\n    .more_keys = " << header.more_keys.size()
        << ",\n    .item_args = " << header.item_args.size() << ",\n};\n";
  }
  out << "\n}  // namespace echomq::inline v2::scripts\n";
  return out.str();
}

}  // namespace echomq::inline v2::contract
