// sum_to on the CPU: a reference, and a kernel for the shapes of bias and scale gradients.
//
// In physical order the dimensions of x form groups that are kept (K) or summed (R). Up to [K1, R1, K2, R2] is supported: [N,
// C] -> [C], [N, C, H, W] -> [C, 1, 1] and its channels-last form, row sums, whole sums. R1 and R2 are cut into pieces whose
// size depends on the shape alone. Pieces have separate partial sums, which are added in order, so results do not depend on the
// number of threads.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ops/shape/convert.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"
#include "ops/shape/sum_to_simd.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape from = physical_strides(q.in[0]), to = repeated_strides(q.out[0], q.in[0].shape);
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    using Acc = Accumulator<T>;
    std::vector<Acc> sums(static_cast<size_t>(q.out[0].numel()), Acc(0));
    for_each_index(q.in[0].shape, [&](const Shape& i) { sums[static_cast<size_t>(offset_of(i, to))] += static_cast<Acc>(in[0].as<T>()[offset_of(i, from)]); });
    for (size_t i = 0; i < sums.size(); ++i) out[0].as<T>()[i] = from_accumulator<T>(sums[i]);
  });
}

struct Groups {
  int64_t k1 = 1, r1 = 1, k2 = 1, r2 = 1;
};

// Fills `g` from the slowest dimension on. Empty if the kept dimensions are not in x's physical order or alternate more often.
std::optional<Groups> group_dimensions(const TensorMeta& x, const TensorMeta& y) {
  const Shape to = repeated_strides(y, x.shape);
  const int order_nhwc[] = {0, 2, 3, 1};
  Groups g;
  int64_t* const parts[] = {&g.k1, &g.r1, &g.k2, &g.r2};
  int part = 0;
  int64_t expected = y.numel();  // stride of the next kept dimension times its size
  for (int i = 0; i < x.shape.rank(); ++i) {
    const int d = x.layout == Layout::kChannelsLast ? order_nhwc[i] : i;
    if (x.shape[d] == 1) continue;
    const bool kept = to[d] != 0;
    if (kept && to[d] * x.shape[d] != expected) return std::nullopt;
    if (kept) expected = to[d];
    if ((part % 2 == 0) != kept) ++part;
    if (part > 3) return std::nullopt;
    *parts[part] *= x.shape[d];
  }
  if (g.r2 == 1 && g.k2 == 1) {
    std::swap(g.k1, g.k2);
    std::swap(g.r1, g.r2);
  }  // [K, R] are runs
  return g;
}

std::string reject_blocked(const KernelQuery& q) {
  if (!is_floating(q.in[0].dtype)) return "integers";
  if (q.in[0].numel() == 0) return "no elements";
  return group_dimensions(q.in[0], q.out[0]) ? "" : "dimensions alternate too often or change order";
}

template <class Stored, class Columns, class Run> std::vector<double> sum_groups(const Groups& g, const Stored* x, Columns add_rows, Run sum_run) {
  const int64_t rows = std::max<int64_t>(g.r2 == 1 ? 32 : 4, fixed_chunks(g.r1, 64)), run = 16384;
  const int64_t row_pieces = fixed_chunks(g.r1, rows), run_pieces = fixed_chunks(g.r2, run), plane = g.k2 * g.r2;
  std::vector<double> partial(static_cast<size_t>(g.k1 * row_pieces * g.k2 * run_pieces), 0.0);
  if (g.r2 == 1) {
    parallel_for(g.k1 * row_pieces, std::max<int64_t>(1, 32768 / (std::min(rows, g.r1) * plane)), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t k1 = t / row_pieces, r0 = t % row_pieces * rows;
        add_rows(x + (k1 * g.r1 + r0) * plane, std::min(rows, g.r1 - r0), plane, g.k2, partial.data() + t * g.k2);
      }
    });
  } else {
    parallel_for(static_cast<int64_t>(partial.size()), std::max<int64_t>(1, 32768 / (std::min(rows, g.r1) * std::min(run, g.r2))),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end; ++t) {  // t = ((k1, row piece), k2, run piece)
                     const int64_t c0 = t % run_pieces * run, k2 = t / run_pieces % g.k2, piece = t / run_pieces / g.k2, k1 = piece / row_pieces,
                                   r0 = piece % row_pieces * rows;
                     double sum = 0;
                     for (int64_t r = r0; r < std::min(r0 + rows, g.r1); ++r)
                       sum += sum_run(x + (k1 * g.r1 + r) * plane + k2 * g.r2 + c0, std::min(run, g.r2 - c0));
                     partial[static_cast<size_t>(t)] = sum;
                   }
                 });
  }
  std::vector<double> sums(static_cast<size_t>(g.k1 * g.k2), 0.0);
  const double* p = partial.data();
  for (int64_t k1 = 0; k1 < g.k1; ++k1)
    for (int64_t piece = 0; piece < row_pieces; ++piece)
      for (int64_t k2 = 0; k2 < g.k2; ++k2)
        for (int64_t c = 0; c < run_pieces; ++c) sums[static_cast<size_t>(k1 * g.k2 + k2)] += *p++;
  return sums;
}

std::vector<double> sum_groups(DType dtype, const Groups& g, const void* x) {
  switch (dtype) {
    case DType::kFloat64: return sum_groups(g, static_cast<const double*>(x), SINDRI_SIMD_CALL(add_rows_f64), SINDRI_SIMD_CALL(sum_run_f64));
    case DType::kFloat32: return sum_groups(g, static_cast<const float*>(x), SINDRI_SIMD_CALL(add_rows_f32), SINDRI_SIMD_CALL(sum_run_f32));
    case DType::kBFloat16: return sum_groups(g, static_cast<const uint16_t*>(x), SINDRI_SIMD_CALL(add_rows_bf16), SINDRI_SIMD_CALL(sum_run_bf16));
    default: return sum_groups(g, static_cast<const uint16_t*>(x), SINDRI_SIMD_CALL(add_rows_f16), SINDRI_SIMD_CALL(sum_run_f16));
  }
}

void run_blocked(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<double> sums = sum_groups(q.in[0].dtype, *group_dimensions(q.in[0], q.out[0]), in[0].data);
  dispatch_dtype(q.out[0].dtype, [&]<class T>() {
    for (size_t i = 0; i < sums.size(); ++i) out[0].as<T>()[i] = from_double<T>(sums[i]);
  });
}

const bool kBlocked = register_kernel({.op = "sum_to", .name = "blocked", .reject = reject_blocked, .simple = run_blocked});
const bool kReference = register_kernel({.op = "sum_to", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
