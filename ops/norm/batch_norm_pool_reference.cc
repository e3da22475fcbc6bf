// Reference kernels of batch_norm_pool and its gradient: the reference kernels of the separate ops in sequence.
#include <vector>

#include "ops/norm/norm_common.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/pool.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

void run_reference(const char* name, const AttrFields& fields, std::vector<Buffer> in, std::vector<Buffer> out) {
  const OpDef& op = find_op(name);
  const Attrs attrs = op.attrs.make(fields);
  std::vector<TensorMeta> in_metas, out_metas;
  for (const Buffer& b : in) in_metas.push_back(*b.meta);
  for (const Buffer& b : out) out_metas.push_back(*b.meta);
  const KernelDef* chosen = nullptr;
  ExecContext context;
  make_kernel({op, attrs, in_metas, out_metas}, &chosen, "reference")->run(context, in, out);
}

AttrFields windows(const BatchNormPoolAttrs& a) { return {{"kernel", a.kernel}, {"stride", a.stride}, {"pad", a.pad}, {"ceil_mode", a.ceil_mode}}; }

// in: x, gamma, beta; out: y, places, mean, var.
void batch_norm_pool(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BatchNormPoolAttrs>();
  std::vector<char> memory(static_cast<size_t>(q.in[0].nbytes()));
  const Buffer image{memory.data(), in[0].meta};
  run_reference("batch_norm_relu", {{"eps", a.eps}}, {in[0], in[1], in[2]}, {image, out[2], out[3]});
  run_reference("max_pool2d", windows(a), {image}, {out[0], out[1]});
  for (int64_t i = 0, n = q.out[0].numel(); i < n; ++i)
    if (load_element(out[0], i) <= 0) out[1].as<uint8_t>()[i] = kNoPlace;
}

// in: dy, places, x, gamma, mean, var [, dy2]; out: dx, dgamma, dbeta.
void batch_norm_pool_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BatchNormPoolAttrs>();
  const Shape& x = q.in[2].shape;
  std::vector<char> memory(static_cast<size_t>(q.in[2].nbytes()));
  const Buffer g{memory.data(), in[2].meta};
  AttrFields pool = windows(a);
  pool.push_back({"input_size", std::vector<int64_t>{x[2], x[3]}});
  std::vector<Buffer> pooled = {in[0], in[1]};
  if (in.size() > 6) pooled.push_back(in[6]);
  run_reference("max_pool2d_grad", pool, pooled, {g});
  run_reference("batch_norm_grad", {{"eps", a.eps}}, {g, in[2], in[3], in[4], in[5]}, {out[0], out[1], out[2]});
}

const bool kPool = register_kernel({.op = "batch_norm_pool", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_pool});
const bool kPoolGrad = register_kernel({.op = "batch_norm_pool_grad", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_pool_grad});

}  // namespace
}  // namespace sindri::ops
