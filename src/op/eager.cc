// The innermost interpreter of PYNATIVE_MODE: finds the plan, converts inputs to its layouts, allocates, runs.
#include "src/op/eager.h"

#include <array>

#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/op/parameter.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"

namespace sindri {

namespace {

constexpr const char* kFinishedTrace =
    "a tensor made inside a compiled function lives only during that call: return it from the function, or keep it in a Parameter";

// The operands of one call; a few of them need no heap allocation.
class Operands {
 public:
  explicit Operands(size_t count) : many_(count > kFew ? count : 0), at_(count > kFew ? many_.data() : few_.data()) {}
  Buffer& operator[](size_t i) { return at_[i]; }
  Span<const Buffer> span(size_t first, size_t count) const { return {at_ + first, count}; }

 private:
  static constexpr size_t kFew = 6;
  std::array<Buffer, kFew> few_;
  std::vector<Buffer> many_;
  Buffer* at_;
};

// The inputs of a call, as its caller holds them.
struct List {
  Span<const Tensor> tensors;
  size_t size() const { return tensors.size(); }
  const Tensor& operator[](size_t i) const { return tensors[i]; }
};
struct Pointers {
  Span<const Tensor* const> tensors;
  size_t size() const { return tensors.size(); }
  const Tensor& operator[](size_t i) const { return *tensors[i]; }
};

// Only a reshape's result has the same bytes as its input, so it shares the input's storage. Ops never write to storage that others hold.
bool is_view(const OpDef& op, const OpPlan& plan, const Tensor& in) {
  return op.traits.role == OpRole::kReshape && in.layout() == plan.in[0].layout && forced_kernel() == nullptr;
}

template <class Inputs> std::shared_ptr<const OpPlan> plan_of(const OpDef& op, const Attrs& attrs, const Inputs& in) {
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].impl()->graph != nullptr) throw ValueError(std::string(op.name) + ": a value of a finished trace is used outside of it", "", kFinishedTrace);
  return plan_call(op, attrs, in.tensors);
}

// Writes plan.out.size() results.
template <class Inputs> void run_eager(const OpDef& op, const Attrs& attrs, const Inputs& in, const OpPlan& plan, Tensor* results) {
  const Device device = plan.out.empty() ? Device{} : plan.out[0].device;
  if (in.size() > 0 && is_view(op, plan, in[0])) {
    results[0] = in[0].view(plan.out[0].shape);
    return;
  }
  std::vector<Tensor> converted;  // copies in another layout; they must outlive the run
  const size_t outputs = plan.out.size();
  Operands operands(in.size() + outputs);
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor* t = &in[i];
    if (t->layout() != plan.in[i].layout) {
      converted.push_back(convert_layout(*t, plan.in[i].layout));
      t = &converted.back();
    }
    const auto& storage = t->impl()->storage;
    operands[i] = {storage != nullptr ? storage->data() : const_cast<void*>(t->raw_data()), &plan.in[i]};
  }
  for (size_t k = 0; k < outputs; ++k) {
    results[k] = Tensor::empty(plan.out[k]);
    operands[in.size() + k] = {results[k].impl()->storage->data(), &plan.out[k]};
  }
  const Storage workspace(plan.workspace, device);
  Stream* const stream = device.is_cpu() ? nullptr : &current_stream(device);
  run_observed(op, attrs, nullptr, plan, operands.span(0, in.size()), operands.span(in.size(), outputs), {workspace.data(), stream});
}

std::vector<Tensor> run_eager(const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
  const List inputs{in};
  const auto plan = plan_of(op, attrs, inputs);
  std::vector<Tensor> results(plan->out.size());
  run_eager(op, attrs, inputs, *plan, results.data());
  return results;
}

}  // namespace

std::vector<Tensor> EagerTrace::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace*) { return run_eager(op, attrs, in); }
Tensor run_eager_one(const OpDef& op, const Attrs& attrs, Span<const Tensor* const> in) {
  const Pointers inputs{in};
  const auto plan = plan_of(op, attrs, inputs);
  if (plan->out.size() != 1) {
    std::vector<Tensor> results(plan->out.size());
    run_eager(op, attrs, inputs, *plan, results.data());
    return std::move(results[0]);
  }
  Tensor result;
  run_eager(op, attrs, inputs, *plan, &result);
  return result;
}
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
  static const OpDef& op = op_of(OpRole::kToLayout);
  static const Attrs to_channels_last = op.attrs.make({{"layout", std::string(layout_name(Layout::kChannelsLast))}});
  static const Attrs to_contiguous = op.attrs.make({{"layout", std::string(layout_name(Layout::kContiguous))}});
  return run_eager(op, layout == Layout::kChannelsLast ? to_channels_last : to_contiguous, {&t, 1})[0];
}

}  // namespace sindri
