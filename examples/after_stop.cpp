// SPDX-License-Identifier: MIT
// May static destructors log, after stop() and after main()? Yes: their threads write the line themselves, by one write(2), to the same
// sinks. It is slow and safe.
#include <penstock/penstock.hpp>

namespace {

struct cache {
  ~cache() { PENSTOCK_INFO("the cache goes, after main()"); }
} the_cache;

}  // namespace

int main() {
  penstock::config settings;
  settings.sinks["screen"] = {.type = "console", .pattern = "{level} {message}"};
  penstock::start(settings);
  PENSTOCK_INFO("by the backend thread");
  if (!penstock::stop()) return 1;
  PENSTOCK_INFO("after stop(), by the calling thread");
}

//> info by the backend thread
//> info after stop(), by the calling thread
//> info the cache goes, after main()
