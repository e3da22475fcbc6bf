// qr on the CPU by Eigen's Householder reflections, in double for both types.
#include <algorithm>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"

namespace sindri {
namespace {

using namespace linalg;

template <class T> void qr(const KernelQuery& query, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(query.in[0].shape);
  const int64_t k = query.attrs.as<QrAttrs>().complete ? s.rows : std::min(s.rows, s.columns), least = std::min(s.rows, s.columns);
  for_each_matrix(
      s.batch, 4 * s.rows * s.columns * least + 1,
      [&](int64_t i) -> int64_t {
        MatrixMap<T> q(out[0].as<T>() + i * s.rows * k, s.rows, k), r(out[1].as<T>() + i * k * s.columns, k, s.columns);
        if (least == 0) {
          q.setIdentity();
          return -1;
        }
        using Dense = Eigen::MatrixXd;
        const Eigen::HouseholderQR<Dense> factors(ConstMatrixMap<T>(in[0].as<T>() + i * s.rows * s.columns, s.rows, s.columns).template cast<double>());
        q = (factors.householderQ() * Dense::Identity(s.rows, k)).template cast<T>();
        Dense upper = Dense::Zero(k, s.columns);
        upper.topRows(least) = factors.matrixQR().topRows(least).template triangularView<Eigen::Upper>();
        r = upper.template cast<T>();
        return -1;
      },
      [](int64_t, int64_t) {});
}

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) qr<float>(q, in, out);
  else qr<double>(q, in, out);
}

const bool kQr = register_kernel({.op = "qr", .name = "reference", .priority = kReferencePriority, .simple = run});

}  // namespace
}  // namespace sindri
