// See scatter.h. Sums are in double (integers: modulo 2^64) and rounded once per element.
#include "ops/shape/scatter.h"

#include <algorithm>
#include <numeric>

#include "ops/shape/convert.h"
#include "src/device/cpu/parallel.h"

namespace sindri::shape_ops {

Rows rows_around(const Shape& shape, int axis) {
  Rows r;
  for (int d = 0; d < axis; ++d) r.outer *= shape[d];
  r.rows = shape[axis];
  for (int d = axis + 1; d < shape.rank(); ++d) r.inner *= shape[d];
  return r;
}

void scatter_rows_reference(const Rows& r, const std::vector<int64_t>& picked, const Buffer& updates, const Buffer& y) {
  dispatch_dtype(y.meta->dtype, [&]<class T>() {
    using Acc = Accumulator<T>;
    std::vector<Acc> sums(static_cast<size_t>(y.meta->numel()));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<Acc>(y.as<T>()[i]);
    const T* u = updates.as<T>();
    for (int64_t o = 0; o < r.outer; ++o)
      for (int64_t row : picked)
        for (int64_t i = 0; i < r.inner; ++i) sums[static_cast<size_t>((o * r.rows + row) * r.inner + i)] += static_cast<Acc>(*u++);
    for (size_t i = 0; i < sums.size(); ++i) y.as<T>()[i] = from_accumulator<T>(sums[i]);
  });
}

namespace {

constexpr int64_t kColumns = 256;  // columns per task; its accumulators stay in L1

// Positions in `picked`, grouped by row and in index order within each group; first[g] is the start of group g.
struct Groups {
  std::vector<int64_t> order, first;
};
Groups group_by_row(const std::vector<int64_t>& picked) {
  Groups g;
  g.order.resize(picked.size());
  std::iota(g.order.begin(), g.order.end(), int64_t{0});
  const auto row = [&](int64_t k) { return picked[static_cast<size_t>(k)]; };
  std::stable_sort(g.order.begin(), g.order.end(), [&](int64_t a, int64_t b) { return row(a) < row(b); });
  for (size_t k = 0; k < picked.size(); ++k) {
    if (k == 0 || row(g.order[k]) != row(g.order[k - 1])) g.first.push_back(static_cast<int64_t>(k));
  }
  g.first.push_back(static_cast<int64_t>(picked.size()));
  return g;
}

template <class T> void add_group(const Groups& g, size_t group, const T* updates, int64_t stride, T* y, int64_t columns) {
  Accumulator<T> sums[kColumns];
  for (int64_t i = 0; i < columns; ++i) sums[i] = static_cast<Accumulator<T>>(y[i]);
  for (int64_t k = g.first[group]; k < g.first[group + 1]; ++k) {
    const T* u = updates + g.order[static_cast<size_t>(k)] * stride;
    for (int64_t i = 0; i < columns; ++i) sums[i] += static_cast<Accumulator<T>>(u[i]);
  }
  for (int64_t i = 0; i < columns; ++i) y[i] = from_accumulator<T>(sums[i]);
}

}  // namespace

void scatter_rows(const Rows& r, const std::vector<int64_t>& picked, const Buffer& updates, const Buffer& y) {
  if (picked.empty() || y.meta->numel() == 0) return;
  const Groups g = group_by_row(picked);
  const auto groups = static_cast<int64_t>(g.first.size()) - 1, blocks = (r.inner + kColumns - 1) / kColumns, count = static_cast<int64_t>(picked.size());
  const int64_t work = count * std::min(r.inner, kColumns) / groups + 1;  // mean elements per task
  dispatch_dtype(y.meta->dtype, [&]<class T>() {
    parallel_for(r.outer * groups * blocks, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t o = task / (groups * blocks), group = task / blocks % groups, i = task % blocks * kColumns;
        const int64_t row = picked[static_cast<size_t>(g.order[static_cast<size_t>(g.first[static_cast<size_t>(group)])])];
        add_group(g, static_cast<size_t>(group), updates.as<T>() + o * count * r.inner + i, r.inner, y.as<T>() + (o * r.rows + row) * r.inner + i,
                  std::min(kColumns, r.inner - i));
      }
    });
  });
}

}  // namespace sindri::shape_ops
