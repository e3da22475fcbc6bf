// embedding and embedding_grad on the CPU.
#include <cstring>

#include "ops/shape/indices.h"
#include "ops/shape/scatter.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void embedding_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<int64_t> ids = read_indices("embedding", in[1], q.in[0].shape[0], false);
  const size_t bytes = static_cast<size_t>(q.in[0].shape[1]) * dtype_size(q.in[0].dtype);
  if (bytes == 0) return;
  for (size_t i = 0; i < ids.size(); ++i) std::memcpy(out[0].as<char>() + i * bytes, in[0].as<char>() + static_cast<size_t>(ids[i]) * bytes, bytes);
}

void embedding_parallel(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<int64_t> ids = read_indices("embedding", in[1], q.in[0].shape[0], false);
  const int64_t bytes = q.in[0].shape[1] * static_cast<int64_t>(dtype_size(q.in[0].dtype));
  if (bytes == 0) return;
  parallel_for(static_cast<int64_t>(ids.size()), std::max<int64_t>(1, 65536 / bytes), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      std::memcpy(out[0].as<char>() + i * bytes, in[0].as<char>() + ids[static_cast<size_t>(i)] * bytes, static_cast<size_t>(bytes));
  });
}

template <auto kScatter> void embedding_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Rows r{1, q.out[0].shape[0], q.out[0].shape[1]};
  const std::vector<int64_t> ids = read_indices("embedding_grad", in[1], r.rows, false);
  const int64_t zero = 0;
  fill_elements(out[0].data, q.out[0].numel(), &zero, dtype_size(q.out[0].dtype));
  kScatter(r, ids, in[0], out[0]);
}

const bool kEmbeddingParallel = register_kernel({.op = "embedding", .name = "parallel", .simple = embedding_parallel});
const bool kEmbedding = register_kernel({.op = "embedding", .name = "reference", .priority = kReferencePriority, .simple = embedding_reference});
const bool kGradGrouped = register_kernel({.op = "embedding_grad", .name = "grouped", .simple = embedding_grad<scatter_rows>});
const bool kGrad =
    register_kernel({.op = "embedding_grad", .name = "reference", .priority = kReferencePriority, .simple = embedding_grad<scatter_rows_reference>});

}  // namespace
}  // namespace sindri
