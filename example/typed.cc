// SPDX-License-Identifier: MIT
// Typed jobs: a struct in, a struct out. The type has changed once, and jobs from before the change
// are still worked; data that does not fit fails its job with the path of what is wrong.
//
// Usage: typed [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <chrono>
#include <cstdio>
#include <string>

#include "echomq/echomq.h"
#include "echomq/json.h"

using namespace std::chrono_literals;

namespace {

struct Picture {
  std::string path;
  int width = 0;
  int height = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Picture, path, width, height)

struct Thumb {
  std::string path;
  int pixels = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Thumb, path, pixels)

Thumb shrink(echomq::Job<Picture>& job) {
  const auto& picture = job.data();
  return {"small-" + picture.path, picture.width * picture.height};
}

}  // namespace

// Version 1 had squares only, and called their side "size".
template <>
struct echomq::Schema<Picture> {
  static constexpr unsigned version = 2;
  static Result<nlohmann::json> upcast(unsigned /*from*/, nlohmann::json old) {
    old["width"] = old["height"] = old.at("size");
    return old;
  }
};

int main(int argc, char** argv) try {
  auto mq = echomq::connect(argc > 1 ? argv[1] : echomq::url_from_env()).value();
  echomq::Queue<Picture> pictures{mq, "pictures"};
  const auto now = pictures.add({"cat.png", 40, 30}).value();
  // As producers of other releases and runtimes would have it.
  echomq::Queue<> bytes{mq, "pictures"};
  const auto before = bytes.add(R"({"path":"dog.png","size":20})").value();
  const auto newer = bytes.add(R"({"$v":3,"path":"owl.png"})").value();
  const auto wrong = bytes.add(R"({"$v":2,"path":"emu.png","width":"wide"})").value();

  const echomq::Worker worker{pictures, {.concurrency = 2}, shrink};
  std::string summary;
  for (const auto& id : {now, before, newer, wrong}) {
    const auto thumb = pictures.wait_for_result<Thumb>(id, 10s);
    if (thumb) {
      std::printf("%s has %d pixels\n", thumb->path.c_str(), thumb->pixels);
      summary += std::to_string(thumb->pixels) + " ";
    } else {
      std::printf("%s\n", thumb.error().message().c_str());
      summary += std::string(echomq::name(thumb.error().code)) + " ";
    }
  }
  summary.pop_back();
  std::printf("%s\n", summary.c_str());
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "typed: %s\n", problem.what());
  return 1;
}
