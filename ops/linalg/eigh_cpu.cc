// eigh on the CPU, in double for both types; Jacobi rotations as reference.
#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"
#include "src/device/cpu/symmetric_eigen.h"

namespace sindri::eigh_kernels {
namespace {

using namespace linalg;
using Dense = Matrix<double>;
using Vector = Eigen::VectorXd;

template <bool kEigen, class T> void eigh(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  if (s.rows == 0) return;
  check_finite("eigh", in[0]);
  for_each_matrix(
      s.batch, 20 * s.rows * s.rows * s.rows,
      [&](int64_t i) -> int64_t {
        const Dense lower = ConstMatrixMap<T>(in[0].as<T>() + i * s.rows * s.rows, s.rows, s.rows).template cast<double>();
        const Dense a = lower.selfadjointView<Eigen::Lower>();
        Vector w;
        Dense v;
        if (!symmetric_eigen(a, !kEigen, &w, &v)) return 0;
        Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(out[0].as<T>() + i * s.rows, s.rows) = w.cast<T>();
        MatrixMap<T>(out[1].as<T>() + i * s.rows * s.rows, s.rows, s.rows) = v.cast<T>();
        return -1;
      },
      [&](int64_t i, int64_t) { throw_not_converged(q.in[0], i); });
}

template <bool kEigen> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) eigh<kEigen, float>(q, in, out);
  else eigh<kEigen, double>(q, in, out);
}

const bool kEigh = register_kernel({.op = "eigh", .name = "eigen", .simple = run<true>});
const bool kReference = register_kernel({.op = "eigh", .name = "reference", .priority = kReferencePriority, .simple = run<false>});

}  // namespace
}  // namespace sindri::eigh_kernels
