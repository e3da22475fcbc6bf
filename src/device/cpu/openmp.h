// Where OpenMP's parallel regions run: on the calling thread, but for a thread that came through fork(), whose team is gone.
#pragma once

#include <functional>
#include <utility>

#include "src/core/fork.h"

namespace sindri::openmp {

/// Keeps idle threads of the runtime from spinning, at the first region; see openmp.cc.
void rest_when_idle();
/// Runs f on a thread of its own that lives on for the next call, and waits; exceptions come back.
void run_elsewhere(const std::function<void()>& f);

/// Runs f, which holds a parallel region.
template <class F> void run(F&& f) {
  if (lost_threads()) return run_elsewhere(std::forward<F>(f));
  rest_when_idle();
  f();
}

}  // namespace sindri::openmp
