// one_hot on the CPU.
#include "ops/shape/convert.h"
#include "ops/shape/indices.h"
#include "ops/shape/shape_ops.h"

namespace sindri {
namespace {

using namespace shape_ops;

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<OneHotAttrs>();
  dispatch_dtype(a.dtype, [&]<class T>() {
    const T on = from_double<T>(a.on), off = from_double<T>(a.off);
    T* y = out[0].as<T>();
    for (int64_t i = 0; i < q.in[0].numel(); ++i, y += a.depth) {
      for (int64_t k = 0; k < a.depth; ++k) y[k] = off;
      const int64_t k = index_at(in[0], i);
      if (k >= 0 && k < a.depth) y[k] = on;
    }
  });
}

const bool kReference = register_kernel({.op = "one_hot", .name = "reference", .priority = kReferencePriority, .simple = run});

}  // namespace
}  // namespace sindri
