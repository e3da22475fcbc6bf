// Thor: when curvature is taken, what is kept of it, and the step that is made of it. What a layer is: curvature_of.cc.
#include "sindri/optim/thor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "optim/optimizer_impl.h"
#include "optim/thor/curvature_of.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

using thor::Kind;
using thor::Layer;

namespace {

constexpr int kRefresh = 0, kReuse = 1;

void check(bool ok, const char* what, const std::string& got, const char* fix) {
  if (!ok) throw ValueError(fmt::format("THOR: {}, got {}", what, got), "", fix);
}

void check_damping(const LearningRate& damping) {
  check(damping.dynamic() || damping.constant() >= 0, "damping must not be negative", fmt::format("{}", damping.constant()), "0.03 is usual");
  for (const float d : damping.per_step()) check(d >= 0, "damping must not be negative", fmt::format("{}", d), "every entry of the table is a damping");
}

void check_frequency(int64_t frequency) {
  check(frequency >= 1, "frequency must be at least 1", fmt::format("{}", frequency),
        "give the number of updates from one refresh of the curvature to the next");
}

void check_options(const ThorOptions& o) {
  check_damping(o.damping);
  check(o.momentum >= 0, "momentum must not be negative", fmt::format("{}", o.momentum), "0.9 is usual");
  check_frequency(o.frequency);
  check(o.batch_size >= 0, "batch_size must not be negative", fmt::format("{}", o.batch_size), "0 takes the samples of the batch");
  check(o.block_size >= 0, "block_size must not be negative", fmt::format("{}", o.block_size), "128 is usual, 0 keeps whole factors");
  check(o.factor_decay >= 0 && o.factor_decay < 1, "factor_decay must be in [0, 1)", fmt::format("{}", o.factor_decay),
        "0 takes the factors of one batch, 0.95 is KAISA's");
  check(o.kl_clip >= 0, "kl_clip must not be negative", fmt::format("{}", o.kl_clip), "0 turns it off, 0.001 is KAISA's");
  const auto& t = o.trace_rule;
  check(t.empty() || (t.size() == 2 && t[0] >= t[1] && t[1] >= 0), "trace_rule must be two numbers, the first at least as large as the second",
        fmt::format("[{}]", fmt::join(t, ", ")), "[0.01, 0] is the paper's THOR, [0.01, 0.001] its THOR_stop");
}

// Parameters that decay and those that do not are groups, updated in the order given.
Params with_filter(Params params, const ThorOptions& o) {
  if (!o.decay_filter || params.grouped()) return params;
  ParamGroup decayed, others{.weight_decay = WeightDecay(0)};
  for (Parameter* p : params.params()) (p == nullptr || o.decay_filter(*p) ? decayed : others).params.push_back(p);
  std::vector<ParamGroup> groups;
  for (ParamGroup* g : {&decayed, &others})
    if (!g->params.empty()) groups.push_back(*g);
  if (groups.size() > 1) groups.push_back({.order_params = params.params()});
  return groups.empty() ? params : Params(std::move(groups));
}

Tensor scalar(double value) { return ops::full({}, value, DType::kFloat32); }

}  // namespace

struct Thor::Impl {
  explicit Impl(Options options) : o(std::move(options)) {}

  /// What is kept of a parameter's curvature; made at its first use.
  struct Slots {
    std::unique_ptr<Parameter> a_inv, g_inv, a, g, trace;
    int64_t a_dim = 0, g_dim = 0;
    Kind kind = Kind::kPlain;
  };

  Options o;
  Parameter* momentum = nullptr;
  std::unordered_map<const Parameter*, Slots> slots;
  std::unique_ptr<Parameter> ready;  ///< [2] float32: whether every factor was inverted once, and how many inversions failed
  bool is_ready = false;  ///< the host's knowledge of it
  double failed = 0;  ///< inversions that were told of
  bool told_nothing = false;

  Tensor damping(const Tensor& global_step) const;
  Slots& slots_of(const Layer& layer, const thor::Moments& m);
  std::pair<Tensor, Tensor> means(const Layer& layer, const thor::Moments& sum, double samples, double parts) const;
  Tensor averaged(Parameter& kept, const Tensor& now, const Tensor& skip) const;
  TensorList factors(const std::vector<Layer>& layers, double samples, double parts);
  Tensor refresh(const std::vector<std::vector<Layer>>& parts, const Tensor& lambda, double samples, const Gradients& step);
  Tensor invert(const Layer& layer, Tensor a, Tensor g, const Tensor& lambda, const Tensor& skip);
  Tensor kept_by_trace(const Layer& layer, Slots& s, const Tensor& a, const Tensor& g, const Tensor& lambda, const Tensor& skip) const;
};

Thor::Thor(Params params, const Options& o) : Optimizer("THOR", with_filter(std::move(params), o), shared_options(o)) {
  check_options(o);
  thor_ = std::make_unique<Impl>(o);
  thor_->momentum = &shared_state("momentum", o.momentum);
  init_state();
}

Thor::~Thor() = default;

void Thor::set_damping(const LearningRate& damping) {
  check_damping(damping);
  thor_->o.damping = damping;
}

void Thor::set_frequency(int64_t frequency) {
  check_frequency(frequency);
  thor_->o.frequency = frequency;
}

// λ of this update. Behind a table's end its last value holds for who does not ask variant(), which refuses that.
Tensor Thor::Impl::damping(const Tensor& global_step) const {
  if (o.damping.schedule() != nullptr)
    return ops::cast(ops::reshape(o.damping.schedule()->construct(ops::reshape(global_step, Shape{})), Shape{}), DType::kFloat32);
  if (o.damping.per_step().empty()) return scalar(o.damping.constant());
  const auto n = static_cast<int64_t>(o.damping.per_step().size());
  const Tensor table = Tensor::from_values({n}, std::vector<double>(o.damping.per_step().begin(), o.damping.per_step().end()), DType::kFloat32);
  const Tensor last = ops::full({1}, static_cast<double>(n - 1), DType::kInt32);
  return ops::reshape(ops::gather(table, ops::minimum(global_step, last)), Shape{});
}

int Thor::variant(int64_t step) const {
  Impl& t = *thor_;
  const auto& table = t.o.damping.per_step();
  if (!table.empty() && step >= static_cast<int64_t>(table.size()))
    throw ValueError(fmt::format("THOR: damping has {} entries, update {} needs one more", table.size(), step), "damping",
                     "give one for each update of the training, or a schedule");
  const bool due = step % t.o.frequency == 0;
  if (t.ready != nullptr && (!t.is_ready || due)) {
    // The one look at a device: until the curvature is there, then once per refresh.
    const std::vector<float> now = t.ready->stored().to_vector<float>();
    t.is_ready = now[0] != 0;
    if (now[1] > t.failed) {
      log::write(log::Level::kWarn, "optim",
                 fmt::format("THOR: {} factors could not be inverted before update {}; what was there is used on | raise the damping if it goes on",
                             now[1] - t.failed, step));
      t.failed = now[1];
    }
  }
  return due || !t.is_ready ? kRefresh : kReuse;
}

// The slots of a factored layer, in the factors' own form; zeros until the first refresh fills them.
Thor::Impl::Slots& Thor::Impl::slots_of(const Layer& layer, const thor::Moments& m) {
  Slots& s = slots[layer.param];
  s.kind = layer.kind, s.a_dim = layer.a_dim, s.g_dim = layer.g_dim;
  const std::string& name = layer.param->name();
  const auto make = [&](std::unique_ptr<Parameter>* slot, const char* prefix, const Shape& shape) {
    if (*slot != nullptr && (*slot)->shape() != shape)
      throw ValueError(fmt::format("THOR: {}.{} is {}, the curvature of this step {}", prefix, name, (*slot)->shape().str(), shape.str()), "",
                       "keep block_size and the network as they were when the state was made");
    if (*slot == nullptr) *slot = std::make_unique<Parameter>(Tensor::zeros(shape, DType::kFloat32), fmt::format("{}.{}", prefix, name), false);
  };
  make(&s.a_inv, "matrix_a_inv", m.a.shape());
  make(&s.g_inv, "matrix_g_inv", m.g.shape());
  if (o.factor_decay > 0) make(&s.a, "matrix_a", m.a.shape()), make(&s.g, "matrix_g", m.g.shape());
  if (!o.trace_rule.empty()) make(&s.trace, "thor_trace", {2});
  if (ready == nullptr) ready = std::make_unique<Parameter>(Tensor::zeros({2}, DType::kFloat32), "thor_ready", false);
  return s;
}

namespace {

Tensor unless(const Tensor& skip, const Tensor& before, const Tensor& after) { return skip.defined() ? ops::where(skip, before, after) : after; }

// Sum of the diagonals of [blocks, b, b].
Tensor trace(const Tensor& blocks) {
  const int64_t b = blocks.dim(-1);
  std::vector<double> eye(static_cast<size_t>(b * b), 0);
  for (int64_t i = 0; i < b; ++i) eye[static_cast<size_t>(i * b + i)] = 1;
  return ops::sum(ops::mul(blocks, Tensor::from_values({1, b, b}, eye, blocks.dtype())));
}

}  // namespace

// Means over rows of the sums, G of the gradients of single samples: the tape's are 1/samples of them, times the loss scale.
std::pair<Tensor, Tensor> Thor::Impl::means(const Layer& layer, const thor::Moments& sum, double samples, double parts) const {
  const double rows = static_cast<double>(sum.rows);
  const Tensor own = scalar(o.loss_scale), scale = layer.uses[0]->loss_scale.defined() ? layer.uses[0]->loss_scale : own;
  const Tensor unscale = ops::reciprocal(ops::cast(ops::reshape(scale, Shape{}), DType::kFloat32));  // twice: its square may be 0
  const double own_samples = samples / parts;
  const Tensor a = ops::mul(sum.a, layer.kind == Kind::kEmbedding ? 1 / own_samples : 1 / rows);
  return {a, ops::mul(ops::mul(ops::mul(sum.g, unscale), unscale), samples * samples / rows)};
}

// The running average, which begins with the first batch's factor.
Tensor Thor::Impl::averaged(Parameter& kept, const Tensor& now, const Tensor& skip) const {
  const Tensor first = ops::equal(ops::slice(ready->value(), {0}, {1}), ops::full({1}, 0, DType::kFloat32));
  const Tensor mixed = ops::add(ops::mul(kept.value(), o.factor_decay), ops::mul(now, 1 - o.factor_decay));
  const Tensor next = ops::where(first, now, mixed);
  kept.assign(unless(skip, kept.value(), ops::where(ops::all_finite({next}), next, kept.value())));
  return next;
}

// True where the inverse of before is kept, by the trace of the whole block, A and G together.
Tensor Thor::Impl::kept_by_trace(const Layer& layer, Slots& s, const Tensor& a, const Tensor& g, const Tensor& lambda, const Tensor& skip) const {
  const Tensor tr_a = layer.kind == Kind::kEmbedding ? ops::sum(a) : trace(a);
  const double width = static_cast<double>(layer.a_dim * layer.g_dim * layer.groups);
  const Tensor now = ops::add(ops::mul(ops::mul(tr_a, trace(g)), static_cast<double>(layer.positions)), ops::mul(lambda, width));
  const Tensor old = s.trace->value(), before = ops::reshape(ops::slice(old, {0}, {1}), Shape{}), frozen = ops::reshape(ops::slice(old, {1}, {2}), Shape{});
  const Tensor zero = scalar(0), known = ops::greater(before, zero);
  const Tensor change = ops::div(ops::abs(ops::sub(now, before)), ops::where(known, before, scalar(1)));
  const Tensor is_frozen = ops::not_equal(frozen, zero);
  const Tensor keep = ops::logical_and(known, ops::logical_or(is_frozen, ops::less_equal(change, scalar(o.trace_rule[0]))));
  const Tensor freeze = ops::logical_or(is_frozen, ops::logical_and(known, ops::less(change, scalar(o.trace_rule[1]))));
  const Tensor next = ops::stack({now, ops::cast(freeze, DType::kFloat32)}, 0);
  s.trace->assign(unless(skip, old, ops::where(ops::all_finite({now}), next, old)));
  return keep;
}

// A and G of each factored layer, from the uses of one of this rank's parts of the batch. samples: of all of them, which the tape's gradients are means over.
TensorList Thor::Impl::factors(const std::vector<Layer>& layers, double samples, double parts) {
  TensorList out;
  for (const Layer& layer : layers) {
    if (!layer.factored()) continue;
    thor::Moments sum;
    for (const ParamUse* use : layer.uses) {
      const thor::Moments m = moments_of(layer, *use, o.block_size);
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

// Takes the curvature of every layer, the mean over all parts of the batch, and inverts it. Gives how many factors could not be inverted.
Tensor Thor::Impl::refresh(const std::vector<std::vector<Layer>>& parts, const Tensor& lambda, double samples, const Gradients& step) {
  std::vector<TensorList> lists;
  for (const std::vector<Layer>& layers : parts) lists.push_back(factors(layers, samples, static_cast<double>(parts.size())));
  const TensorList means = step.mean_over_parts ? step.mean_over_parts(lists) : lists[0];
  Tensor bad_factors = scalar(0);
  size_t at = 0;
  for (const Layer& layer : parts[0]) {
    if (!layer.factored()) continue;
    bad_factors = ops::add(bad_factors, invert(layer, means[at], means[at + 1], lambda, step.skip));
    at += 2;
  }
  return bad_factors;
}

// The inverses of a layer's damped factors, or of their running averages.
Tensor Thor::Impl::invert(const Layer& layer, Tensor a, Tensor g, const Tensor& lambda, const Tensor& skip) {
  Slots& s = slots.at(layer.param);
  if (o.factor_decay > 0) a = averaged(*s.a, a, skip), g = averaged(*s.g, g, skip);
  const Tensor keep = o.trace_rule.empty() ? skip : kept_by_trace(layer, s, a, g, lambda, skip);
  const Tensor held = skip.defined() && keep.id() != skip.id() ? ops::logical_or(skip, keep) : keep;
  const Tensor root = ops::sqrt(ops::div(lambda, static_cast<double>(layer.positions)));
  Tensor bad_factors = scalar(0);
  const auto one = [&](Parameter& kept, const Tensor& factor, int64_t dim) {
    const auto [inverse, bad] = ops::damped_inverse(factor, root, kept.value(), dim);
    kept.assign(unless(held, kept.value(), inverse));
    bad_factors = ops::add(bad_factors, bad);
  };
  one(*s.g_inv, g, layer.g_dim);
  if (layer.kind != Kind::kEmbedding) {
    one(*s.a_inv, a, layer.a_dim);
  } else {
    const Tensor inverse = ops::reciprocal(ops::add(a, root));
    s.a_inv->assign(unless(held, s.a_inv->value(), ops::where(ops::all_finite({inverse}), inverse, s.a_inv->value())));
  }
  return bad_factors;
}

namespace {

// The layers as each part of the batch uses them.
std::vector<std::vector<Layer>> parts_of(const std::vector<Parameter*>& params, const Gradients& g) {
  std::vector<std::vector<Layer>> out;
  const size_t count = std::max<size_t>(1, g.parts.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = g.parts.empty() ? 0 : g.parts[i], end = i + 1 < count ? g.parts[i + 1] : g.uses.size();
    out.push_back(thor::layers_of(params, std::span(g.uses).subspan(begin, end - begin)));
  }
  return out;
}

}  // namespace

Gradients Thor::precondition(Gradients g) {
  Impl& t = *thor_;
  const std::vector<std::vector<Layer>> parts = parts_of(parameters(), g);
  const std::vector<Layer>& layers = parts[0];
  const bool any = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.kind != Kind::kPlain; });
  if (!any && !std::exchange(t.told_nothing, true))
    log::write(log::Level::kWarn, "optim", "THOR: no parameter belongs to a matrix product, convolution, embedding or layer norm: this is Momentum");
  if (!any) return g;
  const double samples = static_cast<double>(t.o.batch_size > 0 ? t.o.batch_size * static_cast<int64_t>(parts.size()) : g.samples);
  if (samples == 0) throw ValueError("THOR: how many samples the loss is the mean of is not known", "batch_size", "give batch_size");
  // From here on gradients are free of every loss scale, but for the own one that apply divides by.
  const double own = t.o.loss_scale;
  for (Tensor& grad : g.of_params) grad = unscaled(grad, 1, g.inv_scale);
  g.inv_scale = {};
  const Tensor lambda = t.damping(global_step().value());
  if (g.variant == kRefresh) {
    const Tensor failed = t.refresh(parts, lambda, samples, g);
    if (t.ready != nullptr) {
      const Tensor old = t.ready->value(), none = ops::equal(failed, scalar(0));
      const Tensor was = ops::reshape(ops::slice(old, {0}, {1}), Shape{}), count = ops::reshape(ops::slice(old, {1}, {2}), Shape{});
      const Tensor now = ops::stack({ops::maximum(was, ops::cast(none, DType::kFloat32)), ops::add(count, failed)}, 0);
      t.ready->assign(unless(g.skip, old, now));
    }
  }
  TensorList natural = g.of_params;
  Tensor product;  // Σ<U, dW> of what is preconditioned
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const Tensor& grad = g.of_params[i];
    if (layer.factored()) {
      const auto it = t.slots.find(layer.param);
      if (it == t.slots.end() || it->second.a_inv == nullptr) continue;  // a path of the network that no refresh has seen yet: the gradient
      const Impl::Slots& s = it->second;
      natural[i] = preconditioned(layer, grad, s.a_inv->value(), s.g_inv->value(), 1 / static_cast<double>(layer.positions));
    } else if (layer.kind == Kind::kNorm) {
      const Tensor plain = ops::mul(grad, 1 / own);
      const Tensor below = ops::add(ops::mul(ops::square(plain), static_cast<double>(parts.size()) / samples), ops::cast(ops::sqrt(lambda), grad.dtype()));
      natural[i] = ops::div(grad, below);
    } else {
      continue;
    }
    if (t.o.kl_clip == 0) continue;
    const Tensor part = ops::cast(ops::mul(ops::sum(ops::mul(natural[i], grad)), 1 / (own * own)), DType::kFloat32);
    product = product.defined() ? ops::add(product, part) : part;
  }
  if (product.defined()) {
    const Tensor lr = ops::cast(ops::reshape(get_lr()[0], Shape{}), DType::kFloat32);
    const Tensor tiny = scalar(1e-30);
    const Tensor nu = ops::minimum(scalar(1), ops::sqrt(ops::div(scalar(t.o.kl_clip), ops::maximum(ops::mul(ops::square(lr), product), tiny))));
    for (size_t i = 0; i < layers.size(); ++i)
      if (layers[i].kind != Kind::kPlain) natural[i] = ops::mul(natural[i], ops::cast(nu, natural[i].dtype()));
  }
  g.of_params = std::move(natural);
  g.uses.clear();
  return g;
}

// Momentum, after a clip of the tensor's own step where that is asked for.
Tensor Thor::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                    const std::vector<Parameter*>& state) {
  const Tensor& momentum = thor_->momentum->value();
  if (!thor_->o.enable_clip_grad)
    return assign_state(state,
                        ops::momentum_update(p.value(), state[0]->value(), grad, lr, momentum, weight_decay, control.grad_scale, thor_->o.use_nesterov,
                                             control.inv_scale, control.skip));
  Tensor u = whole_gradient(p, grad, weight_decay, control);
  u = ops::div(u, ops::maximum(ops::norm(u), ops::full({}, 1, u.dtype())));
  return assign_state(state, ops::momentum_update(p.value(), state[0]->value(), u, lr, momentum, 0, 1, thor_->o.use_nesterov, {}, control.skip));
}

std::vector<Parameter*> Thor::state() {
  std::vector<Parameter*> out = Optimizer::state();
  for (const Parameter* p : parameters()) {
    const auto it = thor_->slots.find(p);
    if (it == thor_->slots.end()) continue;
    const Impl::Slots& s = it->second;
    for (const auto* slot : {&s.a_inv, &s.g_inv, &s.a, &s.g, &s.trace})
      if (*slot != nullptr) out.push_back(slot->get());
  }
  if (thor_->ready != nullptr) out.push_back(thor_->ready.get());
  return out;
}

void Thor::expect_state(const std::map<std::string, TensorMeta>& stored) {
  if (!stored.contains("thor_ready")) return;
  thor_->is_ready = false;  // to be read again
  const auto make = [&](std::unique_ptr<Parameter>* slot, const std::string& name) {
    const auto it = stored.find(name);
    if (it != stored.end() && *slot == nullptr) *slot = std::make_unique<Parameter>(Tensor::zeros(it->second.shape, DType::kFloat32), name, false);
  };
  make(&thor_->ready, "thor_ready");
  for (const Parameter* p : parameters()) {
    if (!stored.contains("matrix_g_inv." + p->name())) continue;
    Impl::Slots& s = thor_->slots[p];
    make(&s.a_inv, "matrix_a_inv." + p->name());
    make(&s.g_inv, "matrix_g_inv." + p->name());
    if (thor_->o.factor_decay > 0) make(&s.a, "matrix_a." + p->name()), make(&s.g, "matrix_g." + p->name());
    if (!thor_->o.trace_rule.empty()) make(&s.trace, "thor_trace." + p->name());
  }
}

std::vector<Thor::Curvature> Thor::curvature() const {
  std::vector<Curvature> out;
  for (const Parameter* p : parameters()) {
    const auto it = thor_->slots.find(p);
    if (it == thor_->slots.end() || it->second.a_inv == nullptr) continue;
    const Impl::Slots& s = it->second;
    const char* kind = s.kind == Kind::kConv ? "conv2d" : s.kind == Kind::kEmbedding ? "embedding" : "matmul";
    out.push_back({.param = p->name(), .kind = kind, .a_dim = s.a_dim, .g_dim = s.g_dim, .bytes = 4 * (s.a_inv->shape().numel() + s.g_inv->shape().numel())});
  }
  return out;
}

std::vector<std::string> Thor::report() const {
  std::vector<Curvature> all = curvature();
  if (all.empty()) return {};
  int64_t bytes = 0;
  for (const Curvature& c : all) bytes += c.bytes;
  std::stable_sort(all.begin(), all.end(), [](const Curvature& a, const Curvature& b) { return a.bytes > b.bytes; });
  std::string largest;
  for (size_t i = 0; i < std::min<size_t>(3, all.size()); ++i)
    largest += fmt::format("{}{} ({} x {}) {:.2f} MB", i == 0 ? "" : ", ", all[i].param, all[i].g_dim, all[i].a_dim, static_cast<double>(all[i].bytes) / 1e6);
  return {fmt::format("curvature of {} parameters, {:.2f} MB of inverses; largest: {}", all.size(), static_cast<double>(bytes) / 1e6, largest)};
}

namespace {

/// λ·decay^((step + 1)/steps), as MindSpore's get_thor_damping counts.
struct FallingDamping {
  double damping, decay, steps;
  template <class T> T operator()(const T& step) const { return formula::pow(decay, (step + 1.0) / steps) * damping; }
};

LearningRate damping_of(const SettingValues& v) {
  const std::vector<double>& damping = v.get_list("damping");
  if (damping.empty()) throw ValueError("damping is an empty list", "damping", "give one number, or one for each update");
  if (damping.size() > 1) return std::vector<float>(damping.begin(), damping.end());
  const double decay = v.get_float("damping_decay");
  if (decay == 1) return damping[0];
  return schedule_of(FallingDamping{damping[0], decay, static_cast<double>(v.get_int("damping_decay_steps"))});
}

const auto& kThor = optimizers().add({
    .name = "thor",
    .doc = "natural gradients from Kronecker factors in blocks, with momentum (Chen et al. 2021)",
    .settings =
        {momentum_setting("0.9"),
         nesterov_setting("momentum"),
         {.name = "damping",
          .type = SettingType::kFloatList,
          .fallback = "0.03",
          .doc = "added to the curvature before it is inverted: one number, or one for each update",
          .min = 0},
         {.name = "damping_decay",
          .type = SettingType::kFloat,
          .fallback = "1",
          .doc = "damping is multiplied by it every damping_decay_steps",
          .min = 1e-30,
          .max = 1},
         {.name = "damping_decay_steps",
          .type = SettingType::kInt,
          .fallback = "1000",
          .doc = "steps of the damping's decay, which is smooth",
          .min = 1,
          .unit = "updates"},
         {.name = "frequency",
          .type = SettingType::kInt,
          .fallback = "100",
          .doc = "curvature is taken and inverted every so many updates",
          .min = 1,
          .unit = "updates"},
         {.name = "batch_size", .type = SettingType::kInt, .fallback = "0", .doc = "items a rank's loss is the mean of; 0: the samples of its batch", .min = 0},
         {.name = "block_size",
          .type = SettingType::kInt,
          .fallback = "128",
          .doc = "width of the diagonal blocks that are kept of a factor; 0: all of it",
          .min = 0},
         {.name = "factor_decay",
          .type = SettingType::kFloat,
          .fallback = "0",
          .doc = "how much of the factors' running average stays at a refresh",
          .min = 0,
          .max = 0.999999},
         {.name = "kl_clip", .type = SettingType::kFloat, .fallback = "0", .doc = "largest length of a step in the metric of the curvature; 0: any", .min = 0},
         {.name = "trace_rule",
          .type = SettingType::kFloatList,
          .fallback = "[]",
          .doc = "two relative changes of the trace: up to the first curvature is kept, below the second for good"},
         {.name = "clip_each", .type = SettingType::kBool, .fallback = "false", .doc = "each tensor's step before momentum has a norm of at most 1"},
         loss_scale_setting()},
    .make = make_from_settings<Thor,
                               [](auto& o, const SettingValues& v) {
                                 o.momentum = v.get_float("momentum");
                                 o.use_nesterov = v.get_bool("nesterov");
                                 o.damping = damping_of(v);
                                 o.frequency = v.get_int("frequency");
                                 o.batch_size = v.get_int("batch_size");
                                 o.block_size = v.get_int("block_size");
                                 o.factor_decay = v.get_float("factor_decay");
                                 o.kl_clip = v.get_float("kl_clip");
                                 o.trace_rule = v.get_list("trace_rule");
                                 o.enable_clip_grad = v.get_bool("clip_each");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
