// SPDX-License-Identifier: MIT
#include "queue/statuses.h"

namespace echomq::inline v2 {

Error no_such_job(std::string_view queue, std::string_view id) {
  return {ErrorCode::not_found,
          "queue \"" + std::string(queue) + "\" has no job " + std::string(id),
          {{"queue", std::string(queue)}, {"value", std::string(id)}}};
}

Result<AddedJob> add_result(std::string_view status, const AnsweredAdd& add) {
  if (status == "ok" || status == "done") return AddedJob{add.id};
  if (status == "owned") return AddedJob{add.owner, /*deduplicated=*/true};
  if (status == "dup")
    return Error{
        ErrorCode::duplicate,
        "queue \"" + add.queue + "\" has a job " + add.id + " already; it was left as it is",
        {{"queue", add.queue}, {"value", add.id}}};
  if (status == "full")
    return Error{
        ErrorCode::queue_full,
        "queue \"" + add.queue +
            "\" holds as many waiting jobs as its max_length allows: the job was not added",
        {{"queue", add.queue}}};
  if (status == "state")
    return Error{ErrorCode::collision,
                 "the minted id " + add.id +
                     " exists already: another process mints under node id " +
                     std::to_string(add.node),
                 {{"queue", add.queue}, {"value", add.id}}};
  return Error{ErrorCode::protocol,
               "job/add answered \"" + std::string(status) + "\"",
               {{"queue", add.queue}, {"value", add.id}}};
}

Result<void> move_result(std::string_view status, std::string_view queue, std::string_view id,
                         std::string_view unfit) {
  if (status == "ok") return {};
  if (status == "gone") return no_such_job(queue, id);
  std::string why(unfit);
  if (status == "lock") why = "is running; a job that runs cannot be removed";
  if (status == "moved") why = "moved each time that it was looked for; try again";
  if (status == kLost)
    why = "stands in no state, because somebody deleted keys by hand; remove it, and add it again";
  return Error{ErrorCode::wrong_state,
               "job " + std::string(id) + " of queue \"" + std::string(queue) + "\" " + why,
               {{"queue", std::string(queue)}, {"value", std::string(id)}}};
}

Error of_another_run(std::string_view queue, std::string_view id, std::string_view not_done) {
  return {ErrorCode::stale,
          "job " + std::string(id) + " is another run's by now; " + std::string(not_done),
          {{"queue", std::string(queue)}, {"value", std::string(id)}}};
}

Result<void> write_result(std::string_view status, std::string_view queue, std::string_view id,
                          std::string_view not_done) {
  if (status == "ok") return {};
  if (status == "gone") return no_such_job(queue, id);
  return of_another_run(queue, id, not_done);
}

}  // namespace echomq::inline v2
