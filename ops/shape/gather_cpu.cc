// gather and scatter_add on the CPU.
#include <cstring>

#include "ops/shape/indices.h"
#include "ops/shape/scatter.h"
#include "ops/shape/shape_ops.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace shape_ops;

Rows rows_of(const KernelQuery& q) { return rows_around(q.in[0].shape, normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), q.op.name)); }

void gather_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Rows r = rows_of(q);
  const std::vector<int64_t> picked = read_indices("gather", in[1], r.rows, true);
  const size_t bytes = static_cast<size_t>(r.inner) * dtype_size(q.in[0].dtype);
  if (bytes == 0) return;
  char* y = out[0].as<char>();
  for (int64_t o = 0; o < r.outer; ++o)
    for (int64_t row : picked) {
      std::memcpy(y, in[0].as<char>() + static_cast<size_t>(o * r.rows + row) * bytes, bytes);
      y += bytes;
    }
}

void gather_parallel(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Rows r = rows_of(q);
  const std::vector<int64_t> picked = read_indices("gather", in[1], r.rows, true);
  const auto count = static_cast<int64_t>(picked.size()), bytes = r.inner * static_cast<int64_t>(dtype_size(q.in[0].dtype));
  if (bytes == 0) return;
  parallel_for(r.outer * count, std::max<int64_t>(1, 65536 / bytes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(out[0].as<char>() + i * bytes, in[0].as<char>() + (i / count * r.rows + picked[static_cast<size_t>(i % count)]) * bytes,
                  static_cast<size_t>(bytes));
  });
}

void copy_start(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto bytes = static_cast<size_t>(q.out[0].nbytes());
  if (bytes > 0 && in[0].data != out[0].data) std::memcpy(out[0].data, in[0].data, bytes);
}

void scatter_add_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Rows r = rows_of(q);
  const std::vector<int64_t> picked = read_indices("scatter_add", in[1], r.rows, true);
  copy_start(q, in, out);
  scatter_rows_reference(r, picked, in[2], out[0]);
}

void scatter_add_grouped(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Rows r = rows_of(q);
  const std::vector<int64_t> picked = read_indices("scatter_add", in[1], r.rows, true);
  copy_start(q, in, out);
  scatter_rows(r, picked, in[2], out[0]);
}

const bool kGatherParallel = register_kernel({.op = "gather", .name = "parallel", .simple = gather_parallel});
const bool kGather = register_kernel({.op = "gather", .name = "reference", .priority = kReferencePriority, .simple = gather_reference});
const bool kScatterAddGrouped = register_kernel({.op = "scatter_add", .name = "grouped", .simple = scatter_add_grouped});
const bool kScatterAdd = register_kernel({.op = "scatter_add", .name = "reference", .priority = kReferencePriority, .simple = scatter_add_reference});

}  // namespace
}  // namespace sindri
