// SPDX-License-Identifier: MIT
// emq --version: three versions, because they move apart. Two programs understand each other when
// their wire is the same; they run the same scripts when the bundle is.
#include "echomq/version.h"

#include "session.h"

namespace emq {

Exit print_version(const Session& session) {
  if (session.json)
    print_json({{"version", echomq::library_version()},
                {"wire", echomq::wire_version()},
                {"bundle", echomq::bundle_hash()}});
  else
    print("emq     {}\nwire    {}\nbundle  {}\n", echomq::library_version(), echomq::wire_version(),
          echomq::bundle_hash());
  return Exit::ok;
}

}  // namespace emq
