// Where OpenMP's parallel regions run: on the calling thread, except in a forked thread, whose team is gone.
#pragma once

#include <functional>
#include <utility>

#include "src/core/fork.h"

namespace sindri::openmp {

/// At the first region, keeps idle threads of the runtime from spinning; see openmp.cc.
void rest_when_idle();
/// Runs f on a separate thread, which is kept for the next call, and waits; exceptions are rethrown.
void run_elsewhere(const std::function<void()>& f);

/// Runs f, which contains a parallel region.
template <class F> void run(F&& f) {
  if (lost_threads()) return run_elsewhere(std::forward<F>(f));
  rest_when_idle();
  f();
}

}  // namespace sindri::openmp
