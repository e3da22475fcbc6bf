// The plan of one op call: input layouts, output metas, kernel. Derived from (op, attributes, input metas) alone, so
// eager dispatch caches it and the graph compiler uses the same plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri {

struct OpPlan {
  std::vector<TensorMeta> in;  // as the kernel receives them
  std::vector<TensorMeta> out;
  std::shared_ptr<Kernel> kernel;
  const KernelDef* kernel_def = nullptr;
  int64_t workspace = 0;
};

/// Bytes read and written by one run: each operand and each result once, plus what the kernel declares in addition.
int64_t planned_bytes_of(const OpPlan& plan);

/// Infers the results and applies the layout rule, without choosing a kernel. Results are on the operands' device;
/// `device` applies to ops without operands. Throws DeviceError for operands on two devices.
void infer_with_layout(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out,
                       Device device = {});
/// Returns the complete plan, from the cache if possible.
std::shared_ptr<const OpPlan> plan_op(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given, Device device = {});
/// Like plan_op, for a call on these tensors; without any, on the current device.
std::shared_ptr<const OpPlan> plan_call(const OpDef& op, const Attrs& attrs, Span<const Tensor> in);
std::shared_ptr<const OpPlan> plan_call(const OpDef& op, const Attrs& attrs, Span<const Tensor* const> in);
/// Runs a plan on buffers of exactly its metas, or enqueues it on the context's stream.
inline void run_plan(const OpPlan& plan, Span<const Buffer> in, Span<const Buffer> out, ExecContext ctx) { plan.kernel->run(ctx, in, out); }
/// Like run_plan, but reports the run to the KernelObserver in force; the host then waits for the stream. `scope` null: the current one.
void run_observed(const OpDef& op, const Attrs& attrs, const std::string* scope, const OpPlan& plan, Span<const Buffer> in, Span<const Buffer> out,
                  ExecContext ctx);
/// Returns a copy of t in another layout; t itself if it already has it.
Tensor convert_layout(const Tensor& t, Layout layout);

}  // namespace sindri
