// Access to the operands of an elementwise op in the physical order of its output.
#pragma once

#include <array>
#include <cstdint>

#include "ops/elementwise/cluster.h"
#include "ops/elementwise/elementwise_impl.h"

namespace sindri::elementwise {

/// The output's dimensions in physical order, without those of size 1 and joined if all operands allow it.
struct OperandWalk {
  int64_t n = 0;
  int rank = 0;
  std::array<int64_t, Shape::kMaxRank> size{};
  std::array<std::array<int64_t, Shape::kMaxRank>, kMaxClusterInputs> stride{};
  std::array<bool, kMaxClusterInputs> flat{};  ///< element i of the walk is element i of the operand
};

template <class Meta> OperandWalk walk_operands(size_t count, Meta&& meta, const TensorMeta& out) {
  OperandWalk w;
  w.n = out.numel();
  std::array<Shape, kMaxClusterInputs> strides;
  for (size_t k = 0; k < count; ++k) strides[k] = operand_strides(meta(k), out.shape);
  constexpr std::array<int, 4> kChannelsLastOrder = {0, 2, 3, 1};
  for (int d = 0; d < out.shape.rank(); ++d) {
    const int dim = out.layout == Layout::kChannelsLast ? kChannelsLastOrder[static_cast<size_t>(d)] : d;
    if (out.shape[dim] == 1) continue;
    bool joins = w.rank > 0;
    for (size_t k = 0; k < count && joins; ++k) joins = w.stride[k][static_cast<size_t>(w.rank - 1)] == strides[k][dim] * out.shape[dim];
    const auto at = static_cast<size_t>(joins ? w.rank - 1 : w.rank);
    w.size[at] = (joins ? w.size[at] : 1) * out.shape[dim];
    for (size_t k = 0; k < count; ++k) w.stride[k][at] = strides[k][dim];
    if (!joins) ++w.rank;
  }
  for (size_t k = 0; k < count; ++k) {
    int64_t dense = 1;
    w.flat[k] = true;
    for (auto d = static_cast<size_t>(w.rank); d-- > 0;) {
      w.flat[k] = w.flat[k] && w.stride[k][d] == dense;
      dense *= w.size[d];
    }
  }
  return w;
}

}  // namespace sindri::elementwise
