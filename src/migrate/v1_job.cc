// SPDX-License-Identifier: MIT
#include "migrate/v1_job.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "job/encode.h"
#include "job/record.h"
#include "migrate/v1_options.h"

namespace echomq::inline v2::migrate {
namespace {

// The fields that are read here; every other one is kept as it is.
constexpr std::array<std::string_view, 21> kReadFields{
    "name",           "data",   "opts",     "timestamp",   "delay",        "priority",
    "processedOn",    "pb",     "ats",      "atm",         "attemptsMade", "stc",
    "stalledCounter", "deid",   "progress", "returnvalue", "failedReason", "finishedOn",
    "parentKey",      "parent", "defa"};

Error not_understood(const std::string& what) { return {ErrorCode::unsupported, what, {}}; }

// Reads the fields of one job, and notes the first that is not understood.
class Reading {
 public:
  Reading(const Unit& unit, const Standing& standing, std::string_view id, V1Hash hash)
      : unit_(unit), standing_(standing), id_(id), hash_(std::move(hash)) {}

  [[nodiscard]] Changes changes() const { return changes_of(options_); }

  Result<Fields> run() {
    if (is_v1_structure(id_))
      return not_understood("its id is the name of a key of every v1 queue, which it overwrote");
    auto opts = read_v1_options(text("opts"));
    if (!opts) return not_understood("its opts are no JSON object: " + v2::quoted(text("opts")));
    options_ = *std::move(opts);
    if (!text("defa").empty())
      return not_understood("it is to fail when a v1 worker takes it the next time (" +
                            text("defa") +
                            "): let a v1 worker take it, which fails it without running it, or "
                            "remove it");
    const auto priority = number("priority");
    if (priority < 0 || priority > kMaxPriority)
      return not_understood("its priority is " + std::to_string(priority) + "; 2.0 has 0 to " +
                            std::to_string(kMaxPriority));
    put_head();
    put("data", text("data"), /*even_empty=*/true);
    put("deid", deduplication_id());
    if (priority > 0) put("priority", std::to_string(priority));
    if (priority == 0 && options_.all.value("lifo", Json()) == true) put("lifo", "1");
    if (const auto delay = number("delay"); delay > 0) put("delay", std::to_string(delay));
    put("place", standing_.place);
    put_run();
    for (const auto* name : {"returnvalue", "failedReason", "progress"}) put(name, text(name));
    put_edge();
    put_rest();
    if (problem_) return *problem_;
    return std::move(fields_);
  }

 private:
  const std::string& text(std::string_view name) const { return text_of(hash_, name); }

  std::int64_t number(std::string_view name) {
    const auto value = v1_number(text(name));
    if (!value) refuse("its " + std::string(name) + " is no number: " + v2::quoted(text(name)));
    return value.value_or(0);
  }
  // The first of two names that is there: the one that older versions wrote comes second.
  std::int64_t count(std::string_view name, std::string_view older) {
    return std::max<std::int64_t>(number(hash_.contains(name) ? name : older), 0);
  }

  void refuse(const std::string& what) {
    if (!problem_) problem_ = not_understood(what);
  }
  void put(std::string_view name, std::string value, bool even_empty = false) {
    if (!value.empty() || even_empty) fields_.emplace_back(name, std::move(value));
  }

  [[nodiscard]] std::string deduplication_id() const {
    if (!text("deid").empty()) return text("deid");
    return options_.options.deduplication ? options_.options.deduplication->id : std::string();
  }

  // The parent's key, from whichever of the fields has it.
  std::string parent_key() {
    if (!text("parentKey").empty()) return text("parentKey");
    const auto queue = parent_.find("queueKey");
    const auto id = parent_.find("id");
    if (queue == parent_.end() || id == parent_.end() || !queue->is_string() || !id->is_string())
      return {};
    return queue->get<std::string>() + ":" + id->get<std::string>();
  }

  void put_head() {
    parent_ = read_object(text("parent"));
    const auto key = parent_key();
    if (!key.empty()) {
      above_ = unit_.reference(key);
      if (!above_ && !job::has_ended(standing_.state))
        refuse("its parent " + v2::quoted(key) + " is of a queue that is not migrated with it");
    }
    auto opts = job::encode_checked({}, options_.options).opts;
    if (above_) opts = job::with_parent(std::move(opts), job::reference(above_->queue, above_->id));
    const auto added = number("timestamp");
    if (added < 0) refuse("its timestamp is " + std::to_string(added));
    const auto& name = text("name");
    put("head", std::to_string(added) + ":" + std::to_string(name.size()) + ":" + name + opts);
  }

  void put_run() {
    const auto claims = count("ats", "atm");
    const auto attempts = count("atm", "attemptsMade");
    const auto crashes = count("stc", "stalledCounter");
    const auto started = std::max<std::int64_t>(number("processedOn"), 0);
    const auto ended =
        job::has_ended(standing_.state) ? std::max<std::int64_t>(number("finishedOn"), 0) : 0;
    const auto& worker = text("pb");
    if (claims == 0 && attempts == 0 && crashes == 0 && started == 0 && ended == 0 &&
        worker.empty())
      return;
    std::string run;
    for (const auto part : {std::max(claims, attempts), attempts, crashes, started, ended})
      run += std::to_string(part) + ":";
    put("run", run + ":" + worker);
  }

  void put_edge() {
    if (!above_) return;
    put("edge", std::string(kMovedEpoch) + ":" + v1_policy(parent_, options_.all) + ":" +
                    job::reference(above_->queue, above_->id));
  }

  void keep(Json& rest, const std::string& name, const std::string& value) {
    if (!job::is_utf8(value)) return refuse("its field " + v2::quoted(name) + " is not UTF-8");
    rest[name] = value;
  }

  void put_rest() {
    auto rest = Json::object();
    if (map_id(id_) != id_) keep(rest, "id", std::string(id_));
    if (!options_.rest.empty()) rest["opts"] = options_.rest;
    for (const auto& [name, value] : hash_) {
      const bool is_read =
          std::find(kReadFields.begin(), kReadFields.end(), name) != kReadFields.end();
      const bool says_nothing = name == "stacktrace" && (value == "[]" || value == "null");
      if (!is_read && !says_nothing) keep(rest, name, value);
    }
    if (!above_)
      for (const auto* name : {"parentKey", "parent"})
        if (!text(name).empty()) keep(rest, name, text(name));
    if (!rest.empty()) put("v1", rest.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const Unit& unit_;
  const Standing& standing_;
  std::string_view id_;
  V1Hash hash_;
  V1Options options_{};
  Json parent_ = Json::object();
  std::optional<job::Reference> above_{};
  Fields fields_{};
  std::optional<Error> problem_{};
};

}  // namespace

V1Hash read_hash(wire::Reply reply) {
  V1Hash hash;
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
    hash.emplace(std::move(reply.items[i].text), std::move(reply.items[i + 1].text));
  return hash;
}

const std::string& text_of(const V1Hash& hash, std::string_view name) {
  static const std::string none;
  const auto it = hash.find(name);
  return it == hash.end() ? none : it->second;
}

Result<Fields> map_job(const Unit& unit, const Standing& standing, std::string_view id, V1Hash hash,
                       Changes* changes) {
  Reading reading(unit, standing, id, std::move(hash));
  auto fields = reading.run();
  if (fields && changes != nullptr) *changes = reading.changes();
  return fields;
}

std::string packed(const Fields& fields) {
  std::string text = std::to_string(fields.size()) + ":";
  for (const auto& [name, value] : fields)
    text.append(std::to_string(name.size()))
        .append(":")
        .append(std::to_string(value.size()))
        .append(":")
        .append(name)
        .append(value);
  return text;
}

}  // namespace echomq::inline v2::migrate
