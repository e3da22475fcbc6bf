// See live_line.h.
#include "src/core/live_line.h"

#include "src/core/fork.h"

namespace sindri {

namespace {
LiveLine* g_line = nullptr;
}  // namespace

std::mutex& terminal_mutex() {
  static std::mutex mutex;
  static const AtFork at_fork(mutex, AtFork::kLog);
  return mutex;
}

LiveLine* live_line() { return g_line; }
void set_live_line(LiveLine* line) { g_line = line; }

}  // namespace sindri
