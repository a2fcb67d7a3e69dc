// SPDX-License-Identifier: MIT
#include "flow_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "argument.h"
#include "job_words.h"

namespace emq {
namespace {

using echomq::ChildFailure;
using echomq::Error;
using echomq::ErrorCode;
using echomq::FlowJob;
using echomq::FlowTree;
using echomq::Result;

constexpr std::array<std::pair<std::string_view, ChildFailure>, 4> kPolicies{{
    {"fail-parent", ChildFailure::fail_parent},
    {"continue-parent", ChildFailure::continue_parent},
    {"ignore", ChildFailure::ignore},
    {"remove-dependency", ChildFailure::remove_dependency},
}};

Error at_path(const std::string& path, Error error) {
  if (path.empty()) return error;
  error.detail = path + ": " + error.detail;
  error.fields.emplace_back("path", path);
  return error;
}

// A number as it is typed at the command line; any other value of the wrong kind is refused there.
std::string typed(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// One option of a job; nullopt: it is set.
std::optional<Error> take_option(const std::string& key, const Json& value,
                                 echomq::JobOptions& options) {
  const auto text = typed(value);
  if (key == "lifo") {
    if (!value.is_boolean()) return bad_value(key, text, "true or false");
    options.lifo = value.get<bool>();
  } else if (key == "id") {
    if (text.empty()) return bad_value(key, text, "1 to 255 of A-Z a-z 0-9 . _ -");
    options.id = text;
  } else if (key == "traceparent") {
    options.traceparent = text;
  } else {
    const auto set = set_job_option(key, text, options);
    if (!set) return set.error();
    if (!*set)
      return bad_value("options", key,
                       "attempts, backoff, delay, expires, id, keep_completed, keep_failed, lifo, "
                       "priority or traceparent");
  }
  return std::nullopt;
}

Result<FlowJob> read_node(const Json& json, const std::string& path, unsigned depth) {
  if (!json.is_object()) return at_path(path, bad_value("job", json.dump(), "a JSON object"));
  if (depth > echomq::kMaxFlowDepth)
    return at_path(path, bad_value("depth", std::to_string(depth), "at most 100 levels"));
  FlowJob job;
  for (const auto& [key, value] : json.items()) {
    if ((key == "queue" || key == "name" || key == "text" || key == "on_failure") &&
        !value.is_string())
      return at_path(path, bad_value(key, value.dump(), "a string"));
    if (key == "queue") {
      job.queue = value.get<std::string>();
    } else if (key == "name") {
      job.options.name = value.get<std::string>();
    } else if (key == "text") {
      job.data = value.get<std::string>();
    } else if (key == "data") {
      job.data = value.dump();
    } else if (key == "on_failure") {
      const auto word = value.get<std::string>();
      const auto* const found =
          std::find_if(kPolicies.begin(), kPolicies.end(),
                       [&](const auto& policy) { return policy.first == word; });
      if (found == kPolicies.end())
        return at_path(
            path,
            bad_value(key, word, "fail-parent, continue-parent, ignore or remove-dependency"));
      job.on_failure = found->second;
    } else if (key == "options") {
      if (!value.is_object()) return at_path(path, bad_value(key, value.dump(), "a JSON object"));
      for (const auto& [option, given] : value.items())
        if (auto bad = take_option(option, given, job.options))
          return at_path(path, *std::move(bad));
    } else if (key == "children") {
      if (!value.is_array()) return at_path(path, bad_value(key, value.dump(), "a list of jobs"));
      for (std::size_t i = 0; i < value.size(); ++i) {
        auto child = read_node(
            value[i], (path.empty() ? "" : path + ".") + "children[" + std::to_string(i) + "]",
            depth + 1);
        if (!child) return child.error();
        job.children.push_back(*std::move(child));
      }
    } else {
      return at_path(
          path, bad_value("job", key, "queue, name, data, text, options, on_failure or children"));
    }
  }
  if (job.queue.empty()) return at_path(path, bad_value("queue", "", "the name of a queue"));
  return job;
}

Style colour_of(const FlowTree& tree) {
  if (!tree.there) return Style::dim;
  switch (tree.job.state) {
    case echomq::JobState::completed: return Style::green;
    case echomq::JobState::failed: return Style::red;
    case echomq::JobState::active: return Style::yellow;
    default: return Style::plain;
  }
}

std::string state_of(const FlowTree& tree) {
  return tree.there ? std::string(name(tree.job.state)) : "gone, " + std::string(name(tree.state));
}

// More than were asked for.
std::int64_t children_cut(const FlowTree& tree) {
  return tree.counts.all() - static_cast<std::int64_t>(tree.children.size());
}

void draw(const FlowTree& tree, const std::string& lead, const std::string& below,
          std::string& out) {
  out += fmt::format("{}{}:{} {}  {}", lead, tree.queue, tree.id,
                     tree.there ? printable(tree.job.name) : std::string(),
                     paint(colour_of(tree), state_of(tree), stdout));
  if (tree.counts.all() > 0)
    out +=
        fmt::format("  {} of {} done", tree.counts.all() - tree.counts.pending, tree.counts.all());
  out += '\n';
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const bool last = i + 1 == tree.children.size() && !tree.cut;
    draw(tree.children[i], below + (last ? "`- " : "|- "), below + (last ? "   " : "|  "), out);
  }
  if (tree.cut) out += fmt::format("{}`- ... {} more\n", below, children_cut(tree));
}

std::string dot_name(const FlowTree& tree) { return "\"" + tree.queue + ":" + tree.id + "\""; }

void to_dot(const FlowTree& tree, std::string& out) {
  std::string label;
  for (const char c : printable(tree.there ? tree.job.name : std::string("gone"))) {
    if (c == '"' || c == '\\') label += '\\';
    label += c == '\n' ? ' ' : c;
  }
  out += fmt::format("  {} [label=\"{}\\n{}:{}\\n{}\"];\n", dot_name(tree), label, tree.queue,
                     tree.id, state_of(tree));
  for (const auto& child : tree.children) {
    out += fmt::format("  {} -> {};\n", dot_name(tree), dot_name(child));
    to_dot(child, out);
  }
  if (!tree.cut) return;
  // No id has a blank.
  const auto more = "\"" + tree.queue + ":" + tree.id + " more\"";
  out += fmt::format("  {} [label=\"... {} more\", shape=plaintext];\n  {} -> {};\n", more,
                     children_cut(tree), dot_name(tree), more);
}

}  // namespace

Result<FlowJob> read_flow(std::string_view text) {
  const auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Error{ErrorCode::encoding,
                 "the tree is not JSON (" + std::to_string(text.size()) + " bytes)",
                 {{"expected", "JSON"}}};
  return read_node(json, {}, 1);
}

Json to_json(const echomq::AddedFlow& flow) {
  Json children = Json::array();
  for (const auto& child : flow.children) children.push_back(to_json(child));
  return {{"queue", flow.queue}, {"id", flow.id}, {"children", std::move(children)}};
}

Json to_json(const FlowTree& tree) {
  Json out{
      {"queue", tree.queue}, {"id", tree.id}, {"there", tree.there}, {"edge", name(tree.state)}};
  out["state"] = nullptr;
  if (tree.there) {
    out["state"] = name(tree.job.state);
    put_bytes(out, "name", tree.job.name);
    put_bytes(out, "failed_reason", tree.job.failed_reason);
  }
  out["counts"] = {{"pending", tree.counts.pending},
                   {"completed", tree.counts.completed},
                   {"ignored", tree.counts.ignored},
                   {"failed", tree.counts.failed}};
  out["cut"] = tree.cut;
  out["children"] = Json::array();
  for (const auto& child : tree.children) out["children"].push_back(to_json(child));
  return out;
}

std::string draw(const FlowTree& tree) {
  std::string out;
  draw(tree, "", "", out);
  return out;
}

std::string to_dot(const FlowTree& tree) {
  std::string out = "digraph flow {\n  node [shape=box];\n";
  to_dot(tree, out);
  return out + "}\n";
}

}  // namespace emq
