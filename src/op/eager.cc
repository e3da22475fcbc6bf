// The bottom interpreter of PYNATIVE_MODE: find the plan, bring inputs to its layouts, allocate, run.
#include "src/op/eager.h"

#include "sindri/core/error.h"
#include "sindri/op/parameter.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"

namespace sindri {

namespace {

constexpr const char* kFinishedTrace =
    "a tensor made inside a compiled function lives only during that call: return it from the function, or keep it in a Parameter";

std::vector<Tensor> run_eager(const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
  std::vector<TensorMeta> metas;
  metas.reserve(in.size());
  for (const Tensor& t : in) {
    if (t.is_symbolic()) throw ValueError(std::string(op.name) + ": a value of a finished trace is used outside of it", "", kFinishedTrace);
    metas.push_back(t.meta());
  }
  const auto plan = plan_op(op, attrs, metas);

  std::vector<Tensor> held(in.begin(), in.end());  // keeps converted copies alive through the run
  std::vector<Buffer> ins, outs;
  ins.reserve(in.size());
  for (size_t i = 0; i < held.size(); ++i) {
    if (held[i].layout() != plan->in[i].layout) held[i] = convert_layout(held[i], plan->in[i].layout);
    ins.push_back({const_cast<void*>(held[i].raw_data()), &plan->in[i]});
  }
  std::vector<Tensor> results;
  results.reserve(plan->out.size());
  for (const TensorMeta& m : plan->out) {
    results.push_back(Tensor::empty(m));
    outs.push_back({results.back().mutable_raw_data(), &m});
  }
  Storage workspace(plan->workspace);
  run_observed(op, attrs, nullptr, *plan, ins, outs, workspace.data());
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
  return run_eager(op, op.attrs.make({{"layout", std::string(layout_name(layout))}}), {&t, 1})[0];
}

}  // namespace sindri
