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

// Copies the indices as rows. Returns false if one is out of range. The loop has no branch, so that it vectorises.
template <class T> bool copy_rows(const T* from, int64_t low, int64_t size, std::vector<int64_t>* rows) {
  bool good = true;
  for (size_t i = 0; i < rows->size(); ++i) {
    const int64_t k = from[i];
    good &= (k >= low) & (k < size);
    (*rows)[i] = k + (k < 0 ? size : 0);
  }
  return good;
}

}  // namespace

std::vector<int64_t> read_indices(const char* op, const Buffer& indices, int64_t size, bool wrap, int64_t dimension) {
  std::vector<int64_t> rows(static_cast<size_t>(indices.meta->numel()));
  const int64_t low = wrap ? -size : 0;
  if (indices.meta->dtype == DType::kInt32 ? copy_rows(indices.as<int32_t>(), low, size, &rows) : copy_rows(indices.as<int64_t>(), low, size, &rows))
    return rows;
  int64_t i = 0, k = index_at(indices, 0);
  while (k >= low && k < size) k = index_at(indices, ++i);
  throw_bad_index(op, k, i, indices.meta->shape, size, wrap, dimension);
}

void throw_bad_index(const char* op, int64_t k, int64_t i, const Shape& shape, int64_t size, bool wrap, int64_t dimension) {
  throw ValueError(fmt::format("{}: index {} at position {} is outside {} of size {}", op, k, position_text(shape, i),
                               dimension < 0 ? "a dimension" : fmt::format("dimension {}", dimension), size),
                   "", size > 0 ? fmt::format("indices must be from {} to {}", wrap ? -size : 0, size - 1) : "the dimension is empty");
}

}  // namespace sindri::shape_ops
