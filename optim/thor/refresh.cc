// A refresh: the factors of every layer over all parts of the batch, and their inverses, computed by each rank or shared among the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "optim/thor/impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

using thor::Kind;
using thor::Layer;

namespace {

Tensor unless(const Tensor& skip, const Tensor& before, const Tensor& after) { return skip.defined() ? ops::where(skip, before, after) : after; }

// Sum of the diagonals of [blocks, b, b].
Tensor trace(const Tensor& blocks) {
  const int64_t b = blocks.dim(-1);
  std::vector<double> eye(static_cast<size_t>(b * b), 0);
  for (int64_t i = 0; i < b; ++i) eye[static_cast<size_t>(i * b + i)] = 1;
  return ops::sum(ops::mul(blocks, Tensor::from_values({1, b, b}, eye, blocks.dtype())));
}

// Logical or of a and b; either may be undefined.
Tensor either(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return a.id() == b.id() ? a : ops::logical_or(a, b);
}

}  // namespace

std::vector<int> thor::owners_of(const std::vector<double>& costs, int ranks) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  std::vector<double> load(static_cast<size_t>(ranks), 0);
  std::vector<int> owners(costs.size());
  for (const size_t unit : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[unit] = static_cast<int>(least - load.begin());
    *least += costs[unit];
  }
  return owners;
}

// The slots of a factored layer, in the factors' shapes; zeros until the first refresh.
Thor::Impl::Slots& Thor::Impl::slots_of(const Layer& layer, const thor::Moments& m) {
  Slots& s = slots[layer.param];
  s.kind = layer.kind, s.a_dim = layer.a_dim, s.g_dim = layer.g_dim;
  const std::string& name = layer.param->name();
  const auto make = [&](std::unique_ptr<Parameter>* slot, const char* prefix, const Shape& shape) {
    if (*slot != nullptr && (*slot)->shape() != shape)
      throw ValueError(fmt::format("THOR: {}.{} has shape {}, but this step's curvature has shape {}", prefix, name, (*slot)->shape().str(), shape.str()), "",
                       "keep block_size, fold_bias and the network as they were when the state was created");
    if (*slot == nullptr) *slot = std::make_unique<Parameter>(Tensor::zeros(shape, DType::kFloat32), fmt::format("{}.{}", prefix, name), false);
  };
  const bool diagonal = layer.kind == Kind::kEmbedding;
  make(&s.a_inv, joint() ? "matrix_a_vectors" : "matrix_a_inv", m.a.shape());
  make(&s.g_inv, joint() ? "matrix_g_vectors" : "matrix_g_inv", m.g.shape());
  if (joint() && !diagonal) make(&s.a_values, "matrix_a_values", {m.a.dim(0), m.a.dim(2)});
  if (joint()) make(&s.g_values, "matrix_g_values", {m.g.dim(0), m.g.dim(2)});
  if (o.factor_decay > 0) make(&s.a, "matrix_a", m.a.shape()), make(&s.g, "matrix_g", m.g.shape());
  if (!o.trace_rule.empty()) make(&s.trace, "thor_trace", {2});
  make(&s.seen, "thor_seen", {2});
  if (ready == nullptr) ready = std::make_unique<Parameter>(Tensor::zeros({2}, DType::kFloat32), "thor_ready", false);
  return s;
}

// Turns sums over rows into means; G is for the gradients of single samples. The tape's gradients are these, divided by `samples` and multiplied by the loss
// scale.
std::pair<Tensor, Tensor> Thor::Impl::means(const Layer& layer, const thor::Moments& sum, double samples, double parts) const {
  const double rows = static_cast<double>(sum.rows);
  const Tensor own = scalar(o.loss_scale), scale = layer.uses[0]->loss_scale.defined() ? layer.uses[0]->loss_scale : own;
  const Tensor unscale = ops::reciprocal(ops::cast(ops::reshape(scale, Shape{}), DType::kFloat32));  // applied twice, since its square may underflow to 0
  double a_rows = layer.kind == Kind::kEmbedding ? samples / parts : rows;
  if (as_mindspore() && layer.kind == Kind::kMatrix) a_rows = static_cast<double>(layer.a_dim);  // as MindSpore's GPU version does
  // Factors and inverses are float32, whatever type the layer computes in.
  const Tensor sum_a = ops::cast(sum.a, DType::kFloat32), sum_g = ops::cast(sum.g, DType::kFloat32);
  return {ops::mul(sum_a, 1 / a_rows), ops::mul(ops::mul(ops::mul(sum_g, unscale), unscale), samples * samples / rows)};
}

// The running average, initialised with the first batch's factor.
Tensor Thor::Impl::averaged(Parameter& kept, const Tensor& now, const Tensor& skip) const {
  const Tensor first = ops::equal(ops::slice(ready->value(), {0}, {1}), ops::full({1}, 0, DType::kFloat32));
  const Tensor mixed = ops::add(ops::mul(kept.value(), o.factor_decay), ops::mul(now, 1 - o.factor_decay));
  const Tensor next = ops::where(first, now, mixed);
  kept.assign(unless(skip, kept.value(), ops::where(ops::all_finite({next}), next, kept.value())));
  return next;
}

// True if the previous inverse is kept, decided by the trace of the layer's whole block A⊗G.
Tensor Thor::Impl::kept_by_trace(const Layer& layer, Slots& s, const Tensor& tr_a, const Tensor& tr_g, const Tensor& lambda, const Tensor& skip) const {
  const double width = static_cast<double>(layer.a_dim * layer.g_dim * layer.groups);
  const Tensor now = ops::add(ops::mul(ops::mul(tr_a, tr_g), static_cast<double>(layer.positions)), ops::mul(lambda, width));
  const Tensor old = s.trace->value(), before = ops::reshape(ops::slice(old, {0}, {1}), Shape{}), frozen = ops::reshape(ops::slice(old, {1}, {2}), Shape{});
  const Tensor zero = scalar(0), has_before = ops::greater(before, zero);
  const Tensor change = ops::div(ops::abs(ops::sub(now, before)), ops::where(has_before, before, scalar(1)));
  const Tensor is_frozen = ops::not_equal(frozen, zero);
  const Tensor keep = ops::logical_and(has_before, ops::logical_or(is_frozen, ops::less_equal(change, scalar(o.trace_rule[0]))));
  const Tensor freeze = ops::logical_or(is_frozen, ops::logical_and(has_before, ops::less(change, scalar(o.trace_rule[1]))));
  const Tensor next = ops::stack({now, ops::cast(freeze, DType::kFloat32)}, 0);
  s.trace->assign(unless(skip, old, ops::where(ops::all_finite({now}), next, old)));
  return keep;
}

// The layers that a step of this variant refreshes: all, or one of `stagger` pieces of consecutive layers.
std::vector<size_t> Thor::Impl::refreshed(const std::vector<Layer>& layers, int variant) const {
  std::vector<size_t> all, some;
  for (size_t i = 0; i < layers.size(); ++i)
    if (layers[i].factored()) all.push_back(i);
  if (variant == thor::kRefresh) return all;
  const auto piece = static_cast<size_t>(variant - thor::kFirstPiece), pieces = static_cast<size_t>(o.stagger);
  for (size_t k = 0; k < all.size(); ++k)
    if (k * pieces / all.size() == piece) some.push_back(all[k]);
  return some;
}

// A and G of the layers, from the uses in one of this rank's parts of the batch. samples: the number in the whole batch, over which the tape's gradients are
// means.
TensorList Thor::Impl::factors(const std::vector<Layer>& layers, const std::vector<size_t>& which, double samples, double parts) {
  TensorList out;
  for (const size_t i : which) {
    const Layer& layer = layers[i];
    thor::Moments sum;
    for (const ParamUse* use : layer.uses) {
      const thor::Moments m = moments_of(layer, *use, o.block_size, means_of_batches());
      sum.a = sum.a.defined() ? ops::add(sum.a, m.a) : m.a;
      sum.g = sum.g.defined() ? ops::add(sum.g, m.g) : m.g;
      sum.rows += m.rows;
    }
    slots_of(layer, sum);
    const auto [a, g] = means(layer, sum, samples, parts);
    out.push_back(a), out.push_back(g);
  }
  return out;
}

// One call per bucket of layers, so that a bucket is transmitted while the next one is computed. split_indices are the last layers of buckets, counted
// among layers with factors.
TensorList Thor::Impl::means_over_parts(const std::vector<TensorList>& lists, const std::vector<size_t>& which, const Gradients& step) const {
  if (!step.mean_over_parts) return lists[0];
  TensorList out;
  size_t begin = 0;
  for (size_t k = 0; k < which.size(); ++k) {
    const bool ends = k + 1 == which.size() || std::find(o.split_indices.begin(), o.split_indices.end(), static_cast<int64_t>(k)) != o.split_indices.end();
    if (!ends) continue;
    std::vector<TensorList> bucket;
    for (const TensorList& list : lists)
      bucket.emplace_back(list.begin() + static_cast<ptrdiff_t>(2 * begin), list.begin() + static_cast<ptrdiff_t>(2 * (k + 1)));
    for (Tensor& t : step.mean_over_parts(bucket)) out.push_back(std::move(t));
    begin = k + 1;
  }
  return out;
}

// The inversions that these factors, or their running averages, require.
std::vector<Thor::Impl::Inversion> Thor::Impl::inversions(const std::vector<Layer>& layers, const std::vector<size_t>& which, const TensorList& factors,
                                                          const Tensor& lambda, const Tensor& skip) {
  std::vector<Inversion> out;
  for (size_t k = 0; k < which.size(); ++k) {
    const Layer& layer = layers[which[k]];
    Slots& s = slots.at(layer.param);
    Tensor a = factors[2 * k], g = factors[2 * k + 1];
    if (o.factor_decay > 0) a = averaged(*s.a, a, skip), g = averaged(*s.g, g, skip);
    const Tensor tr_a = layer.kind == Kind::kEmbedding ? ops::sum(a) : trace(a), tr_g = trace(g);
    s.seen->assign(unless(skip, s.seen->value(), ops::stack({tr_a, tr_g}, 0)));
    const Tensor held = o.trace_rule.empty() ? skip : either(skip, kept_by_trace(layer, s, tr_a, tr_g, lambda, skip));
    const Tensor root = ops::sqrt(ops::div(lambda, static_cast<double>(layer.positions)));
    out.push_back({.of = &s, .is_a = false, .factor = g, .root = root, .d = layer.g_dim, .held = held});
    if (layer.kind != Kind::kEmbedding) {
      out.push_back({.of = &s, .is_a = true, .factor = a, .root = root, .d = layer.a_dim, .held = held});
      continue;
    }
    const Tensor next = joint() ? a : ops::reciprocal(ops::add(a, root));
    s.a_inv->assign(unless(held, s.a_inv->value(), ops::where(ops::all_finite({next}), next, s.a_inv->value())));
  }
  return out;
}

// Returns {inverse, whether it failed} or, with joint damping, {eigenvectors, eigenvalues, whether it failed}. own: marks the blocks of this rank's share; if
// it is defined, failures give zeros, otherwise the previous result.
TensorList Thor::Impl::inverted(const Inversion& one, const Tensor& own) const {
  const auto previous = [&](const Parameter& p) { return own.defined() ? ops::full(p.shape(), 0, DType::kFloat32) : p.value(); };
  if (!joint()) {
    const auto [inverse, bad] = ops::damped_inverse(one.factor, one.root, previous(one.kept()), one.d, own);
    return {inverse, bad};
  }
  const auto [vectors, values, bad] = ops::block_eigen(one.factor, previous(one.kept()), previous(*one.values()), one.d, own);
  return {vectors, values, bad};
}

// Whether ranks share the inversions. Unless a setting decides, they do if there are many operations per byte to transmit. An inversion of width n takes about
// n³ operations for 4·n² bytes; sharing pays from widths of about 500 with links of 10 Gbit/s and cores of 2 x 50 GFLOP/s.
bool Thor::Impl::shares(const std::vector<Inversion>& all, const Gradients& step) const {
  if (step.ranks == 1 || o.distribute == "replicate") return false;
  if (o.distribute == "shard") return true;
  double operations = 0, bytes = 0;
  for (const Inversion& one : all) {
    const double b = static_cast<double>(one.factor.dim(2)), blocks = static_cast<double>(one.factor.dim(0));
    operations += blocks * b * b * b, bytes += 4 * blocks * b * b;
  }
  return operations > 128 * bytes;
}

// The blocks that this rank inverts, over the concatenated blocks of all factors. Read from memory, so that all ranks have the same graph.
Tensor Thor::Impl::share_of(const std::vector<Inversion>& all, const Gradients& step) {
  std::unique_ptr<Parameter>& slot = mine[step.variant];
  if (slot == nullptr) {
    std::vector<double> costs, own, load(static_cast<size_t>(step.ranks), 0);
    for (const Inversion& one : all) {
      const int64_t b = one.factor.dim(2), in_one = (one.d + b - 1) / b;
      for (int64_t i = 0; i < one.factor.dim(0); ++i) {
        const auto width = static_cast<double>(std::min(b, one.d - i % in_one * b));
        costs.push_back(width * width * width);
      }
    }
    const std::vector<int> owners = thor::owners_of(costs, step.ranks);
    for (size_t i = 0; i < owners.size(); ++i) {
      own.push_back(owners[i] == step.rank ? 1 : 0);
      load[static_cast<size_t>(owners[i])] += costs[i];
    }
    const double most = *std::max_element(load.begin(), load.end());
    if (step.variant == thor::kRefresh && most > 0) balance = std::accumulate(load.begin(), load.end(), 0.0) / (most * static_cast<double>(step.ranks));
    slot = std::make_unique<Parameter>(Tensor::from_values({static_cast<int64_t>(own.size())}, own, DType::kFloat32), "thor_mine", false);
  }
  return slot->value();
}

// Inverts all factors on each rank, or each rank's share, with zeros for the blocks of other ranks. Returns the number of failed inversions.
Tensor Thor::Impl::invert(const std::vector<Inversion>& all, const Gradients& step) {
  const bool share = shares(all, step);
  const Tensor own = share ? share_of(all, step) : Tensor();
  TensorList made;
  int64_t at = 0;
  for (const Inversion& one : all) {
    const int64_t blocks = one.factor.dim(0);
    for (Tensor& t : inverted(one, share ? ops::slice(own, {at}, {at + blocks}) : Tensor())) made.push_back(std::move(t));
    at += blocks;
  }
  if (share && !made.empty()) made = ops::all_reduce(made, {.group = step.group, .what = "inverses"});
  Tensor failures = scalar(0);
  size_t next = 0;
  for (const Inversion& one : all) {
    const Tensor inverse = made[next++], values = joint() ? made[next++] : Tensor(), flag = made[next++];
    // Without sharing, a failed inversion has already returned the previous inverse.
    const Tensor bad = share ? ops::greater(flag, scalar(0)) : Tensor(), held = either(one.held, bad);
    one.kept().assign(unless(held, one.kept().value(), inverse));
    if (joint()) one.values()->assign(unless(held, one.values()->value(), values));
    failures = ops::add(failures, share ? ops::cast(bad, DType::kFloat32) : flag);
  }
  return failures;
}

// As MindSpore: the mean over the parts of the batch of the inverses of each part's factors.
Tensor Thor::Impl::mean_of_inverses(const Parts& parts, const std::vector<size_t>& which, const std::vector<TensorList>& lists, const Tensor& lambda,
                                    const Gradients& step) {
  std::vector<TensorList> inverses;
  for (size_t p = 0; p < parts.size(); ++p) {
    TensorList own;
    for (size_t k = 0; k < which.size(); ++k) {
      const Layer& layer = parts[p][which[k]];
      Slots& s = slots.at(layer.param);
      const Tensor root = ops::sqrt(ops::div(lambda, static_cast<double>(layer.positions)));
      const auto one = [&](const Parameter& kept, const Tensor& factor, int64_t d) {
        const auto [inverse, bad] = ops::damped_inverse(factor, root, kept.value(), d);
        own.push_back(inverse), own.push_back(bad);
      };
      one(*s.g_inv, lists[p][2 * k + 1], layer.g_dim);
      if (layer.kind != Kind::kEmbedding) one(*s.a_inv, lists[p][2 * k], layer.a_dim);
      else own.push_back(ops::reciprocal(ops::add(lists[p][2 * k], root))), own.push_back(scalar(0));
    }
    inverses.push_back(std::move(own));
  }
  const TensorList mean = step.mean_over_parts ? step.mean_over_parts(inverses) : inverses[0];
  Tensor failures = scalar(0);
  for (size_t k = 0; k < which.size(); ++k) {
    Slots& s = slots.at(parts[0][which[k]].param);
    for (const bool is_a : {false, true}) {
      Parameter& kept = is_a ? *s.a_inv : *s.g_inv;
      const Tensor &inverse = mean[4 * k + (is_a ? 2 : 0)], bad = ops::greater(mean[4 * k + (is_a ? 3 : 1)], scalar(0));
      kept.assign(unless(either(step.skip, ops::logical_not(ops::all_finite({inverse}))), kept.value(), inverse));
      failures = ops::add(failures, ops::cast(bad, DType::kFloat32));
    }
  }
  return failures;
}

Tensor Thor::Impl::refresh(const Parts& parts, const Tensor& lambda, double samples, const Gradients& step) {
  const std::vector<size_t> which = refreshed(parts[0], step.variant);
  std::vector<TensorList> lists;
  for (const std::vector<Layer>& layers : parts) lists.push_back(factors(layers, which, samples, static_cast<double>(parts.size())));
  ranks = step.ranks;
  if (means_of_inverses()) return mean_of_inverses(parts, which, lists, lambda, step);
  const TensorList means = means_over_parts(lists, which, step);
  return invert(inversions(parts[0], which, means, lambda, step.skip), step);
}

}  // namespace sindri::optim
