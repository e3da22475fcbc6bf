// The rules by kind of use: which op, its input and its output's gradient as rows, and how the factors act on a gradient.
#include "optim/thor/curvature_of.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "sindri/ops/conv.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::optim::thor {

namespace {

bool flag(const Attrs& attrs, std::string_view name) {
  for (const AttrField& f : attrs.fields())
    if (f.name == name) return std::get<bool>(f.value);
  return false;
}

// Whether the operand is the parameter's value, possibly cast. Transposed or reshaped values have no rule here.
bool is_value(const ParamUse& use) {
  return std::all_of(use.path.begin(), use.path.end(), [](const Rearrangement& r) { return r.op->traits.role == OpRole::kCast; });
}

// y = op(a)·op(b). The weight's dimension that becomes the result's rows or columns is "out" (G); the summed dimension is "in" (A).
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

// The other operand of a matrix product with the weight, and the result's gradient, both as rows.
std::pair<Tensor, Tensor> matmul_rows(const ParamUse& use) {
  const bool right = use.operand == 1;
  const Tensor& x = use.operands[right ? 0 : 1];
  const bool flip_x = right == flag(use.attrs, right ? "transpose_a" : "transpose_b");
  return {flip_x ? ops::transpose(x, {1, 0}) : x, right ? use.output_grad : ops::transpose(use.output_grad, {1, 0})};
}

// Whether the use adds the parameter to the result of `of` once per row, with one element per column.
bool is_bias_of(const ParamUse& use, const Layer& layer, const ParamUse& of) {
  if (use.op == nullptr || use.op->traits.role != OpRole::kAdd || !use.output_grad.defined() || use.output_grad.id() != of.output_grad.id()) return false;
  const Shape& s = use.operands[use.operand].shape();
  const int64_t width = layer.groups * layer.g_dim;
  if (use.param->shape().numel() != width || s.numel() != width) return false;
  if (layer.kind == Kind::kConv) return s == Shape{1, width, 1, 1};
  return of.operand == 1 ? s.back() == width : s == Shape{width, 1};
}

// The tape is in the order of ops, so the uses of a bias follow those of its weight. If there are several candidates, the next one on the tape is the bias.
void fold(std::vector<Layer>* layers, const std::unordered_map<const Parameter*, size_t>& at, std::span<const ParamUse> uses) {
  for (Layer& layer : *layers) {
    if (layer.kind != Kind::kMatrix && layer.kind != Kind::kConv) continue;
    const Parameter* bias = nullptr;
    size_t found = 0;
    for (const ParamUse* use : layer.uses) {
      const auto next =
          std::find_if(uses.begin() + (use - uses.data()), uses.end(), [&](const ParamUse& u) { return at.contains(u.param) && is_bias_of(u, layer, *use); });
      if (next == uses.end() || (bias != nullptr && next->param != bias)) break;
      bias = next->param;
      ++found;
    }
    if (bias == nullptr || found != layer.uses.size()) continue;
    Layer& folded = (*layers)[at.at(bias)];
    if (folded.kind != Kind::kPlain || folded.uses.size() != found) continue;
    folded.kind = Kind::kFolded;
    layer.bias = static_cast<ptrdiff_t>(at.at(bias));
    ++layer.a_dim;
  }
}

Tensor wide(const Tensor& t) { return t.dtype() == DType::kFloat32 ? t : ops::cast(t, DType::kFloat32); }

}  // namespace

std::vector<Layer> layers_of(const std::vector<Parameter*>& params, std::span<const ParamUse> uses, bool fold_bias) {
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
  if (fold_bias) fold(&layers, at, uses);
  return layers;
}

Moments moments_of(const Layer& layer, const ParamUse& use, int64_t block, bool batch_means) {
  const bool ones = layer.bias >= 0;
  if (layer.kind == Kind::kConv) {
    const auto mean = [&](const Tensor& t) { return batch_means ? ops::mean(wide(t), {0}, true) : t; };
    const Tensor x = mean(use.operands[0]), dy = mean(use.output_grad);
    const Shape& w = use.operands[1].shape();
    return {.a = ops::conv2d_gram(x, {w[2], w[3]}, use.attrs.as<ops::Conv2dAttrs>(), block, ones),
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
  return {.a = ops::gram(x, block, ones), .g = ops::gram(dy, block), .rows = x.dim(0)};
}

namespace {

// Eigenvalues [groups·blocks, b] as [groups, d].
Tensor values_of(const Tensor& values, int64_t groups, int64_t d) {
  const Tensor rows = ops::reshape(values, {groups, values.numel() / groups});
  return rows.dim(1) == d ? rows : ops::slice(rows, {0, 0}, {groups, d});
}

// left·u·right, with blocks of rows and columns. With joint damping Q_l·((Q_lᵀ·u·Q_r) / (positions·l·r + λ))·Q_rᵀ (K-FAC's eigenbasis: Grosse and
// Martens 2016, section 4.2). An undefined left means the identity with the eigenvalues left_values.
Tensor act(const Layer& layer, const Tensor& u, const Tensor& left, const Tensor& left_values, const Tensor& right, const Tensor& right_values,
           const Inverses& inverses) {
  const auto positions = static_cast<double>(layer.positions);
  const int64_t groups = layer.groups;
  if (!inverses.g_values.defined()) return ops::block_precondition(u, left, right, groups, 1 / positions);
  const auto turned = [](const Tensor& q) { return q.defined() ? ops::transpose(q, {0, 2, 1}) : q; };
  const Tensor in_basis = ops::block_precondition(u, turned(left), right, groups);
  const Tensor l = ops::reshape(values_of(left_values, groups, u.dim(0) / groups), {groups, u.dim(0) / groups, 1});
  const Tensor r = ops::reshape(values_of(right_values, groups, u.dim(1)), {groups, 1, u.dim(1)});
  const Tensor below = ops::add(ops::mul(ops::mul(l, r), positions), inverses.lambda);
  return ops::block_precondition(ops::div(in_basis, ops::reshape(below, u.shape())), left, turned(right), groups);
}

}  // namespace

std::pair<Tensor, Tensor> preconditioned(const Layer& layer, const Tensor& grad, const Tensor& bias, const Inverses& inverses) {
  const Inverses& i = inverses;
  const auto as_given = [](const Tensor& u, const Tensor& given) { return ops::cast(ops::reshape(u, given.shape()), given.dtype()); };
  if (layer.kind == Kind::kEmbedding) {
    const Tensor u = wide(grad);
    if (i.g_values.defined()) return {as_given(act(layer, u, {}, i.a, i.g, i.g_values, i), grad), {}};
    return {as_given(ops::mul(ops::block_precondition(u, {}, i.g), ops::reshape(i.a, {layer.a_dim, 1})), grad), {}};
  }
  const int64_t inputs = layer.a_dim - (bias.defined() ? 1 : 0), outputs = layer.groups * layer.g_dim;
  const Shape whole = layer.transposed ? Shape{inputs, outputs} : Shape{outputs, inputs};
  const int axis = layer.transposed ? 0 : 1;  // the dimension of the inputs
  Tensor u = ops::reshape(wide(grad), whole);
  if (bias.defined()) u = ops::concat({u, ops::reshape(wide(bias), layer.transposed ? Shape{1, outputs} : Shape{outputs, 1})}, axis);
  u = layer.transposed ? act(layer, u, i.a, i.a_values, i.g, i.g_values, i) : act(layer, u, i.g, i.g_values, i.a, i.a_values, i);
  if (!bias.defined()) return {as_given(u, grad), {}};
  std::vector<int64_t> last(2, 0), end = {u.dim(0), u.dim(1)};
  last[static_cast<size_t>(axis)] = inputs;
  return {as_given(ops::slice(u, {0, 0}, {whole[0], whole[1]}), grad), as_given(ops::slice(u, last, end), bias)};
}

}  // namespace sindri::optim::thor
