// matmul and batch_matmul. The gradient of a product is again a product, with transpose flags instead of copies.
#include "sindri/ops/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ops/matmul/matmul_problem.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {

namespace matmul {

namespace {

Shape leading(const Shape& s, int rank) {
  Shape out = Shape::filled(rank, 1);
  for (int i = 0; i < s.rank() - 2; ++i) out[rank - (s.rank() - 2) + i] = s[i];
  return out;
}

// First element of the operand's matrix for each matrix of the result; a dimension of 1 is repeated.
std::vector<int64_t> offsets(const Shape& batch, const Shape& own, int64_t matrix) {
  std::vector<int64_t> out(static_cast<size_t>(batch.numel()));
  const Shape strides = contiguous_strides(own), result = contiguous_strides(batch);
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t at = 0;
    for (int d = 0; d < batch.rank(); ++d) {
      const int64_t index = static_cast<int64_t>(i) / result[d] % batch[d];
      if (own[d] != 1) at += index * strides[d];
    }
    out[i] = at * matrix;
  }
  return out;
}

}  // namespace

Problem make_problem(const char* op, bool batched, const MatmulAttrs& attrs, const Shape& a, const Shape& b) {
  for (const Shape* s : {&a, &b}) {
    const char* which = s == &a ? "a" : "b";
    if (batched ? s->rank() < 2 : s->rank() != 2)
      throw ShapeError(fmt::format("{}: {} must have {} dimensions, got {}", op, which, batched ? "at least 2" : "2", s->str()), "",
                       !batched && s->rank() > 2 ? "use batch_matmul, or reshape to a matrix" : "");
  }
  const int64_t a_rows = a[a.rank() - 2], a_cols = a.back(), b_rows = b[b.rank() - 2], b_cols = b.back();
  Problem p;
  p.m = attrs.transpose_a ? a_cols : a_rows;
  p.k = attrs.transpose_a ? a_rows : a_cols;
  p.n = attrs.transpose_b ? b_rows : b_cols;
  const int64_t k_of_b = attrs.transpose_b ? b_cols : b_rows;
  if (p.k != k_of_b)
    throw ShapeError(fmt::format("{}: inner dimensions differ, expected {} of a {}{} but b {}{} has {}", op, p.k, a.str(),
                                 attrs.transpose_a ? " (transposed)" : "", b.str(), attrs.transpose_b ? " (transposed)" : "", k_of_b),
                     "", "check the shapes, or set transpose_a or transpose_b");
  p.a_row = attrs.transpose_a ? 1 : a_cols, p.a_col = attrs.transpose_a ? a_cols : 1;
  p.b_row = attrs.transpose_b ? 1 : b_cols, p.b_col = attrs.transpose_b ? b_cols : 1;
  const int rank = std::max(a.rank(), b.rank()) - 2;
  p.a_batch = leading(a, rank), p.b_batch = leading(b, rank);
  p.batch = broadcast_shapes(p.a_batch, p.b_batch, op);
  p.a_offset = offsets(p.batch, p.a_batch, a_rows * a_cols);
  p.b_offset = offsets(p.batch, p.b_batch, b_rows * b_cols);
  return p;
}

Problem problem_of(const KernelQuery& q) {
  return make_problem(q.op.name, std::string_view(q.op.name) == "batch_matmul", q.attrs.as<MatmulAttrs>(), q.in[0].shape, q.in[1].shape);
}

}  // namespace matmul

namespace {

using matmul::MatmulAttrs;

std::vector<TensorMeta> infer(const char* op, bool batched, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 2);
  check_floating(op, in[0], "a");
  check_floating(op, in[1], "b");
  check_same_dtype(op, in);
  const matmul::Problem p = matmul::make_problem(op, batched, attrs.as<MatmulAttrs>(), in[0].shape, in[1].shape);
  TensorMeta out = in[0];
  out.shape = p.batch;
  out.shape.push_back(p.m);
  out.shape.push_back(p.n);
  return {out};
}

// With C = op(A) op(B): d op(A) = dC op(B)^T and d op(B) = op(A)^T dC. A transposed operand gets the transposed product.
std::vector<Tensor> vjp(const VjpContext& c, Tensor (*product)(const Tensor&, const Tensor&, bool, bool)) {
  const auto& at = c.attrs.as<MatmulAttrs>();
  const Tensor &a = c.in[0], &b = c.in[1], &dc = c.dout[0];
  Tensor da, db;
  if (c.needs[0]) da = at.transpose_a ? product(b, dc, at.transpose_b, true) : product(dc, b, false, !at.transpose_b);
  if (c.needs[1]) db = at.transpose_b ? product(dc, a, true, at.transpose_a) : product(a, dc, !at.transpose_a, false);
  // Broadcast leading dimensions are summed.
  if (da.defined() && da.shape() != a.shape()) da = ops::sum_to(da, a.shape());
  if (db.defined() && db.shape() != b.shape()) db = ops::sum_to(db, b.shape());
  return {da, db};
}

// 2·M·N·K for each matrix of the result.
int64_t flops(const Attrs& attrs, Span<const TensorMeta> in, Span<const TensorMeta> out) {
  const Shape& a = in[0].shape;
  return 2 * out[0].numel() * a[a.rank() - (attrs.as<MatmulAttrs>().transpose_a ? 2 : 1)];
}

const OpDef& kMatmul = register_op({
    .name = "matmul",
    .doc = "op(a) . op(b): a [M, K] ([K, M] when transpose_a), b [K, N] ([N, K] when transpose_b) -> [M, N]. K = 0 gives zeros.\n"
           "ShapeError when ranks are not 2 or the inner dimensions differ; DTypeError unless both have one floating type.",
    .attrs = attrs_type<MatmulAttrs>(),
    .traits = {.amp = AmpClass::kLower},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer("matmul", false, attrs, in); },
    .vjp = [](const VjpContext& c) { return vjp(c, ops::matmul); },
    .flops = flops,
});

const OpDef& kBatchMatmul = register_op({
    .name = "batch_matmul",
    .doc = "matmul over the last two dimensions of tensors of rank >= 2; the leading dimensions broadcast as in NumPy.",
    .attrs = attrs_type<MatmulAttrs>(),
    .traits = {.amp = AmpClass::kLower},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer("batch_matmul", true, attrs, in); },
    .vjp = [](const VjpContext& c) { return vjp(c, ops::batch_matmul); },
    .flops = flops,
});

}  // namespace

namespace ops {

namespace {

using Product = Tensor (*)(const Tensor&, const Tensor&, bool, bool);

// Splits integers into pieces of 16 bits: products of pieces, and sums of K <= 2^20 of them, are exact in double. Overflow wraps around as
// in integer arithmetic.
Tensor integer_product(Product product, const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  const DType type = promote_types(a.dtype(), b.dtype());
  const Tensor mask = full({}, 0xFFFF, DType::kInt64);
  const int pieces = type == DType::kInt64 ? 4 : type == DType::kInt32 ? 2 : 1;
  const auto piece = [&](const Tensor& x, int i) {
    const Tensor bits = bitwise_right_shift(cast(x, DType::kInt64), full({}, 16 * i, DType::kInt64));
    return cast(bitwise_and(bits, mask), DType::kFloat64);
  };
  Tensor sum;
  for (int i = 0; i < pieces; ++i) {
    for (int j = 0; i + j < pieces; ++j) {
      const Tensor part = cast(product(piece(a, i), piece(b, j), transpose_a, transpose_b), DType::kInt64);
      const Tensor shifted = bitwise_left_shift(part, full({}, 16 * (i + j), DType::kInt64));
      sum = sum.defined() ? add(sum, shifted) : shifted;
    }
  }
  return cast(sum, type);
}

// Other operands are passed on, and the op rejects them.
bool integers(const Tensor& a, const Tensor& b) {
  const auto matrix = [](const Tensor& x) { return is_integral(x.dtype()) && x.dtype() != DType::kBool && x.rank() >= 2; };
  return matrix(a) && matrix(b);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (integers(a, b)) return integer_product(matmul, a, b, transpose_a, transpose_b);
  return bind_one(kMatmul, recent_attrs(MatmulAttrs{transpose_a, transpose_b}), {&a, &b});
}
Tensor batch_matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (integers(a, b)) return integer_product(batch_matmul, a, b, transpose_a, transpose_b);
  return bind_one(kBatchMatmul, recent_attrs(MatmulAttrs{transpose_a, transpose_b}), {&a, &b});
}

}  // namespace ops

}  // namespace sindri
