// Rows added by index: shared by scatter_add and embedding_grad.
#pragma once

#include <vector>

#include "sindri/op/kernel.h"

namespace sindri::shape_ops {

/// A tensor viewed as [outer, rows, inner] around the indexed dimension.
struct Rows {
  int64_t outer = 1, rows = 1, inner = 1;
};
SINDRI_API Rows rows_around(const Shape& shape, int axis);

/// y[o, picked[k], i] += updates[o, k, i] in order of k; y holds the initial values. Serial reference.
void scatter_rows_reference(const Rows& r, const std::vector<int64_t>& picked, const Buffer& updates, const Buffer& y);
/// The same sums in the same order (so bitwise identical), in parallel over the indexed rows.
void scatter_rows(const Rows& r, const std::vector<int64_t>& picked, const Buffer& updates, const Buffer& y);

}  // namespace sindri::shape_ops
