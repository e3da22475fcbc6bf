// searchsorted on the CPU: a binary search for each value.
#include <algorithm>

#include "ops/reduce/reduce_impl.h"
#include "ops/reduce/scalar.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace reduce;

void run_searchsorted(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const bool right = q.attrs.as<SearchsortedAttrs>().right;
  const Shape& rows = q.in[0].shape;
  const int64_t n = rows[rows.rank() - 1], total = q.in[1].numel();
  if (total == 0) return;
  // Number of values that share a row: all of them, or those of the last dimension.
  const int64_t per_row = rows.rank() == 1 ? total : q.in[1].shape[q.in[1].shape.rank() - 1];
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    const E *sorted = in[0].as<E>(), *values = in[1].as<E>();
    int64_t* places = out[0].as<int64_t>();
    parallel_for(total, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const E* row = sorted + i / per_row * n;
        const auto v = widen(values[i]);
        const E* at = std::partition_point(row, row + n, [&](E e) { return right ? widen(e) <= v : widen(e) < v; });
        places[i] = at - row;
      }
    });
  });
}

const bool kSearch = register_kernel({.op = "searchsorted", .name = "reference", .priority = kReferencePriority, .simple = run_searchsorted});

}  // namespace
}  // namespace sindri
