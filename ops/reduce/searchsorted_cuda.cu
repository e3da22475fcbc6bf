// searchsorted on CUDA devices: a binary search for each value. Memory traffic: values and positions once, log2(n) elements of a row for each value, mostly
// from the caches.
#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

template <class E> __global__ void search(const E* sorted, const E* values, int64_t* places, int64_t total, Divisor per_row, int64_t n, bool right) {
  for (int64_t i = global_thread(); i < total; i += global_threads()) {
    const E* const row = sorted + per_row.quotient(i) * n;
    const Number<E> v = load(values[i]);
    int64_t low = 0, high = n;  // elements before `low` are below v, those from `high` on are not
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const Number<E> e = load(row[middle]);
      if (right ? e <= v : e < v) low = middle + 1;
      else high = middle;
    }
    places[i] = low;
  }
}
void run_search(const Call& call) {
  const KernelQuery& q = call.query;
  const Shape& rows = q.in[0].shape;
  const int64_t n = rows[rows.rank() - 1], total = q.in[1].numel();
  if (total == 0) return;
  // Number of values that share a row: all of them, or those of the last dimension.
  const int64_t per_row = rows.rank() == 1 ? total : q.in[1].shape[q.in[1].shape.rank() - 1];
  dispatch_element(q.in[0].dtype, [&]<class E>() {
    launch(call, grid_for(total), search<E>, call.input<E>(0), call.input<E>(1), call.output<int64_t>(0), total, Divisor(per_row, total), n,
           q.attrs.as<SearchsortedAttrs>().right);
  });
}

const bool kSearchsorted = register_cuda_kernel({.op = "searchsorted", .run = run_search});

}  // namespace
}  // namespace sindri::cuda
