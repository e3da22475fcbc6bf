// block_eigen on the CPU: Eigen's tridiagonal QR in double, one block per thread; Jacobi rotations as reference.
#include <algorithm>
#include <atomic>

#include "ops/curvature/blocks.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/symmetric_eigen.h"

namespace sindri {
namespace {

using namespace curvature;
template <bool kPlain, class T> void run_as(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape& s = q.in[0].shape;
  const int64_t b = s[2], total = s[0];
  const Blocks blocks = Blocks::of(q.attrs.as<BlockEigenAttrs>().d, b);
  const T *m = in[0].as<const T>(), *mine = in.size() > 3 ? in[3].as<const T>() : nullptr;
  T *vectors = out[0].as<T>(), *values = out[1].as<T>();
  std::fill_n(vectors, total * b * b, T(0));
  std::fill_n(values, total * b, T(0));
  std::atomic<bool> ok{true};
  parallel_tasks(total, [&](int64_t i) {
    if (mine != nullptr && mine[i] == T(0)) return;
    const int64_t n = blocks.width(i % blocks.count());
    RowMajorMatrix a(n, n), v;
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c) a(r, c) = static_cast<double>(m[(i * b + r) * b + c]);
    Eigen::VectorXd w;
    if (!a.allFinite() || !symmetric_eigen(a, kPlain, &w, &v)) {
      ok = false;
      return;
    }
    for (int64_t r = 0; r < n; ++r) {
      values[i * b + r] = static_cast<T>(std::max(w(r), 0.0));
      for (int64_t c = 0; c < n; ++c) vectors[(i * b + r) * b + c] = static_cast<T>(v(r, c));
    }
  });
  if (!ok) {
    std::copy_n(in[1].as<const T>(), total * b * b, vectors);
    std::copy_n(in[2].as<const T>(), total * b, values);
  }
  *out[2].as<T>() = ok ? T(0) : T(1);
}

template <bool kPlain> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) run_as<kPlain, float>(q, in, out);
  else run_as<kPlain, double>(q, in, out);
}

const bool kEigen = register_kernel({.op = "block_eigen", .name = "eigen", .simple = run<false>});
const bool kReference = register_kernel({.op = "block_eigen", .name = "reference", .priority = kReferencePriority, .simple = run<true>});

}  // namespace
}  // namespace sindri
