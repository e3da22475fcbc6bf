// matmul and batch_matmul by Sindri's own product (src/device/cuda/product.h): every floating type, size and transpose.
#include "ops/matmul/matmul_problem.h"
#include "src/device/cuda/product.h"

namespace sindri::cuda {
namespace {

// Elements from one matrix of an operand to the next along each dimension of the batch; 0 if it is repeated.
void batch_strides(const Shape& batch, const Shape& own, int64_t matrix, int64_t* strides) {
  const Shape dense = contiguous_strides(own);
  for (int d = 0; d < batch.rank(); ++d) strides[d] = own[d] == 1 ? 0 : dense[d] * matrix;
}

std::unique_ptr<Kernel> make(const KernelQuery& q) {
  const matmul::Problem from = matmul::problem_of(q);
  Product p;
  p.count = from.matrices();
  p.rows = from.m;
  p.cols = from.n;
  p.depth = from.k;
  p.a.line = Split::linear(from.a_row, from.m);
  p.a.depth = Split::linear(from.a_col, from.k);
  p.a.depth_is_dense = from.a_col == 1;
  p.b.line = Split::linear(from.b_col, from.n);
  p.b.depth = Split::linear(from.b_row, from.k);
  p.b.depth_is_dense = from.b_row == 1 && from.b_col != 1;
  p.batch.rank = from.batch.rank();
  for (int d = 0; d < from.batch.rank(); ++d) p.batch.size[d] = Divisor(from.batch[d], p.count);
  batch_strides(from.batch, from.a_batch, from.m * from.k, p.batch.a);
  batch_strides(from.batch, from.b_batch, from.k * from.n, p.batch.b);
  p.c.row = Split::linear(from.n, from.m);
  p.c.col = Split::linear(1, from.n);
  p.c.batch = from.m * from.n;
  return make_product_kernel(q, p, {});
}

bool add(const char* op) {
  return register_kernel({.op = op, .name = kTiledProduct, .priority = kTiledProductPriority, .make = make, .device = Device::kCuda});
}
const bool kMatmul = add("matmul"), kBatchMatmul = add("batch_matmul");

}  // namespace
}  // namespace sindri::cuda
