// The bottom interpreter of PYNATIVE_MODE: find the plan, bring inputs to its layouts, allocate, run.
#include "src/op/eager.h"

#include <array>

#include "sindri/core/error.h"
#include "sindri/op/parameter.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"

namespace sindri {

namespace {

constexpr const char* kFinishedTrace =
    "a tensor made inside a compiled function lives only during that call: return it from the function, or keep it in a Parameter";

// Operands of one call; few of them without a heap allocation.
class Operands {
 public:
  explicit Operands(size_t count) : many_(count > kFew ? count : 0), at_(count > kFew ? many_.data() : few_.data()) {}
  Buffer& operator[](size_t i) { return at_[i]; }
  Span<const Buffer> span(size_t first, size_t count) const { return {at_ + first, count}; }

 private:
  static constexpr size_t kFew = 12;
  std::array<Buffer, kFew> few_;
  std::vector<Buffer> many_;
  Buffer* at_;
};

// reshape is the one op whose result has the bytes of its input: it shares them. Ops never write to storage that others hold.
bool is_view(const OpDef& op, const OpPlan& plan, const Tensor& in) {
  static const OpDef& reshape = find_op("reshape");
  return &op == &reshape && in.layout() == plan.in[0].layout && forced_kernel() == nullptr;
}

std::vector<Tensor> run_eager(const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
  for (const Tensor& t : in)
    if (t.is_symbolic()) throw ValueError(std::string(op.name) + ": a value of a finished trace is used outside of it", "", kFinishedTrace);
  const auto plan = plan_call(op, attrs, in);
  if (!in.empty() && is_view(op, *plan, in[0])) return {in[0].view(plan->out[0].shape)};

  std::vector<Tensor> converted;  // copies in another layout live through the run
  Operands operands(in.size() + plan->out.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor* t = &in[i];
    if (t->layout() != plan->in[i].layout) {
      converted.push_back(convert_layout(*t, plan->in[i].layout));
      t = &converted.back();
    }
    operands[i] = {const_cast<void*>(t->raw_data()), &plan->in[i]};
  }
  std::vector<Tensor> results;
  results.reserve(plan->out.size());
  for (const TensorMeta& m : plan->out) {
    results.push_back(Tensor::empty(m));
    operands[in.size() + results.size() - 1] = {results.back().mutable_raw_data(), &m};
  }
  const Storage workspace(plan->workspace);
  run_observed(op, attrs, nullptr, *plan, operands.span(0, in.size()), operands.span(in.size(), results.size()), workspace.data());
  return results;
}

}  // namespace

std::vector<Tensor> EagerTrace::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace*) { return run_eager(op, attrs, in); }
Tensor EagerTrace::read(Parameter& p, Trace*) { return p.stored(); }
void EagerTrace::assign(Parameter& p, const Tensor& v, Trace*) {
  if (v.is_symbolic()) throw ValueError("a value of a finished trace is assigned to a parameter", "parameter " + p.name(), kFinishedTrace);
  p.store(v);
}

EagerTrace& eager_trace() {
  static EagerTrace trace;
  return trace;
}

Tensor convert_layout(const Tensor& t, Layout layout) {
  if (t.layout() == layout) return t;
  static const OpDef& op = find_op("to_layout");
  static const Attrs to_channels_last = op.attrs.make({{"layout", std::string(layout_name(Layout::kChannelsLast))}});
  static const Attrs to_contiguous = op.attrs.make({{"layout", std::string(layout_name(Layout::kContiguous))}});
  return run_eager(op, layout == Layout::kChannelsLast ? to_channels_last : to_contiguous, {&t, 1})[0];
}

}  // namespace sindri
