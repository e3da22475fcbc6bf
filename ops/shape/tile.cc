// tile, composed of other ops: each dimension in turn is repeated by broadcasting a new dimension before it.
#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "sindri/ops/shape.h"

namespace sindri::ops {

Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats) {
  const int rank = std::max(x.rank(), static_cast<int>(repeats.size()));
  if (rank > Shape::kMaxRank) throw ShapeError(fmt::format("tile: {} repeats, a tensor has at most {} dimensions", repeats.size(), Shape::kMaxRank));
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) throw ValueError(fmt::format("tile: repeat {} of dimension {} is negative", repeats[i], i));
  }
  // NumPy's rule: the shorter of shape and repeats is padded with ones at the front.
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  Tensor y = reshape(x, shape);
  for (int d = 0; d < rank; ++d) {
    const int i = d - (rank - static_cast<int>(repeats.size()));
    const int64_t repeat = i < 0 ? 1 : repeats[static_cast<size_t>(i)];
    if (repeat == 1) continue;
    int64_t outer = 1, inner = 1;
    for (int k = 0; k < d; ++k) outer *= shape[k];
    for (int k = d; k < rank; ++k) inner *= shape[k];
    y = broadcast_to(reshape(y, {outer, 1, inner}), {outer, repeat, inner});
    if (__builtin_mul_overflow(shape[d], repeat, &shape[d])) throw ValueError(fmt::format("tile: {} repeats of dimension {} overflow", repeat, d));
    y = reshape(y, shape);
  }
  return y;
}

}  // namespace sindri::ops
