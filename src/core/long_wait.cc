// See sindri/core/long_wait.h.
#include "sindri/core/long_wait.h"

#include <atomic>

namespace sindri {

namespace {
std::atomic<AroundLongWait> g_around{nullptr};
}  // namespace

void set_around_long_wait(AroundLongWait around) { g_around = around; }

void long_wait(void (*f)(void*), void* argument) {
  const AroundLongWait around = g_around;
  if (around == nullptr) return f(argument);
  around(f, argument);
}

}  // namespace sindri
