// The rules by kind of use: which op, what is its input and its output's gradient as rows, and how the factors act on a gradient.
#include "optim/thor/curvature_of.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "sindri/ops/conv.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri::optim::thor {

namespace {

bool flag(const Attrs& attrs, std::string_view name) {
  for (const AttrField& f : attrs.fields())
    if (f.name == name) return std::get<bool>(f.value);
  return false;
}

// Whether the operand is the parameter's value, perhaps in another type: a transposed or reshaped one has no rule here.
bool is_value(const ParamUse& use) {
  return std::all_of(use.path.begin(), use.path.end(), [](const Rearrangement& r) { return r.op->traits.role == OpRole::kCast; });
}

// y = op(a)·op(b). The weight's side that the result's rows or columns come from is "out", the summed one "in".
void describe_matmul(const ParamUse& use, Layer* layer) {
  const Shape& w = use.operands[use.operand].shape();
  const bool right = use.operand == 1, flipped = flag(use.attrs, right ? "transpose_b" : "transpose_a");
  layer->kind = Kind::kMatrix;
  layer->transposed = right != flipped;  // b of [k, n], or a of [k, m]
  layer->g_dim = layer->transposed ? w[1] : w[0];
  layer->a_dim = layer->transposed ? w[0] : w[1];
}

void describe_conv(const ParamUse& use, Layer* layer) {
  const Shape& w = use.operands[1].shape();
  layer->kind = Kind::kConv;
  layer->groups = use.attrs.as<ops::Conv2dAttrs>().groups;
  layer->g_dim = w[0] / layer->groups;
  layer->a_dim = w[1] * w[2] * w[3];
  layer->positions = use.output_grad.dim(2) * use.output_grad.dim(3);
}

Layer describe(const ParamUse& use) {
  Layer layer{.param = use.param};
  if (use.op == nullptr || !use.output_grad.defined() || !is_value(use)) return layer;
  const std::string_view op = use.op->name;
  if (op == "matmul" && use.operands[0].rank() == 2 && use.operands[1].rank() == 2) describe_matmul(use, &layer);
  else if (use.op->traits.role == OpRole::kConv2d && use.operand == 1) describe_conv(use, &layer);
  else if (op == "embedding" && use.operand == 0) layer.kind = Kind::kEmbedding, layer.a_dim = use.param->shape()[0], layer.g_dim = use.param->shape()[1];
  else if (op == "layer_norm" && use.operand > 0) layer.kind = Kind::kNorm;
  const bool empty = layer.factored() && (use.output_grad.numel() == 0 || layer.a_dim == 0 || layer.g_dim == 0);
  return empty ? Layer{.param = use.param} : layer;
}

bool alike(const Layer& a, const Layer& b) {
  return a.kind == b.kind && a.groups == b.groups && a.a_dim == b.a_dim && a.g_dim == b.g_dim && a.positions == b.positions && a.transposed == b.transposed;
}

// What a matrix product's weight meets, and its result's gradient, as rows.
std::pair<Tensor, Tensor> matmul_rows(const ParamUse& use) {
  const bool right = use.operand == 1;
  const Tensor& x = use.operands[right ? 0 : 1];
  const bool flip_x = right == flag(use.attrs, right ? "transpose_a" : "transpose_b");
  return {flip_x ? ops::transpose(x, {1, 0}) : x, right ? use.output_grad : ops::transpose(use.output_grad, {1, 0})};
}

Tensor wide(const Tensor& t) { return t.dtype() == DType::kFloat32 ? t : ops::cast(t, DType::kFloat32); }

}  // namespace

std::vector<Layer> layers_of(const std::vector<Parameter*>& params, std::span<const ParamUse> uses) {
  std::vector<Layer> layers;
  std::unordered_map<const Parameter*, size_t> at;
  for (Parameter* p : params) {
    at[p] = layers.size();
    layers.push_back({.param = p});
  }
  for (const ParamUse& use : uses) {
    const auto it = at.find(use.param);
    if (it == at.end()) continue;
    Layer& layer = layers[it->second];
    const Layer found = describe(use);
    const bool first = layer.uses.empty();
    layer.uses.push_back(&use);
    if (first) {
      const std::vector<const ParamUse*> kept = layer.uses;
      layer = found;
      layer.uses = kept;
    } else if (!alike(layer, found)) {
      layer = {.param = use.param, .uses = layer.uses};
    }
  }
  return layers;
}

Moments moments_of(const Layer& layer, const ParamUse& use, int64_t block) {
  if (layer.kind == Kind::kConv) {
    const Tensor &x = use.operands[0], &dy = use.output_grad;
    const Shape& w = use.operands[1].shape();
    return {.a = ops::conv2d_gram(x, {w[2], w[3]}, use.attrs.as<ops::Conv2dAttrs>(), block),
            .g = ops::conv2d_gram(dy, {1, 1}, {.groups = layer.groups}, block),
            .rows = dy.dim(0) * layer.positions};
  }
  if (layer.kind == Kind::kEmbedding) {
    const Tensor ids = ops::reshape(use.operands[1], {-1});
    const Tensor zeros = ops::full({layer.a_dim}, 0, DType::kFloat32);
    return {.a = ops::scatter_add(zeros, ids, ops::full({ids.numel()}, 1, DType::kFloat32)),
            .g = ops::gram(ops::reshape(use.output_grad, {-1, layer.g_dim}), block),
            .rows = ids.numel()};
  }
  const auto [x, dy] = matmul_rows(use);
  return {.a = ops::gram(x, block), .g = ops::gram(dy, block), .rows = x.dim(0)};
}

Tensor preconditioned(const Layer& layer, const Tensor& grad, const Tensor& a_inv, const Tensor& g_inv, double scale) {
  Tensor u = wide(grad);
  if (layer.kind == Kind::kEmbedding) {
    u = ops::block_precondition(u, {}, g_inv, 1, scale);
    u = ops::mul(u, ops::reshape(a_inv, {layer.a_dim, 1}));
  } else if (layer.transposed) {
    u = ops::block_precondition(u, a_inv, g_inv, 1, scale);
  } else {
    u = ops::block_precondition(ops::reshape(u, {layer.groups * layer.g_dim, layer.a_dim}), g_inv, a_inv, layer.groups, scale);
  }
  return ops::cast(ops::reshape(u, grad.shape()), grad.dtype());
}

}  // namespace sindri::optim::thor
