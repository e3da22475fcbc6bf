// gather and scatter_add on the CPU. Seen as [outer, rows, inner] around the indexed dimension.
#include <cstring>
#include <type_traits>

#include "ops/shape/indices.h"
#include "ops/shape/shape_ops.h"

namespace sindri {
namespace {

using namespace shape_ops;

struct Rows { int64_t outer = 1, rows = 1, inner = 1; };
Rows split_at(const Shape& shape, int axis) {
  Rows r;
  for (int d = 0; d < axis; ++d) r.outer *= shape[d];
  r.rows = shape[axis];
  for (int d = axis + 1; d < shape.rank(); ++d) r.inner *= shape[d];
  return r;
}

void gather_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "gather");
  const Rows r = split_at(q.in[0].shape, axis);
  const std::vector<int64_t> picked = read_indices("gather", in[1], r.rows, true);
  if (q.out[0].numel() == 0) return;
  const size_t bytes = static_cast<size_t>(r.inner) * dtype_size(q.in[0].dtype);
  const char* x = in[0].as<char>();
  char* y = out[0].as<char>();
  for (int64_t o = 0; o < r.outer; ++o)
    for (int64_t row : picked) {
      std::memcpy(y, x + static_cast<size_t>(o * r.rows + row) * bytes, bytes);
      y += bytes;
    }
}

void scatter_add_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "scatter_add");
  const Rows r = split_at(q.in[0].shape, axis);
  const std::vector<int64_t> picked = read_indices("scatter_add", in[1], r.rows, true);
  if (q.out[0].nbytes() > 0 && in[0].data != out[0].data) std::memcpy(out[0].data, in[0].data, static_cast<size_t>(q.out[0].nbytes()));
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    const T* updates = in[2].as<T>();
    for (int64_t o = 0; o < r.outer; ++o)
      for (int64_t row : picked) {
        T* y = out[0].as<T>() + (o * r.rows + row) * r.inner;
        for (int64_t i = 0; i < r.inner; ++i) y[i] = static_cast<T>(y[i] + updates[i]);
        updates += r.inner;
      }
  });
}

const bool kGather = register_kernel({.op = "gather", .name = "reference", .priority = kReferencePriority, .simple = gather_reference});
const bool kScatterAdd = register_kernel({.op = "scatter_add", .name = "reference", .priority = kReferencePriority, .simple = scatter_add_reference});

}  // namespace
}  // namespace sindri
