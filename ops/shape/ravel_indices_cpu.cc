// ravel_indices on the CPU, by Horner's rule over the dimensions.
#include <algorithm>

#include "ops/shape/indices.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"

namespace sindri {
namespace {

using namespace shape_ops;

// y = y·size + rows, with `rows` of shape `from` broadcast to y's shape.
void append(const std::vector<int64_t>& rows, const TensorMeta& from, int64_t size, const Shape& shape, int64_t* y) {
  if (from.numel() == shape.numel()) {
    for (size_t i = 0; i < rows.size(); ++i) y[i] = y[i] * size + rows[i];
    return;
  }
  const Shape strides = repeated_strides(from, shape);
  const int last = shape.rank() - 1;
  const int64_t inner = last < 0 ? 1 : shape[last], step = last < 0 ? 0 : strides[last];
  Shape starts = shape;
  if (last >= 0) starts[last] = std::min<int64_t>(inner, 1);
  for_each_index(starts, [&](const Shape& index) {
    const int64_t* row = rows.data() + offset_of(index, strides);
    for (int64_t i = 0; i < inner; ++i) y[i] = y[i] * size + row[i * step];
    y += inner;
  });
}

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<RavelIndicesAttrs>();
  int64_t* y = out[0].as<int64_t>();
  std::fill_n(y, q.out[0].numel(), int64_t{0});
  for (int d = 0; d < a.dims.rank(); ++d) {
    const Buffer& b = in[static_cast<size_t>(d)];
    const int64_t axis = a.axes.empty() ? d : a.axes[static_cast<size_t>(d)];
    append(read_indices("ravel_indices", b, a.dims[d], a.wrap, axis), *b.meta, a.dims[d], q.out[0].shape, y);
  }
}

const bool kReference = register_kernel({.op = "ravel_indices", .name = "reference", .priority = kReferencePriority, .simple = run});

}  // namespace
}  // namespace sindri
