// SPDX-License-Identifier: MIT
// emq add: one job from the command line, or one for each line of stdin.
//
// Many jobs travel in chunks. What a wrong line does depends on what can be known in time: a file
// on stdin is read twice, so that a wrong line adds nothing; from a pipe each chunk is checked
// before it is added, and the report says how many jobs went before it.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "job_words.h"
#include "lines.h"
#include "session.h"

namespace emq {
namespace {

constexpr std::size_t kChunkJobs = 10'000;
constexpr std::size_t kChunkBytes = std::size_t{8} << 20;

// The command line as it was typed.
struct AddOptions {
  std::string queue;
  std::string name;
  std::optional<std::string> data;
  bool from_stdin = false;
  bool quiet = false;
  std::string delay = "0";
  JobWords job;
  std::optional<std::string> id;
  std::optional<std::string> replicas;
  bool fsync = false;
  std::string confirm_timeout = "1s";
  std::optional<std::string> dedup_id;
  std::optional<std::string> dedup_ttl;
  bool dedup_extend = false;
  bool dedup_replace = false;
  bool dedup_keep_last = false;
};

echomq::Result<echomq::JobOptions> job_options(const AddOptions& typed) {
  auto read = typed.job.read();
  if (!read) return read.error();
  auto options = *std::move(read);
  options.name = typed.name;
  if (const auto set = set_job_option("--delay", typed.delay, options); !set) return set.error();
  if (typed.id) {
    // An empty id would mean "mint one", which is not what was asked for.
    if (typed.id->empty()) return bad_value("--id", "", "1 to 255 of A-Z a-z 0-9 . _ -");
    options.id = *typed.id;
  }
  if (typed.dedup_id) {
    auto& rule = options.deduplication.emplace();
    rule.id = *typed.dedup_id;
    if (typed.dedup_ttl) {
      const auto ttl = duration("--dedup-ttl", *typed.dedup_ttl, std::chrono::milliseconds(1));
      if (!ttl) return ttl.error();
      rule.ttl = *ttl;
    }
    rule.extend = typed.dedup_extend;
    rule.replace = typed.dedup_replace;
    rule.keep_last = typed.dedup_keep_last;
  }
  const auto timeout = duration("--confirm-timeout", typed.confirm_timeout);
  if (!timeout) return timeout.error();
  if (typed.replicas) {
    const auto replicas = whole_number("--replicas", *typed.replicas, 1, 1'000);
    if (!replicas) return replicas.error();
    options.durability = echomq::Durability::replicated(static_cast<unsigned>(*replicas), *timeout);
  } else if (typed.fsync) {
    options.durability = echomq::Durability::fsynced(*timeout);
  }
  return options;
}

// What --json prints.
struct AddedIds {
  Json added = Json::array();
  Json duplicates = Json::array();
  Json deduplicated = Json::array();  // the owners, one for each add that was not stored

  void note(const echomq::AddedJob& job) {
    (job.deduplicated ? deduplicated : added).push_back(job.id);
  }
  void print() const {
    print_json({{"ids", added}, {"duplicates", duplicates}, {"deduplicated", deduplicated}});
  }
};

Exit add_one(echomq::Queue<>& queue, const AddOptions& typed, const echomq::JobOptions& options,
             const Session& session) {
  const auto job = queue.add(typed.data.value_or(""), options);
  AddedIds ids;
  if (job) {
    ids.note(*job);
    if (session.json)
      ids.print();
    else if (!typed.quiet)
      print("{}\n", job->id);
    return Exit::ok;
  }
  if (session.json && job.error().code == echomq::ErrorCode::duplicate) {
    ids.duplicates.push_back(options.id);
    ids.print();
  }
  return session.fail(job.error());
}

using Chunk = std::vector<echomq::NewJob<>>;

bool blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

echomq::Error at_line(echomq::Error error, std::uint64_t line) {
  error.detail = "line " + std::to_string(line) + ": " + error.detail;
  error.fields.emplace_back("line", std::to_string(line));
  return error;
}

// Adds what the lines of stdin say, and keeps the account of it.
class Importer {
 public:
  Importer(echomq::Queue<>& queue, echomq::JobOptions options, bool quiet, const Session& session)
      : queue_(queue),
        options_(std::move(options)),
        quiet_(quiet),
        session_(session),
        lines_(STDIN_FILENO, echomq::ClientOptions{}.data_limit),
        progress_(!quiet && !session.json) {}

  Exit run() {
    auto problem = import();
    progress_.clear();
    if (session_.json) ids_.print();
    if (!problem) return Exit::ok;
    problem->detail += added_ == 0 ? "; nothing was added" : "; jobs added: " + grouped(added_);
    problem->fields.emplace_back("added", std::to_string(added_));
    return session_.fail(*problem);
  }

 private:
  std::optional<echomq::Error> import() {
    if (lines_.can_rewind()) {
      if (auto problem = each_chunk([](const Chunk&) { return std::optional<echomq::Error>(); }))
        return problem;
      lines_.rewind();
    }
    return each_chunk([this](Chunk& chunk) { return add(chunk); });
  }

  // Reads and checks the lines; calls `use` for each full chunk, and for the rest.
  template <class Use>
  std::optional<echomq::Error> each_chunk(Use use) {
    Chunk chunk;
    std::size_t bytes = 0;
    line_of_.clear();
    for (;;) {
      auto line = lines_.next();
      if (!line) return at_line(line.error(), lines_.number());
      const bool end = !*line;
      if (!end && !blank(**line)) {
        if (!Json::accept(**line))
          return at_line({echomq::ErrorCode::encoding,
                          "not JSON (" + std::to_string((*line)->size()) +
                              " bytes); expected one JSON value on each line",
                          {{"expected", "JSON"}}},
                         lines_.number());
        bytes += (*line)->size();
        chunk.push_back({**std::move(line), options_});
        line_of_.push_back(lines_.number());
      }
      if (!chunk.empty() && (end || chunk.size() == kChunkJobs || bytes >= kChunkBytes)) {
        if (auto problem = use(chunk)) return problem;
        chunk.clear();
        line_of_.clear();
        bytes = 0;
      }
      if (end) return std::nullopt;
    }
  }

  std::optional<echomq::Error> add(Chunk& chunk) {
    const auto results = queue_.add_bulk(chunk);
    if (!results) return results.error();
    std::optional<echomq::Error> problem;
    for (std::size_t i = 0; i < results->size(); ++i) {
      const auto& job = (*results)[i];
      if (!job) {
        if (!problem) problem = at_line(job.error(), line_of_[i]);
        continue;
      }
      if (!job->deduplicated) ++added_;
      if (session_.json)
        ids_.note(*job);
      else if (!quiet_)
        print("{}\n", job->id);
    }
    progress_.show(grouped(added_) + " jobs added");
    return problem;
  }

  echomq::Queue<>& queue_;
  echomq::JobOptions options_;
  bool quiet_;
  const Session& session_;
  Lines lines_;
  Progress progress_;
  std::vector<std::uint64_t> line_of_;  // of each job of the chunk
  AddedIds ids_;
  std::int64_t added_ = 0;
};

Exit add(const AddOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto options = job_options(typed);
  if (!options) return session.fail(options.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (!typed.from_stdin) return add_one(queue, typed, *options, session);
  return Importer(queue, *options, typed.quiet, session).run();
}

}  // namespace

void declare_add(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "add", "Add one job, or one for each line of stdin; prints the ids, one a line",
      "  emq add mail send 'to: you' --attempts 5 --backoff exponential:1s,0.2\n"
      "  emq add mail report --delay 2h --id daily-2026-01-31\n"
      "  emq add mail digest --dedup-id digest --dedup-keep-last\n"
      "  emq add site build --delay 5s --dedup-id build --dedup-ttl 5s --dedup-extend "
      "--dedup-replace\n"
      "  jq -c '.[]' orders.json | emq add orders import --stdin --quiet\n"
      "With --stdin empty lines are skipped and each other one must be JSON. A file is checked "
      "whole first: "
      "a wrong line adds nothing. From a pipe it is checked in chunks of 10,000 lines or 8 MiB: "
      "the chunks "
      "before the wrong line's are added, and the error tells how many jobs that were.\n");
  auto typed = std::make_shared<AddOptions>();
  verb->add_option("QUEUE", typed->queue, "1 to 128 of A-Z a-z 0-9 . _ -; made where there is none")
      ->required();
  verb->add_option("NAME", typed->name, "What kind of job it is; at most 255 bytes")->required();
  auto* data =
      verb->add_option("DATA", typed->data,
                       "The job's data, bytes as given, at most 1 MiB; none when left out. After "
                       "-- where it begins with -. Excludes --stdin");
  auto* from_stdin =
      verb->add_flag("--stdin", typed->from_stdin,
                     "One job for each line, a JSON value, as its data. Excludes DATA and --id");
  verb->add_option("--delay", typed->delay,
                   "Not before this time has passed: 500ms, 5s, 2m, 1h, 1d")
      ->type_name("TIME");
  typed->job.declare(*verb);
  verb->add_option("--id", typed->id,
                   "An id of your own: while it exists, a second add exits 6. Excludes --stdin")
      ->type_name("ID")
      ->excludes(from_stdin);
  auto* replicas = verb->add_option("--replicas", typed->replicas,
                                    "Wait until so many replicas have it. Excludes --fsync")
                       ->type_name("N");
  verb->add_flag("--fsync", typed->fsync, "Wait until it is in the append-only file, on the disk")
      ->excludes(replicas);
  verb->add_option("--confirm-timeout", typed->confirm_timeout,
                   "How long to wait for that; past it the job stays, and the exit status is 1")
      ->type_name("TIME")
      ->capture_default_str();
  auto* dedup = verb->add_option("--dedup-id", typed->dedup_id,
                                 "While a job owns this id no other is added under it; its id is "
                                 "printed instead")
                    ->type_name("ID");
  verb->add_option("--dedup-ttl", typed->dedup_ttl,
                   "Own it for so long; without: until the job has ended or is removed")
      ->type_name("TIME")
      ->needs(dedup);
  verb->add_flag("--dedup-extend", typed->dedup_extend, "Begin --dedup-ttl anew where it is owned")
      ->needs(dedup);
  verb->add_flag("--dedup-replace", typed->dedup_replace,
                 "Where its owner is delayed still, replace that job")
      ->needs(dedup);
  verb->add_flag("--dedup-keep-last", typed->dedup_keep_last,
                 "Where its owner runs, add this job, or the last of several, when that has ended")
      ->needs(dedup);
  verb->add_flag("--quiet", typed->quiet, "Print no ids");
  from_stdin->excludes(data);
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"ids\":[..],\"duplicates\":[..],\"deduplicated\":[..]}: what was "
                       "added, what has such an "
                       "--id already, and who owns the --dedup-id of each that was not added");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return add(*typed, session); }; });
}

}  // namespace emq
