// group_cluster on the CPU: elementwise_cluster's kernels, tensor by tensor. The graph compiler creates groups for other devices only, so this is not
// optimised.
#include <algorithm>

#include "ops/elementwise/group_cluster.h"
#include "sindri/op/kernel.h"

namespace sindri::elementwise {
namespace {

// Offset of element (n, c, s), where s numbers rows and columns.
struct GroupPlanes {
  explicit GroupPlanes(const TensorMeta& m) : n(m.shape[0]), c(m.shape[1]), s(m.shape[2] * m.shape[3]), last(m.layout == Layout::kChannelsLast) {}
  int64_t at(int64_t i, int64_t j, int64_t k) const { return last ? (i * s + k) * c + j : (i * c + j) * s + k; }
  int64_t n, c, s;
  bool last;
};

std::vector<char> in_layout(const Buffer& b, const TensorMeta& wanted) {
  std::vector<char> to(static_cast<size_t>(wanted.nbytes()));
  const GroupPlanes from(*b.meta), into(wanted);
  const auto size = static_cast<int64_t>(dtype_size(wanted.dtype));
  for (int64_t i = 0; i < from.n; ++i)
    for (int64_t j = 0; j < from.c; ++j)
      for (int64_t k = 0; k < from.s; ++k) std::copy_n(b.as<char>() + from.at(i, j, k) * size, size, to.data() + into.at(i, j, k) * size);
  return to;
}

void run_group_with(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, const char* kernel) {
  const ClusterGroup g = parse_cluster_group(q.attrs, q.in.size());
  static const OpDef& cluster = op_of(OpRole::kElementwiseCluster);
  const Attrs attrs = cluster.attrs.make({{"program", q.attrs.as<GroupClusterAttrs>().program}});
  for (size_t t = 0; t < g.tensors; ++t) {
    const Span<const Buffer> own = in.subspan(t * g.inputs, g.inputs), results = out.subspan(t * g.results, g.results);
    std::vector<TensorMeta> metas(g.inputs), made;
    std::vector<std::vector<char>> turned(g.inputs);
    std::vector<Buffer> operands;
    for (size_t i = 0; i < g.inputs; ++i) {
      metas[i] = *own[i].meta;
      void* data = own[i].data;
      if (metas[i].shape == results[0].meta->shape && metas[i].layout != results[0].meta->layout) {
        metas[i].layout = results[0].meta->layout;
        turned[i] = in_layout(own[i], metas[i]);
        data = turned[i].data();
      }
      operands.push_back({data, &metas[i]});
    }
    for (const Buffer& r : results) made.push_back(*r.meta);
    ExecContext context;
    make_kernel({cluster, attrs, metas, made}, nullptr, kernel)->run(context, operands, results);
  }
}

void group_simd(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) { run_group_with(q, in, out, "simd"); }
void group_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) { run_group_with(q, in, out, "reference"); }

const bool kSimd = register_kernel({.op = "group_cluster", .name = "simd", .simple = group_simd});
const bool kReference = register_kernel({.op = "group_cluster", .name = "reference", .priority = kReferencePriority, .simple = group_reference});

}  // namespace
}  // namespace sindri::elementwise
