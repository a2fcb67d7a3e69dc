// SPDX-License-Identifier: MIT
#include "queue/pages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bad_option.h"
#include "base/number.h"
#include "job/record.h"
#include "queue/ask.h"
#include "queue/entries.h"
#include "queue/line_walk.h"
#include "queue/page_cursor.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// What a page shows without the data of its jobs.
constexpr std::array<std::string_view, 6> kSmallFields{"head", "run",   "priority",
                                                       "lifo", "delay", "failedReason"};

struct Listed {
  std::string id;
  std::string score;
};

struct Listing {
  std::vector<Listed> entries;
  std::string next;
};

Result<Listing> list_set(QueueCore& queue, JobState state, const PageOptions& options,
                         const PageCursor& from) {
  const auto entries =
      read_set(queue, *set_of(queue.keys(), state), options.order,
               from.passed.empty() ? SetEntry{} : SetEntry{from.passed.front().id, from.place},
               options.limit);
  if (!entries) return entries.error();
  Listing listing;
  for (const auto& entry : *entries) listing.entries.push_back({entry.id, entry.score});
  if (entries->size() == options.limit)
    listing.next = encode_cursor(queue.name(), state, options.order,
                                 {entries->back().score, {{entries->back().id, {}, 0}}});
  return listing;
}

// One list after the other: a claim takes from `crashed` first.
Result<Listing> list_lines(QueueCore& queue, const PageOptions& options, const PageCursor& from) {
  char line = options.order == PageOrder::descending ? 'w' : 'c';
  const char last = line == 'w' ? 'c' : 'w';
  LinePlace place;
  if (!from.passed.empty()) {
    line = from.place[0];
    place = {to_number<std::int64_t>(std::string_view(from.place).substr(1)), from.passed};
  }
  Listing listing;
  for (;;) {
    const auto& key = line == 'w' ? queue.keys().wait : queue.keys().crashed;
    auto read =
        read_behind(queue, key, options.order, place, options.limit - listing.entries.size());
    if (!read) return read.error();
    for (auto& job : read->jobs) {
      place.pass(job.id, job.index);
      listing.entries.push_back({std::move(job.id), "0"});
    }
    const bool full = listing.entries.size() == options.limit;
    if (full || read->more) {
      if (const auto noted = note_marks(queue, place, read->read_ms); !noted) return noted.error();
    }
    if (full) {
      listing.next = encode_cursor(queue.name(), JobState::waiting, options.order,
                                   {line + std::to_string(place.index), place.passed});
      return listing;
    }
    if (read->more) continue;
    if (line == last) return listing;
    line = last;
    place = {};
  }
}

std::string read_command(const std::string& key, bool data) {
  std::string bytes;
  if (data) {
    wire::append_command(bytes, {"HGETALL", key});
    return bytes;
  }
  wire::append_header(bytes, 2 + kSmallFields.size());
  wire::append_bulk(bytes, std::string_view("HMGET"));
  wire::append_bulk(bytes, std::string_view(key));
  for (const auto field : kSmallFields) wire::append_bulk(bytes, field);
  return bytes;
}

wire::Reply text_reply(std::string_view text) {
  wire::Reply reply;
  reply.text = text;
  return reply;
}

// The answer in the form of job/read: state, score, then fields and values.
std::optional<JobInfo> read_listed(const std::string& queue, JobState state, const Listed& entry,
                                   wire::Reply hash, bool data) {
  wire::Reply read;
  read.items.push_back(text_reply(name(state)));
  read.items.push_back(text_reply(entry.score));
  if (data) {
    for (auto& item : hash.items) read.items.push_back(std::move(item));
  } else {
    for (std::size_t i = 0; i < hash.items.size() && i < kSmallFields.size(); ++i) {
      if (hash.items[i].is_null()) continue;
      read.items.push_back(text_reply(kSmallFields[i]));
      read.items.push_back(std::move(hash.items[i]));
    }
  }
  // A hash that was deleted by hand: there is no such job.
  if (read.items.size() == 2) return std::nullopt;
  return job::read_info(queue, entry.id, read);
}

}  // namespace

Result<JobPage> read_page(QueueCore& queue, JobState state, const PageOptions& options) {
  if (queue.name_error()) return *queue.name_error();
  if (options.limit == 0 || options.limit > kMaxPageJobs)
    return bad_option("limit", std::to_string(options.limit),
                      "1 to " + std::to_string(kMaxPageJobs));
  PageCursor from;
  if (!options.cursor.empty()) {
    auto decoded = decode_cursor(queue.name(), state, options.order, options.cursor);
    if (!decoded) return decoded.error();
    from = *std::move(decoded);
  }
  auto listing = state == JobState::waiting ? list_lines(queue, options, from)
                                            : list_set(queue, state, options, from);
  if (!listing) return listing.error();
  std::vector<std::string> commands;
  for (const auto& entry : listing->entries)
    commands.push_back(read_command(job_key(queue.name(), entry.id), options.data));
  auto hashes = ask_plainly(queue, std::move(commands));
  if (!hashes) return hashes.error();
  JobPage page;
  page.next = std::move(listing->next);
  for (std::size_t i = 0; i < listing->entries.size(); ++i)
    if (auto info = read_listed(queue.name(), state, listing->entries[i], std::move((*hashes)[i]),
                                options.data))
      page.jobs.push_back(*std::move(info));
  return page;
}

}  // namespace echomq::inline v2
