// Reference kernel of matmul and batch_matmul: the definition, sums in double.
#include "ops/matmul/matmul_problem.h"

namespace sindri {
namespace {

template <class T> void reference(const matmul::Problem& p, const T* a, const T* b, T* c) {
  for (int64_t batch = 0; batch < p.matrices(); ++batch) {
    const T* left = a + p.a_offset[static_cast<size_t>(batch)];
    const T* right = b + p.b_offset[static_cast<size_t>(batch)];
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k) sum += static_cast<double>(left[i * p.a_row + k * p.a_col]) * static_cast<double>(right[k * p.b_row + j * p.b_col]);
        *c++ = static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(sum));
      }
  }
}

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const matmul::Problem p = matmul::problem_of(q);
  const auto run = [&]<class T>() { reference(p, in[0].as<const T>(), in[1].as<const T>(), out[0].as<T>()); };
  switch (q.in[0].dtype) {
    case DType::kFloat16: return run.template operator()<float16>();
    case DType::kBFloat16: return run.template operator()<bfloat16>();
    case DType::kFloat32: return run.template operator()<float>();
    default: return run.template operator()<double>();
  }
}

const bool kMatmul = register_kernel({.op = "matmul", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kBatchMatmul = register_kernel({.op = "batch_matmul", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
