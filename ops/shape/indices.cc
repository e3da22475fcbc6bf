// See indices.h.
#include "ops/shape/indices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sindri/core/error.h"

namespace sindri::shape_ops {

namespace {

std::string position_text(const Shape& shape, int64_t i) {
  std::vector<int64_t> at(static_cast<size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; i /= shape[d--]) at[static_cast<size_t>(d)] = i % shape[d];
  return fmt::format("[{}]", fmt::join(at, ", "));
}

}  // namespace

std::vector<int64_t> read_indices(const char* op, const Buffer& indices, int64_t size, bool wrap) {
  std::vector<int64_t> rows(static_cast<size_t>(indices.meta->numel()));
  const int64_t low = wrap ? -size : 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t k = index_at(indices, static_cast<int64_t>(i));
    if (k < low || k >= size) {
      throw ValueError(fmt::format("{}: index {} at position {} is outside a dimension of size {}", op, k,
                                   position_text(indices.meta->shape, static_cast<int64_t>(i)), size),
                       "", size > 0 ? fmt::format("indices must be from {} to {}", low, size - 1) : "the dimension is empty");
    }
    rows[i] = k < 0 ? k + size : k;
  }
  return rows;
}

}  // namespace sindri::shape_ops
