// SPDX-License-Identifier: MIT
// emq list: one page of the jobs of a state. Looking makes no queue.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "job_json.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::JobInfo;
using echomq::JobState;

// A cell of free text is cut here; `emq job` and --json have all of it.
constexpr std::size_t kCell = 60;

struct ListOptions {
  std::string queue;
  std::string state;
  std::string order = "asc";
  std::string limit = "50";
  std::string cursor;
  bool data = false;
};

std::string cell(std::string_view bytes) {
  auto text = printable(bytes.substr(0, kCell));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  return bytes.size() > kCell ? text + "..." : text;
}

// The time that orders the jobs of this state.
std::int64_t moment_of(const JobInfo& job) {
  if (job.state == JobState::delayed) return job.due_ms;
  return job.finished_ms != 0 ? job.finished_ms : job.added_ms;
}

std::string_view moment_head(JobState state) {
  if (state == JobState::delayed) return "due";
  return state == JobState::completed || state == JobState::failed ? "finished" : "added";
}

void show(const echomq::JobPage& page, JobState state, std::int64_t now_ms, bool data) {
  std::vector<Table::Column> columns{
      {"id"}, {"name"}, {std::string(moment_head(state))}, {"priority", true}, {"attempts", true}};
  const bool reasons = state == JobState::failed;
  if (reasons) columns.push_back({"reason"});
  if (data) columns.push_back({"data"});
  Table table(std::move(columns));
  for (const auto& job : page.jobs) {
    std::vector<std::string> row{job.id, cell(job.name), relative(moment_of(job), now_ms),
                                 std::to_string(job.options.priority),
                                 fmt::format("{}/{}", job.attempts_made, job.options.attempts)};
    if (reasons) row.push_back(cell(job.failed_reason));
    if (data) row.push_back(cell(job.data));
    table.add(std::move(row));
  }
  if (!page.jobs.empty()) table.print();
}

Json listed(const JobInfo& job, bool data) {
  auto out = to_json(job);
  if (data) return out;
  for (const char* const field : {"data", "progress", "result"}) out.erase(field);
  return out;
}

Exit list(const ListOptions& typed, const Session& session) {
  const auto name = echomq::queue_name(typed.queue);
  if (!name) return session.fail(name.error());
  const auto state = job_state("--state", typed.state);
  if (!state) return session.fail(state.error());
  if (typed.order != "asc" && typed.order != "desc")
    return session.fail(bad_value("--order", typed.order, "asc or desc"));
  const auto limit = whole_number("--limit", typed.limit, 1, echomq::kMaxPageJobs);
  if (!limit) return session.fail(limit.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  const auto order =
      typed.order == "asc" ? echomq::PageOrder::ascending : echomq::PageOrder::descending;
  const auto page = queue.jobs(*state, {.order = order,
                                        .limit = static_cast<std::size_t>(*limit),
                                        .cursor = typed.cursor,
                                        .data = typed.data});
  if (!page) return session.fail(page.error());
  if (session.json) {
    Json jobs = Json::array();
    for (const auto& job : page->jobs) jobs.push_back(listed(job, typed.data));
    print_json({{"jobs", jobs}, {"next", page->next.empty() ? Json(nullptr) : Json(page->next)}});
    return Exit::ok;
  }
  show(*page, *state, client->server_time_ms(), typed.data);
  if (page->jobs.empty() && page->next.empty()) print("no {} jobs\n", typed.state);
  if (!page->next.empty()) print("more: --cursor {}\n", page->next);
  return Exit::ok;
}

}  // namespace

void declare_list(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "list", "List the jobs of one state, a page at a time",
      "  emq list mail --state failed --order desc\n"
      "  emq list mail --state delayed --limit 200 --json | jq -r '.jobs[].id'\n"
      "asc begins with the job that is next: taken, due, or finished first. A page that does not "
      "end the list says how to go on: the same command with --cursor.\n");
  auto options = std::make_shared<ListOptions>();
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_option("--state", options->state,
                   "waiting, prioritized, delayed, active, completed, failed or waiting-children")
      ->required()
      ->type_name("STATE");
  verb->add_option("--order", options->order, "asc or desc")
      ->type_name("ORDER")
      ->capture_default_str();
  verb->add_option("--limit", options->limit, "Jobs of a page, 1 to 256")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--cursor", options->cursor,
                   "Where the page before ended; of the same queue, state and order")
      ->type_name("CURSOR");
  verb->add_flag("--data", options->data, "With each job's data, progress and result");
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"jobs\":[..],\"next\":CURSOR or null}");
  verb->callback([options, &session] {
    session.run = [options, &session] { return list(*options, session); };
  });
}

}  // namespace emq
