// pad and pad_grad on the CPU.
#include <type_traits>
#include <vector>

#include "ops/shape/convert.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

// Calls f(padded, source) for every element of the padded tensor: physical offsets, source -1 in a constant border.
template <class F> void for_each_source(const PadSpec& spec, const TensorMeta& padded, const TensorMeta& plain, F&& f) {
  const Shape to = physical_strides(padded), from = physical_strides(plain);
  for_each_index(padded.shape, [&](const Shape& index) {
    int64_t j = 0;
    for (int d = 0; d < index.rank(); ++d) {
      const int64_t s = spec.source(index[d], d, plain.shape[d]);
      if (s < 0) {
        j = -1;
        break;
      }
      j += s * from[d];
    }
    f(offset_of(index, to), j);
  });
}

void pad_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<PadAttrs>();
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    const T value = from_double<T>(a.value);
    for_each_source(resolve_pad("pad", q.in[0].shape, a.pads, a.mode), q.out[0], q.in[0],
                    [&](int64_t i, int64_t j) { out[0].as<T>()[i] = j < 0 ? value : in[0].as<T>()[j]; });
  });
}

std::string pad_reject(const KernelQuery& q) { return q.attrs.as<PadAttrs>().mode == "constant" ? "" : "only mode constant"; }

void pad_constant(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<PadAttrs>();
  const PadSpec spec = resolve_pad("pad", q.in[0].shape, a.pads, a.mode);
  const Shape to = physical_strides(q.out[0]);
  const size_t size = dtype_size(q.in[0].dtype);
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    const T value = from_double<T>(a.value);
    fill_elements(out[0].data, q.out[0].numel(), &value, size);
  });
  if (q.in[0].numel() == 0) return;
  strided_copy(q.in[0].shape, out[0].as<char>() + offset_of(spec.before, to) * static_cast<int64_t>(size), to, in[0].data, physical_strides(q.in[0]), size);
}

void pad_grad_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<PadGradAttrs>();
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(q.out[0].numel()), 0.0);
    for_each_source(resolve_pad("pad_grad", a.shape, a.pads, a.mode), q.in[0], q.out[0], [&](int64_t i, int64_t j) {
      if (j >= 0) sums[static_cast<size_t>(j)] += static_cast<double>(in[0].as<T>()[i]);
    });
    for (size_t i = 0; i < sums.size(); ++i) out[0].as<T>()[i] = from_double<T>(sums[i]);
  });
}

const bool kPadConstant = register_kernel({.op = "pad", .name = "strided", .reject = pad_reject, .simple = pad_constant});
const bool kPad = register_kernel({.op = "pad", .name = "reference", .priority = kReferencePriority, .simple = pad_reference});
const bool kPadGrad = register_kernel({.op = "pad_grad", .name = "reference", .priority = kReferencePriority, .simple = pad_grad_reference});

}  // namespace
}  // namespace sindri
