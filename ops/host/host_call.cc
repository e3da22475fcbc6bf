// host_call: a host function, called for its effect.
#include "sindri/op/host_call.h"

#include <memory>

#include "ops/host/host_call_attrs.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

const OpDef& kHostCall = register_op({
    .name = "host_call",
    .doc = "Calls a host function with the operands' values, in program order, and returns the bool scalar true. `number` identifies the function; a call "
           "built from its attributes alone has none.",
    .attrs = attrs_type<HostCallAttrs>(),
    .traits = {.saves_in = kSavesNone, .host_effect = true},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      if (in.empty()) throw ValueError("host_call: it has no operand", "host_call", "give a tensor");
      return {TensorMeta{{}, DType::kBool, Layout::kContiguous, in[0].device}};
    },
});

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  *out[0].as<bool>() = true;
  const auto& a = q.attrs.as<HostCallAttrs>();
  if (a.function == nullptr) return;
  std::vector<Tensor> values;
  for (size_t i = 0; i < in.size(); ++i) values.push_back(Tensor::from_data(q.in[i].shape, q.in[i].dtype, in[i].data));
  (*a.function)(values);
}

const bool kReference = register_kernel({.op = "host_call", .name = "reference", .priority = kReferencePriority, .simple = run});

}  // namespace

void host_call(Span<const Tensor> in, int64_t number, HostFunction f) {
  for (const Tensor& t : in)
    if (!t.device().is_cpu()) throw DeviceError("host_call: an operand lies on " + t.device().str(), "host_call", "run the code that needs its value eagerly");
  HostCallAttrs attrs{.number = number};
  attrs.function = std::make_shared<const HostFunction>(std::move(f));
  std::vector<Tensor> operands(in.begin(), in.end());
  if (operands.empty()) operands.push_back(ops::full({}, 0, DType::kBool));
  sindri::bind(kHostCall, Attrs::of(std::move(attrs)), operands);  // qualified: std::bind would take any arguments
}

}  // namespace sindri
