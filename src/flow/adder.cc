// SPDX-License-Identifier: MIT
#include "flow/adder.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/bad_option.h"
#include "base/clock.h"
#include "echomq_scripts.h"
#include "flow/plan.h"
#include "flow/plan_run.h"
#include "job/reference.h"
#include "queue/ask.h"
#include "queue/plan_call.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::flow {
namespace {

using std::chrono::milliseconds;

// The error of one job of a tree.
Error at_path(const std::string& path, Error error) {
  if (path.empty()) return error;
  error.detail = path + ": " + error.detail;
  error.fields.emplace_back("path", path);
  return error;
}

Result<void> check_node(const FlowJob& node, std::size_t data_limit) {
  if (node.options.deduplication)
    return bad_option("deduplication", "\"" + node.options.deduplication->id + "\"",
                      "none: a job of a flow is recorded before it is added, whoever owns the id");
  if (node.options.durability.kind != Durability::Kind::memory)
    return bad_option("durability", "set",
                      "none: the jobs of a flow are confirmed one by one by nobody");
  return job::check_job(node.data, node.options, data_limit);
}

// One tree, or several below a job that is there, on their way to the server.
class Adding {
 public:
  explicit Adding(std::shared_ptr<ClientCore> client) : client_(std::move(client)) {}

  // Of the tree; the children of one that is there begin at `first_path`.
  Result<void> take(const std::vector<const FlowJob*>& roots, bool are_children) {
    std::deque<std::pair<const FlowJob*, PlannedJob>> open;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      PlannedJob planned;
      if (are_children) planned.path = "children[" + std::to_string(i) + "]";
      open.emplace_back(roots[i], std::move(planned));
    }
    std::vector<unsigned> depths;
    while (!open.empty()) {
      auto [node, planned] = std::move(open.front());
      open.pop_front();
      const auto depth =
          planned.parent < 0 ? 1U : depths[static_cast<std::size_t>(planned.parent)] + 1;
      if (depth > kMaxFlowDepth)
        return at_path(planned.path,
                       bad_option("depth", std::to_string(depth),
                                  "at most " + std::to_string(kMaxFlowDepth) + " levels"));
      if (jobs_.size() == kMaxFlowJobs)
        return bad_option("children", "more than " + std::to_string(kMaxFlowJobs),
                          "at most " + std::to_string(kMaxFlowJobs) + " jobs in a tree");
      if (auto ok = take_one(*node, planned); !ok) return at_path(planned.path, ok.error());
      const auto index = static_cast<std::int64_t>(jobs_.size());
      for (std::size_t i = 0; i < node->children.size(); ++i) {
        PlannedJob child;
        child.parent = index;
        child.path = (planned.path.empty() ? "" : planned.path + ".") + "children[" +
                     std::to_string(i) + "]";
        open.emplace_back(&node->children[i], std::move(child));
      }
      depths.push_back(depth);
      jobs_.push_back(std::move(planned));
    }
    return {};
  }

  // Opens the queues, mints the ids, and looks whether those of the caller's own are free.
  Result<void> prepare() {
    for (auto& [queue, core] : queues_)
      if (auto opened = core->open(); !opened) return opened.error();
    auto minted =
        mint(static_cast<std::size_t>(std::count_if(
                 jobs_.begin(), jobs_.end(), [](const auto& job) { return job.id.empty(); })) +
             1);
    if (!minted) return minted.error();
    auto next = minted->begin();
    plan_id_ = std::move(*next++);
    for (auto& job : jobs_)
      if (job.id.empty()) job.id = std::move(*next++);
    return check_ids();
  }

  Result<void> record(const std::shared_ptr<QueueCore>& home, const Plan& plan) {
    std::size_t at = 0;
    while (at < plan.size()) {
      std::vector<std::string> chunk;
      std::size_t bytes = 0;
      while (at + chunk.size() < plan.size() && chunk.size() < kMaxBatchJobs) {
        auto text = plan[at + chunk.size()].encode();
        if (!chunk.empty() && bytes + text.size() > kMaxBatchBytes) break;
        bytes += text.size();
        chunk.push_back(std::move(text));
      }
      const bool last = at + chunk.size() == plan.size();
      if (auto ok = write(*home, chunk, at, last); !ok) {
        // What was sealed may be there; what was not is given up, and if that fails a sweep does
        // it.
        if (!last || !ok.error().unknown_outcome()) give_up(*home);
        return ok;
      }
      at += chunk.size();
    }
    return {};
  }

  Result<PlanRun::Outcome> run(const std::shared_ptr<QueueCore>& home, Plan plan) {
    auto added =
        client_->wait_for<PlanRun::Outcome>([&](Function<void(Result<PlanRun::Outcome>)> done) {
          PlanRun::start(home, plan_id_, std::move(plan), std::move(done));
        });
    if (added) return added;
    auto error = added.error();
    error.detail += "; the flow is recorded, and workers of \"" + home->name() + "\" go on with it";
    error.fields.emplace_back("recorded", plan_id_);
    return error;
  }

  // An id was free and is not any more.
  [[nodiscard]] Error taken(const PlanEntry& entry) const {
    for (const auto& job : jobs_)
      if (job.queue == entry.queue && job.id == entry.id) return at_path(job.path, duplicate(job));
    return {ErrorCode::duplicate, "an id of the flow is taken", {}};
  }

  [[nodiscard]] std::string plan_name(const QueueCore& home) const {
    return job::reference(home.name(), plan_id_);
  }
  [[nodiscard]] const std::vector<PlannedJob>& jobs() const { return jobs_; }
  [[nodiscard]] const std::shared_ptr<QueueCore>& queue_of(const PlannedJob& job) const {
    return queues_.at(job.queue);
  }

  // Tells ClientOptions::after_add.
  void tell(const std::optional<Error>& why) const {
    const auto& after = client_->options().after_add;
    if (!after) return;
    for (const auto& job : jobs_) {
      if (why)
        after(job.queue, *why);
      else
        after(job.queue, AddedJob{job.id});
    }
  }

 private:
  Result<void> take_one(const FlowJob& given, PlannedJob& planned) {
    auto core = QueueCore::of(client_, given.queue);
    if (core->name_error()) return *core->name_error();
    planned.queue = core->name();
    queues_.emplace(core->name(), core);
    planned.on_failure = given.on_failure;
    auto data = given.data;
    auto options = given.options;
    const auto& before = client_->options().before_add;
    if (before) before(planned.queue, data, options);
    FlowJob node{.queue = given.queue, .data = std::move(data), .options = std::move(options)};
    if (auto ok = check_node(node, client_->options().data_limit); !ok) return ok;
    planned.id = node.options.id;
    planned.job = job::encode_checked(std::move(node.data), node.options);
    if (!planned.id.empty() && !own_ids_.insert(job::reference(planned.queue, planned.id)).second)
      return bad_option("id", "\"" + planned.id + "\"",
                        "each id once in a tree: a job has one parent");
    return {};
  }

  Result<std::vector<std::string>> mint(std::size_t count) {
    using Ids = std::vector<std::string>;
    return client_->wait_for<Ids>([client = client_, count](Function<void(Result<Ids>)> done) {
      struct Minting {
        std::shared_ptr<ClientCore> client;
        std::size_t count;
        Function<void(Result<Ids>)> done;
        Ids ids{};
        bool renewed = false;

        // False: the grant allows no more.
        bool go_on() {
          while (ids.size() < count) {
            const auto id = client->node_lease().mint(client->now_ms());
            if (!id) return false;
            ids.push_back(std::to_string(*id));
          }
          return true;
        }
      };
      auto minting = std::make_shared<Minting>(Minting{client, count, std::move(done)});
      client->node_holder().with([minting](Result<void> held) {
        if (!held) return minting->done(held.error());
        if (minting->go_on()) return minting->done(std::move(minting->ids));
        minting->client->node_holder().with_more([minting](Result<void> renewed) {
          if (!renewed) return minting->done(renewed.error());
          if (!minting->go_on()) return minting->done(NodeHolder::allows_no_more());
          minting->done(std::move(minting->ids));
        });
      });
    });
  }

  static Error duplicate(const PlannedJob& job) {
    return {ErrorCode::duplicate,
            "queue \"" + job.queue + "\" has a job " + job.id +
                " already, and a job has one parent; it was left as it is",
            {{"queue", job.queue}, {"value", job.id}}};
  }

  Result<void> check_ids() {
    std::map<std::string, std::vector<const PlannedJob*>> own;
    for (const auto& job : jobs_)
      if (!job.job.id.empty()) own[job.queue].push_back(&job);
    for (const auto& [queue, jobs] : own) {
      auto& core = *queues_.at(queue);
      std::vector<std::string> commands;
      for (const auto* job : jobs) {
        commands.push_back(wire::command({"EXISTS", job_key(queue, job->id)}));
        commands.push_back(wire::command({"SISMEMBER", core.keys().trash, job->id}));
      }
      const auto replies = ask_plainly(core, std::move(commands));
      if (!replies) return replies.error();
      for (std::size_t i = 0; i < jobs.size(); ++i)
        if ((*replies)[2 * i].integer == 1 && (*replies)[2 * i + 1].integer == 0)
          return at_path(jobs[i]->path, duplicate(*jobs[i]));
    }
    return {};
  }

  // Whether a part was written whose answer was lost, its repetition tells.
  Result<void> write(QueueCore& home, const std::vector<std::string>& entries, std::size_t first,
                     bool sealed) {
    const auto& k = home.keys();
    const auto flow = flow_key(home.name(), plan_id_);
    const auto until = monotonic_ms() + client_->options().command_timeout;
    bool lost = false;
    while (true) {
      auto call = ScriptCall::of<scripts::FlowPlan>(
          {.meta = k.meta, .outbox = k.outbox, .flow = flow}, {.revision = scripts::kRevision,
                                                               .now = client_->now_ms(),
                                                               .plan = plan_id_,
                                                               .first = first,
                                                               .sealed = sealed});
      for (const auto& entry : entries) call.put_args(scripts::FlowPlan::ItemArgs{.entry = entry});
      const auto reply = ask(home, std::move(call));
      if (!reply) {
        if (reply.error().code != ErrorCode::connection_lost || monotonic_ms() >= until)
          return reply.error();
        lost = true;
        continue;
      }
      static const std::string none;
      const auto& status = wire::status_of(*reply, 0, none);
      if (status == "ok" || status == "done") return {};
      // Where an answer was lost others may have added all of it by now, and deleted the record.
      return Error{sealed && lost ? ErrorCode::connection_lost : ErrorCode::wrong_state,
                   "the record of the flow was given up: its parts came more than a minute apart",
                   {{"queue", home.name()}}};
    }
  }

  void give_up(QueueCore& home) { (void)ask(home, close_plan_call(home, plan_id_, "o:")); }

  std::shared_ptr<ClientCore> client_;
  std::vector<PlannedJob> jobs_;
  std::map<std::string, std::shared_ptr<QueueCore>> queues_;
  std::set<std::string> own_ids_;
  std::string plan_id_;
};

// The tree again, with its ids.
AddedFlow added_flow(const std::vector<PlannedJob>& jobs) {
  std::vector<AddedFlow> all(jobs.size());
  for (std::size_t i = jobs.size(); i-- > 0;) {
    all[i].queue = jobs[i].queue;
    all[i].id = jobs[i].id;
    // Its children stand behind it, so they are whole; the last came first.
    std::reverse(all[i].children.begin(), all[i].children.end());
    if (jobs[i].parent >= 0)
      all[static_cast<std::size_t>(jobs[i].parent)].children.push_back(std::move(all[i]));
  }
  return std::move(all.front());
}

Error inside_loop() {
  return {ErrorCode::invalid_argument,
          "a blocking add from inside a callback of the I/O thread would wait for itself",
          {}};
}

Result<AddedFlow> add_tree(Adding& adding, const FlowJob& root,
                           const std::shared_ptr<ClientCore>& client) {
  if (auto ok = adding.take({&root}, /*are_children=*/false); !ok) return ok.error();
  if (auto ok = adding.prepare(); !ok) return ok.error();
  const auto& jobs = adding.jobs();
  const auto& home = adding.queue_of(jobs.front());
  auto plan = make_plan(adding.plan_name(*home), jobs, client->now_ms());
  if (auto ok = adding.record(home, plan); !ok) return ok.error();
  const auto added = adding.run(home, plan);
  if (!added) return added.error();
  if (!added->taken.empty()) return adding.taken(plan[added->taken.front()]);
  return added_flow(jobs);
}

Result<std::vector<std::string>> add_children(Adding& adding,
                                              const std::shared_ptr<QueueCore>& queue,
                                              const std::string& id,
                                              const std::vector<FlowJob>& children) {
  std::vector<const FlowJob*> roots;
  roots.reserve(children.size());
  for (const auto& child : children) roots.push_back(&child);
  if (auto ok = adding.take(roots, /*are_children=*/true); !ok) return ok.error();
  if (auto ok = adding.prepare(); !ok) return ok.error();
  const auto plan = make_plan(adding.plan_name(*queue), queue->name(), id, adding.jobs(),
                              queue->client()->now_ms());
  if (auto ok = adding.record(queue, plan); !ok) return ok.error();
  const auto added = adding.run(queue, plan);
  if (!added) return added.error();
  if (added->parent_gone) return no_such_job(queue->name(), id);
  if (!added->taken.empty()) return adding.taken(plan[added->taken.front()]);
  std::vector<std::string> ids;
  for (const auto& job : adding.jobs())
    if (job.parent < 0) ids.push_back(job.id);
  return ids;
}

}  // namespace

Result<AddedFlow> add_tree(const std::shared_ptr<ClientCore>& client, const FlowJob& root) {
  if (client->loop().inside()) return inside_loop();
  Adding adding(client);
  auto added = add_tree(adding, root, client);
  adding.tell(added ? std::nullopt : std::optional(added.error()));
  return added;
}

Result<std::vector<std::string>> add_children(const std::shared_ptr<QueueCore>& queue,
                                              const std::string& id,
                                              const std::vector<FlowJob>& children) {
  if (queue->client()->loop().inside()) return inside_loop();
  if (children.empty()) return std::vector<std::string>{};
  Adding adding(queue->client());
  auto added = add_children(adding, queue, id, children);
  adding.tell(added ? std::nullopt : std::optional(added.error()));
  return added;
}

}  // namespace echomq::inline v2::flow
