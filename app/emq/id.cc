// SPDX-License-Identifier: MIT
// emq id: the two forms of a job's id, what it is made of, and new ones.
#include "echomq/id.h"

#include <memory>

#include "argument.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

// Both forms of an id given in either.
struct Forms {
  std::string decimal;
  std::string branded;
};

echomq::Result<Forms> forms(const std::string& id) {
  if (echomq::is_minted_id(id)) {
    auto branded = echomq::brand_id(id);
    if (!branded) return branded.error();
    return Forms{id, *std::move(branded)};
  }
  auto decimal = echomq::unbrand_id(id);
  if (!decimal) return decimal.error();
  return Forms{*std::move(decimal), id};
}

Exit brand(const std::string& id, const Session& session) {
  // A branded id is taken too: what comes out is the branded form, whatever went in.
  const auto both = forms(id);
  if (!both) return session.fail(both.error());
  if (session.json)
    print_json({{"id", both->decimal}, {"branded", both->branded}});
  else
    print("{}\n", both->branded);
  return Exit::ok;
}

Exit decode(const std::string& id, const Session& session) {
  const auto both = forms(id);
  if (!both) return session.fail(both.error());
  const auto parts = echomq::decode_id(id);
  if (!parts) return session.fail(parts.error());
  if (session.json) {
    print_json({{"id", both->decimal},
                {"branded", both->branded},
                {"time", utc(parts->unix_ms)},
                {"unix_ms", parts->unix_ms},
                {"ms_since_2024", parts->ms_since_2024},
                {"node", parts->node},
                {"seq", parts->seq}});
    return Exit::ok;
  }
  print("id        {}\nbranded   {}\nminted    {} ({} ms since 2024)\nnode      {}\nsequence  {}\n",
        both->decimal, both->branded, utc(parts->unix_ms), parts->ms_since_2024, parts->node,
        parts->seq);
  return Exit::ok;
}

struct MintOptions {
  std::string count = "1";
  bool branded = false;
};

Exit mint(const MintOptions& options, const Session& session) {
  const auto count = whole_number("--count", options.count, 1, 1'000'000);
  if (!count) return session.fail(count.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  Json ids = Json::array();
  for (std::uint64_t i = 0; i < *count; ++i) {
    auto id = client->mint_id();
    if (id && options.branded) id = echomq::brand_id(*id);
    if (!id) return session.fail(id.error());
    if (session.json)
      ids.push_back(*id);
    else
      print("{}\n", *id);
  }
  if (session.json) print_json({{"ids", ids}});
  return Exit::ok;
}

// brand and decode: one id in, no server needed.
void declare_form(CLI::App& id, Session& session, const std::string& name,
                  const std::string& description, const std::string& example,
                  const std::string& json, Exit (*action)(const std::string&, const Session&)) {
  auto* verb = session.declare(id, name, description, example);
  auto given = std::make_shared<std::string>();
  verb->add_option("ID", *given, "A job's id, decimal or branded (BAT and 11 characters)")
      ->required();
  session.declare_json(*verb, json);
  verb->callback([given, action, &session] {
    session.run = [given, action, &session] { return action(*given, session); };
  });
}

}  // namespace

void declare_id(CLI::App& app, Session& session) {
  auto* id = session.declare(app, "id", "Read, write and make job ids",
                             "  emq id brand 274557032793636864     BAT0KHTOWnGLuC\n"
                             "  emq id decode BAT0KHTOWnGLuC        when it was minted, and where\n"
                             "  emq id mint --count 3               three new ids\n");
  id->require_subcommand(1);
  declare_form(*id, session, "brand", "Print an id in the form for people",
               "  emq id brand 274557032793636864\n", "Print {\"id\",\"branded\"}", brand);
  declare_form(*id, session, "decode", "Tell what an id is made of; no server is asked",
               "  emq id decode BAT0KHTOWnGLuC\n",
               "Print {\"id\",\"branded\",\"time\",\"unix_ms\",\"ms_since_2024\",\"node\",\"seq\"}",
               decode);

  auto* verb = session.declare(*id, "mint", "Print new ids that no other process will get",
                               "  emq id mint --count 3 --branded\n");
  auto options = std::make_shared<MintOptions>();
  verb->add_option("--count", options->count, "How many, 1 to 1,000,000")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--branded", options->branded, "In the form for people");
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"ids\":[..]}");
  verb->callback([options, &session] {
    session.run = [options, &session] { return mint(*options, session); };
  });
}

}  // namespace emq
