// SPDX-License-Identifier: MIT
// The script set: the files under lua/, each with its header, and the text that is sent to a
// server.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "contract/header.h"

namespace echomq::inline v2::contract {

// One .lua file. `path` is relative to the lua folder: "job/finish.lua", "lib/emit.lua".
struct SourceFile {
  std::string path;
  std::string text;
};

struct Script {
  std::string name;  // "job/finish"
  std::string path;
  Header header;
  std::vector<Token> tokens;  // of its own file, comments included
  std::string source;         // what is sent: first line, libs in the order of USES, body
  std::string sha1;           // of source
};

struct Bundle {
  std::vector<Script> scripts;                     // sorted by name
  std::map<std::string, std::vector<Token>> libs;  // name -> tokens
};

// Every .lua file below `lua_dir`, sorted by path. Throws std::runtime_error where it cannot be
// read.
std::vector<SourceFile> read_sources(const std::filesystem::path& lua_dir);

// Reads headers and assembles the texts. Faults of naming, spelling and headers are reported.
Bundle make_bundle(const std::vector<SourceFile>& files, Problems& problems);

}  // namespace echomq::inline v2::contract
