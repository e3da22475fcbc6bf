// Kernels of group_update. "simd" runs the vectorised updates of all parameters in one parallel region; threads get equal shares of
// the elements, independent of parameter boundaries. "reference" runs the op's reference kernel parameter by parameter.
#include <algorithm>

#include "ops/optimizer/group_update.h"
#include "ops/optimizer/prepared_update.h"
#include "src/device/cpu/parallel.h"

namespace sindri::ops {
namespace {

std::string reject(const KernelQuery& q) {
  const UpdateGroup g = parse_update_group(q.attrs);
  if (find_update(*g.op) == nullptr) return std::string("no vectorised loop for ") + g.op->name;
  for (size_t t = 0; t < g.tensors; ++t) {
    std::string why = reject_update(*g.op, g.inputs_of(t, q.in));
    if (!why.empty()) return why;
  }
  return "";
}

class GroupKernel final : public Kernel {
 public:
  explicit GroupKernel(const KernelQuery& q) : group_(parse_update_group(q.attrs)), update_(find_update(*group_.op)(group_.attrs)) {
    for (size_t t = 0; t < group_.tensors; ++t) {
      first_.push_back(numel_);
      numel_ += q.in[t * group_.own_inputs].numel();
    }
  }

  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    std::vector<PreparedUpdate> updates;
    std::vector<Buffer> one;
    updates.reserve(group_.tensors);
    for (size_t t = 0; t < group_.tensors; ++t) {
      group_.inputs_of(t, in, &one);
      updates.push_back(prepare_update(update_, one, out.subspan(t * group_.own_outputs, group_.own_outputs)));
    }
    parallel_for(numel_, kUpdateGrain, [&](int64_t begin, int64_t end) {
      auto t = static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), begin) - first_.begin()) - 1;
      for (; t < updates.size() && first_[t] < end; ++t) {
        const int64_t from = std::max<int64_t>(begin - first_[t], 0), to = std::min(end - first_[t], updates[t].numel);
        if (from < to) updates[t].run(from, to);
      }
    });
  }

 private:
  UpdateGroup group_;
  UpdateDescription update_;
  std::vector<int64_t> first_;  // by parameter: number of elements before it
  int64_t numel_ = 0;
};

void reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const UpdateGroup g = parse_update_group(q.attrs);
  for (size_t t = 0; t < g.tensors; ++t) {
    const std::vector<TensorMeta> metas = g.inputs_of(t, q.in);
    const Span<const TensorMeta> made = q.out.subspan(t * g.own_outputs, g.own_outputs);
    ExecContext context;
    make_kernel({*g.op, g.attrs, metas, made}, nullptr, "reference")->run(context, g.inputs_of(t, in), out.subspan(t * g.own_outputs, g.own_outputs));
  }
}

std::unique_ptr<Kernel> make_group(const KernelQuery& q) { return std::make_unique<GroupKernel>(q); }

const bool kSimd = register_kernel({.op = "group_update", .name = "simd", .reject = reject, .make = make_group});
const bool kReference = register_kernel({.op = "group_update", .name = "reference", .priority = kReferencePriority, .simple = reference});

}  // namespace
}  // namespace sindri::ops
