// gather_elements and its gradient on the CPU.
#include <vector>

#include "ops/shape/convert.h"
#include "ops/shape/indices.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"

namespace sindri {
namespace {

using namespace shape_ops;

// Calls f(i, j): row-major position in the indices, and in the indexed tensor.
template <class F> void for_each_pick(const char* op, const Shape& x, const Buffer& indices, int axis, F&& f) {
  const std::vector<int64_t> picked = read_indices(op, indices, x[axis], true);
  const Shape strides = contiguous_strides(x);
  int64_t i = 0;
  for_each_index(indices.meta->shape, [&](const Shape& index) {
    const int64_t row = offset_of(index, strides) + (picked[static_cast<size_t>(i)] - index[axis]) * strides[axis];
    f(i++, row);
  });
}

void gather_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "gather_elements");
  const size_t size = dtype_size(q.in[0].dtype);
  for_each_pick("gather_elements", q.in[0].shape, in[1], axis, [&](int64_t i, int64_t j) { copy_element(out[0].data, i, in[0].data, j, size); });
}

void grad_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<GatherElementsGradAttrs>();
  const int axis = normalize_axis(a.axis, a.shape.rank(), "gather_elements_grad");
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(q.out[0].numel()), 0.0);
    for_each_pick("gather_elements_grad", a.shape, in[1], axis,
                  [&](int64_t i, int64_t j) { sums[static_cast<size_t>(j)] += static_cast<double>(in[0].as<T>()[i]); });
    for (size_t i = 0; i < sums.size(); ++i) out[0].as<T>()[i] = from_double<T>(sums[i]);
  });
}

const bool kGather = register_kernel({.op = "gather_elements", .name = "reference", .priority = kReferencePriority, .simple = gather_reference});
const bool kGrad = register_kernel({.op = "gather_elements_grad", .name = "reference", .priority = kReferencePriority, .simple = grad_reference});

}  // namespace
}  // namespace sindri
