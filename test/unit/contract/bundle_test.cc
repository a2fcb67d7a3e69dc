// SPDX-License-Identifier: MIT
// What is sent to a server, its name there, and the record of it.
#include "contract/bundle.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <string>

#include "contract/digest.h"
#include "contract/generate.h"
#include "contract/manifest.h"
#include "protocol/version.h"
#include "sample.h"

namespace echomq::inline v2::contract {
namespace {

Bundle bundle_of(const std::vector<SourceFile>& files) {
  Bundle bundle;
  EXPECT_EQ(listing(check(files, bundle)), "");
  return bundle;
}

TEST(Digest, IsSha1InHexadecimal) {
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST(Bundle, SendsTheWireThenTheLibsThenTheScriptWithoutCommentLines) {
  const Bundle bundle = bundle_of(sample_set());
  ASSERT_EQ(bundle.scripts.size(), 3U);
  EXPECT_EQ(bundle.scripts[1].name, "node/sample");
  EXPECT_EQ(bundle.scripts[1].source, R"(-- node/sample of echomq:2.0.0
local function fence()
  local v = redis.pcall('GET', KEYS[1])
  if v ~= 'echomq:2.0.0' then return redis.error_reply('EMQFENCE found=another wire') end
  return { revision = ARGV[1] }
end
local m = fence()
if m.err then return m end
return redis.call('HLEN', KEYS[2])
)");
  const std::string& source = bundle.scripts[0].source;
  EXPECT_LT(source.find("local function fence"), source.find("local function emit"));
  EXPECT_LT(source.find("local function emit"), source.find("local m = fence()"));
  EXPECT_EQ(source.find("A comment"), std::string::npos);
  EXPECT_EQ(source.find("\n\n"), std::string::npos);
}

TEST(Bundle, NamesTheWireOfTheLibrary) {
  for (const Script& script : bundle_of(sample_set()).scripts)
    EXPECT_TRUE(
        script.source.starts_with("-- " + script.name + " of " + std::string(kWireVersion) + "\n"));
}

TEST(Bundle, ReadsContinuedTags) {
  const Header header = bundle_of(sample_set()).scripts[0].header;
  EXPECT_EQ(header.keys, (Words{"meta", "wait", "events"}));
  EXPECT_EQ(header.item_args, (Words{"id", "name"}));
}

// Comment lines, blank lines and blanks at line ends are layout: the name on the server stays.
TEST(Bundle, LayoutDoesNotChangeTheSha1) {
  const std::string sha1 = bundle_of(sample_set()).scripts[0].sha1;
  const std::size_t body = kJobSample.find("local m = fence()");
  EXPECT_TRUE(rc::check("layout between lines", [&] {
    std::string text = kJobSample.substr(0, body);
    std::istringstream in(kJobSample.substr(body));
    for (std::string line; std::getline(in, line);) {
      text += line;
      text += *rc::gen::element<std::string>("", "  ", "\t", "\r");
      text += *rc::gen::element<std::string>("\n", "\n\n", "\n-- said\n", "\n   -- said\n \n");
    }
    RC_ASSERT(bundle_of(sample_set_with("job/sample.lua", text)).scripts[0].sha1 == sha1);
  }));
}

TEST(Bundle, ALibChangesTheSha1OfItsUsersOnly) {
  const Bundle before = bundle_of(sample_set());
  const Bundle after = bundle_of(
      sample_set_with("lib/emit.lua", with(kEmitLib, "redis.pcall('XADD'", "redis.call('XADD'")));
  EXPECT_NE(before.scripts[0].sha1, after.scripts[0].sha1);
  EXPECT_EQ(before.scripts[1].sha1, after.scripts[1].sha1);
}

TEST(Bundle, RefusesPathsThatAreNoScriptNames) {
  for (const char* path :
       {"sample.lua", "job/deeper/sample.lua", "Job/sample.lua", "job/sam-ple.lua"})
    EXPECT_NE(listing(problems_of(sample_set_with(path, kJobSample)))
                  .find(std::string(path) + ":1: a script lives in <concept>/<verb>.lua"),
              std::string::npos);
}

TEST(Bundle, RefusesNamesThatBecomeOneStruct) {
  std::vector<SourceFile> files =
      sample_set_with("job/a_b.lua", with(kJobSample, "job/sample:", "job/a_b:"));
  files.push_back({"job_a/b.lua", with(kJobSample, "job/sample:", "job_a/b:")});
  EXPECT_EQ(listing(problems_of(files)),
            "job_a/b.lua:1: the name becomes JobAB, as that of job/a_b does\n");
}

TEST(Bundle, RefusesALibThatNoScriptUses) {
  EXPECT_EQ(listing(problems_of(sample_set_with("lib/idle.lua", "local function idle() end\n"))),
            "lib/idle.lua:1: no script has this lib in its USES\n");
}

// The script that makes a queue looks at keys before there is a version to compare, and the one
// that repairs a queue where there is another's; no other may.
TEST(Fence, OnlyOpenAndRepairMayLookBeforeIt) {
  const std::string early =
      with(kJobSample, "local m = fence()", "redis.call('LLEN', KEYS[2])\nlocal m = fence()");
  for (const std::string script : {"queue/open", "queue/repair"})
    EXPECT_EQ(listing(problems_of(
                  sample_set_with(script + ".lua", with(early, "job/sample:", script + ":")))),
              "");
  EXPECT_NE(listing(problems_of(sample_set_with("job/sample.lua", early))), "");
  const std::string unfenced = with(kJobSample, "if m.err then return m end", "m.err = nil");
  EXPECT_EQ(listing(problems_of(
                sample_set_with("queue/open.lua", with(unfenced, "job/sample:", "queue/open:")))),
            "queue/open.lua:1: the script never calls fence() as its own statement\n");
}

TEST(Manifest, HasALineForEachScriptSortedByName) {
  const Bundle bundle = bundle_of(sample_set());
  EXPECT_EQ(manifest_text(bundle, 3),
            "revision 3\n"
            "job/sample 3 3 1 0 2 errors=EMQFENCE statuses=ok,gone " +
                bundle.scripts[0].sha1 + "\nnode/sample 2 1 0 0 0 errors=EMQFENCE statuses=- " +
                bundle.scripts[1].sha1 +
                "\nqueue/sample 3 3 1 0 2 errors=EMQFENCE statuses=ok,gone " +
                bundle.scripts[2].sha1 + "\n");
}

TEST(Manifest, ItsFirstLineIsARevisionAboveZero) {
  EXPECT_EQ(manifest_revision("revision 12\n"), 12);
  for (const char* text : {"", "revision", "revision 0\n", "revision -1\n", "revision 1 \n",
                           "revision x\n", "job/sample 1\n"})
    EXPECT_EQ(manifest_revision(text), std::nullopt) << text;
}

TEST(Manifest, NamesEachScriptThatChangedCameOrWent) {
  const std::string before = "revision 1\na/a 1\nb/b 1\nc/c 1\n";
  EXPECT_TRUE(manifest_changes(before, before).empty());
  EXPECT_EQ(manifest_changes(before, "revision 1\na/a 1\nb/b 2\nd/d 1\n"),
            (std::vector<std::string>{"script b/b differs from the manifest", "script d/d is new",
                                      "script c/c is gone"}));
  EXPECT_EQ(manifest_changes(before + "\n", before).size(), 1U);
}

TEST(Generate, NamesStructsAfterScripts) {
  EXPECT_EQ(struct_name("job/finish"), "JobFinish");
  EXPECT_EQ(struct_name("queue/rate_limit"), "QueueRateLimit");
}

TEST(Generate, MembersStandInTheOrderOfTheHeader) {
  const std::string header = generated_header(bundle_of(sample_set()), 7);
  EXPECT_NE(header.find("inline constexpr int kRevision = 7;"), std::string::npos);
  EXPECT_NE(header.find("struct JobSample {"), std::string::npos);
  EXPECT_NE(header.find("      f(meta);\n      f(wait);\n      f(events);\n"), std::string::npos);
  EXPECT_NE(header.find("    Arg revision;\n    Arg now;\n    Arg count;\n"), std::string::npos);
  EXPECT_EQ(header.find("MoreKeys"), std::string::npos) << "no script of the set declares any";
}

TEST(Generate, TheBundleHashIsOverTheManifest) {
  const Bundle bundle = bundle_of(sample_set());
  const std::string manifest = manifest_text(bundle, 1);
  const std::string source = generated_source(bundle, "scripts.h", manifest);
  EXPECT_NE(source.find("kBundleHash = \"" + sha1_hex(manifest) + "\""), std::string::npos);
  EXPECT_NE(source.find("#include \"scripts.h\""), std::string::npos);
  EXPECT_NE(source.find("\"local m = fence()\\n\""), std::string::npos);
}

}  // namespace
}  // namespace echomq::inline v2::contract
