// parallel_for: splits a range over the threads that kernels may use.
//
// Partitions must not change a result. A kernel that reduces must cut its range into pieces of fixed size
// (fixed_chunks), store a partial result for each piece and add those in order; then any number of threads gives
// bitwise identical results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "sindri/core/context.h"

namespace sindri {

/// Runs body(0) … body(tasks - 1), each once, on at most num_threads() threads. Rethrows the first exception. Inside
/// another parallel region it runs in order on the calling thread.
void parallel_tasks(int64_t tasks, const std::function<void(int64_t)>& body);

/// Calls f(begin, end) on disjoint ranges that cover [0, n). Ranges have at least `grain` items, so small work stays on one thread.
template <class F> void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  const int64_t pieces = std::min<int64_t>(num_threads(), std::max<int64_t>(1, n / std::max<int64_t>(1, grain)));
  if (pieces <= 1) {
    f(static_cast<int64_t>(0), n);
    return;
  }
  parallel_tasks(pieces, [&](int64_t p) { f(n * p / pieces, n * (p + 1) / pieces); });
}

/// Number of fixed-size pieces of a reduction over n items; independent of the thread count.
inline int64_t fixed_chunks(int64_t n, int64_t chunk) { return (n + chunk - 1) / chunk; }

}  // namespace sindri
