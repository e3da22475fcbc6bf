// reduce_tree: sums many rows along the fixed tree, one block of every row at a time, so that intermediate levels stay in the cache.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "src/comm/algorithms.h"
#include "src/comm/reduce_tree_simd.h"
#include "src/device/cpu/half_convert_simd.h"

namespace sindri::comm {

namespace {

constexpr int64_t kBlock = 4096;  // elements: 16 kB of float32; the tree over 16 rows needs three such blocks

RowOp row_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMax: return RowOp::kMax;
    case ReduceOp::kMin: return RowOp::kMin;
    case ReduceOp::kProd: return RowOp::kProd;
    default: return RowOp::kSum;
  }
}

// The tree over one block of every row. Values have the type in which sums are computed: float32 for halves.
struct Tree {
  RowType leaf, value;
  RowOp op;
  int64_t n, value_size;
  std::byte* scratch;  // one block for each level

  void fold(RowType type, const void* const* rows, int number, void* out) const { SINDRI_SIMD_CALL(fold_rows)(type, op, rows, number, out, n); }
  // Computes out = rows[0] ⊕ … ⊕ rows[number-1]. `out` is written last, so it may be one of the rows if leaf and value have the same type.
  void reduce(const void* const* rows, int number, void* out, int level) const {
    if (number == 1 || number == 2 || number == 4) return fold(leaf, rows, number, out);
    // The left half is a complete tree; the right one may lack leaves, and a single leaf passes unchanged.
    const int half = static_cast<int>(std::bit_ceil(static_cast<unsigned>(number))) / 2;
    std::byte* const left = scratch + static_cast<int64_t>(2 * level) * kBlock * value_size;
    std::byte* const right = left + kBlock * value_size;
    reduce(rows, half, left, level + 1);
    const void* pair[2] = {left, rows[half]};
    if (number - half > 1 || leaf != value) {
      reduce(rows + half, number - half, right, level + 1);
      pair[1] = right;
    }
    fold(value, pair, 2, out);
  }
};

}  // namespace

DType sum_dtype(DType dtype) { return is_half(dtype) ? DType::kFloat32 : dtype; }

void reduce_tree(std::span<const void* const> in, DType in_dtype, void* out, DType out_dtype, int64_t count, ReduceOp op, double factor) {
  const DType sum = sum_dtype(in_dtype);
  const bool narrow = out_dtype != sum;
  const auto in_size = static_cast<int64_t>(dtype_size(in_dtype)), out_size = static_cast<int64_t>(dtype_size(out_dtype)),
             sum_size = static_cast<int64_t>(dtype_size(sum));
  if (count == 0) return;
  if (in.size() == 1 && in_dtype == out_dtype && factor == 1) {  // copies bits unchanged, including NaN payloads
    if (in[0] != out) std::memmove(out, in[0], static_cast<size_t>(count * in_size));
    return;
  }
  const int number = static_cast<int>(in.size());
  const int levels = std::bit_width(in.size());
  thread_local std::vector<std::byte> scratch;
  const auto needed = static_cast<size_t>(kBlock * sum_size * (2 * levels + 1));
  if (scratch.size() < needed) scratch.resize(needed);
  std::byte* const last = scratch.data() + static_cast<int64_t>(2 * levels) * kBlock * sum_size;
  Tree tree{static_cast<RowType>(in_dtype), static_cast<RowType>(sum), row_op(op), 0, sum_size, scratch.data()};
  std::vector<const void*> rows(in.size());
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    tree.n = std::min(kBlock, count - begin);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<const std::byte*>(in[i]) + begin * in_size;
    std::byte* const to = static_cast<std::byte*>(out) + begin * out_size;
    std::byte* const block = narrow ? last : to;
    tree.reduce(rows.data(), number, block, 0);
    if (factor != 1) {
      if (sum == DType::kFloat64) SINDRI_SIMD_CALL(scale_row_f64)(reinterpret_cast<double*>(block), tree.n, factor);
      else if (sum == DType::kFloat32) SINDRI_SIMD_CALL(scale_row_f32)(reinterpret_cast<float*>(block), tree.n, static_cast<float>(factor));
      else throw InternalError("a factor for integers");
    }
    if (narrow) SINDRI_SIMD_CALL(narrow_row)(out_dtype == DType::kBFloat16, reinterpret_cast<const float*>(block), reinterpret_cast<uint16_t*>(to), tree.n);
  }
}

void reduce_tree(std::span<const void* const> in, void* out, int64_t count, DType dtype, ReduceOp op) { reduce_tree(in, dtype, out, dtype, count, op, 1); }

void scale(void* values, int64_t count, DType dtype, double factor) {
  if (factor == 1) return;
  const void* const in = values;
  reduce_tree(std::span(&in, 1), dtype, values, dtype, count, ReduceOp::kSum, factor);
}

}  // namespace sindri::comm
