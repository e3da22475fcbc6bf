// Engine work that takes seconds, in calls that normally take microseconds. The calling thread may hold a lock of the host
// language, such as Python's interpreter lock. A language binding installs a function here that releases the lock during such
// work.
#pragma once

#include <type_traits>

#include "sindri/export.h"

namespace sindri {

/// Calls f(argument); may do further work before and after the call. Exceptions propagate through it.
using AroundLongWait = void (*)(void (*f)(void*), void* argument);
/// Installs the function that surrounds long waits in this process; null: none.
SINDRI_API void set_around_long_wait(AroundLongWait around);
/// Calls f(argument) inside the installed function.
SINDRI_API void long_wait(void (*f)(void*), void* argument);

/// Calls f() as a long wait.
template <class F> void long_wait(F&& f) {
  long_wait([](void* g) { (*static_cast<std::remove_reference_t<F>*>(g))(); }, &f);
}

}  // namespace sindri
