// full and arange on the CPU.
#include <algorithm>

#include "ops/shape/convert.h"
#include "ops/shape/shape_ops.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void full_reference(const KernelQuery& q, Span<const Buffer>, Span<const Buffer> out) {
  dispatch_dtype(q.out[0].dtype, [&]<class T>() {
    const T value = from_double<T>(q.attrs.as<FullAttrs>().value);
    T* y = out[0].as<T>();
    for (int64_t i = 0; i < q.out[0].numel(); ++i) y[i] = value;
  });
}

void full_parallel(const KernelQuery& q, Span<const Buffer>, Span<const Buffer> out) {
  dispatch_dtype(q.out[0].dtype, [&]<class T>() {
    const T value = from_double<T>(q.attrs.as<FullAttrs>().value);
    parallel_for(q.out[0].numel(), 32768, [&](int64_t b, int64_t e) { std::fill(out[0].as<T>() + b, out[0].as<T>() + e, value); });
  });
}

void arange_reference(const KernelQuery& q, Span<const Buffer>, Span<const Buffer> out) {
  const auto& a = q.attrs.as<ArangeAttrs>();
  dispatch_dtype(q.out[0].dtype, [&]<class T>() {
    for (int64_t i = 0; i < q.out[0].numel(); ++i) out[0].as<T>()[i] = from_double<T>(a.start + static_cast<double>(i) * a.step);
  });
}

const bool kFull = register_kernel({.op = "full", .name = "parallel", .simple = full_parallel});
const bool kFullReference = register_kernel({.op = "full", .name = "reference", .priority = kReferencePriority, .simple = full_reference});
const bool kArange = register_kernel({.op = "arange", .name = "reference", .priority = kReferencePriority, .simple = arange_reference});

}  // namespace
}  // namespace sindri
