// Work in the engine that takes seconds where calls take microseconds: a host language whose lock the calling thread may hold gives it up
// meanwhile. Python's binding sets how.
#pragma once

#include <type_traits>

#include "sindri/export.h"

namespace sindri {

/// Calls f(argument), and may do something before and behind. Exceptions pass through it.
using AroundLongWait = void (*)(void (*f)(void*), void* argument);
SINDRI_API void set_around_long_wait(AroundLongWait around);
SINDRI_API void long_wait(void (*f)(void*), void* argument);

/// f(), as a long wait.
template <class F> void long_wait(F&& f) {
  long_wait([](void* g) { (*static_cast<std::remove_reference_t<F>*>(g))(); }, &f);
}

}  // namespace sindri
