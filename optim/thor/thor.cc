// Thor: its options, the schedule of refreshes, and the step. refresh.cc computes the curvature; curvature_of.cc defines layers.
#include "sindri/optim/thor.h"

#include <fmt/format.h>

#include <algorithm>

#include "optim/optimizer_impl.h"
#include "optim/thor/impl.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

using thor::kFirstPiece;
using thor::Kind;
using thor::kRefresh;
using thor::kReuse;
using thor::Layer;

namespace {

void check(bool ok, const char* what, const std::string& got, const char* fix) {
  if (!ok) throw ValueError(fmt::format("THOR: {}, got {}", what, got), "", fix);
}

// Far above any practical value; its square times a factor must be finite in float32.
constexpr double kMostDamping = 1e15;

void check_damping(const LearningRate& damping) {
  const auto check_one = [](double d, const char* fix) {
    check(d >= 0, "damping must not be negative", fmt::format("{}", d), fix);
    check(d <= kMostDamping, fmt::format("damping must be at most {:g}", kMostDamping).c_str(), fmt::format("{:g}", d), fix);
  };
  if (!damping.dynamic()) check_one(damping.constant(), "0.03 is usual");
  for (const float d : damping.per_step()) check_one(static_cast<double>(d), "every entry of the table is a damping");
}

void check_frequency(int64_t frequency) {
  check(frequency >= 1, "frequency must be at least 1", fmt::format("{}", frequency),
        "give the number of updates from one refresh of the curvature to the next");
}

void check_choice(const char* name, const std::string& got, std::initializer_list<const char*> known) {
  check(std::find(known.begin(), known.end(), got) != known.end(), fmt::format("{} must be one of {}", name, fmt::join(known, ", ")).c_str(), "'" + got + "'",
        "see ThorOptions");
}

// Combinations of options that contradict each other.
void check_together(const ThorOptions& o) {
  const bool means_of_inverses = o.reduce == "inverse_mean" || o.compat == "mindspore";
  check(!means_of_inverses || (o.damping_form == "factored" && o.factor_decay == 0 && o.trace_rule.empty()),
        "means of inverses need factored damping and no factor_decay or trace_rule",
        fmt::format("damping_form {}, factor_decay {}, trace_rule [{}]", o.damping_form, o.factor_decay, fmt::join(o.trace_rule, ", ")),
        "reduce=factor_mean supports them all");
  check(o.stagger == 0 || (o.stagger >= 2 && o.stagger <= o.frequency), "stagger must be 0 or between 2 and the frequency", fmt::format("{}", o.stagger),
        "it is the number of steps, evenly spread, over which a refresh is divided");
}

void check_options(const ThorOptions& o) {
  check_damping(o.damping);
  check(o.momentum >= 0, "momentum must not be negative", fmt::format("{}", o.momentum), "0.9 is usual");
  check_frequency(o.frequency);
  check(o.batch_size >= 0, "batch_size must not be negative", fmt::format("{}", o.batch_size), "0 uses the number of samples in the batch");
  check(o.block_size >= 0, "block_size must not be negative", fmt::format("{}", o.block_size), "128 is usual, 0 keeps whole factors");
  check(o.factor_decay >= 0 && o.factor_decay < 1, "factor_decay must be in [0, 1)", fmt::format("{}", o.factor_decay),
        "0 uses the factors of one batch, 0.95 is KAISA's");
  check(o.kl_clip >= 0, "kl_clip must not be negative", fmt::format("{}", o.kl_clip), "0 turns it off, 0.001 is KAISA's");
  const auto& t = o.trace_rule;
  check(t.empty() || (t.size() == 2 && t[0] >= t[1] && t[1] >= 0), "trace_rule must be two numbers, the first at least as large as the second",
        fmt::format("[{}]", fmt::join(t, ", ")), "[0.01, 0] is the paper's THOR, [0.01, 0.001] its THOR_stop");
  check_choice("statistics", o.statistics, {"standard", "batch_mean"});
  check_choice("damping_form", o.damping_form, {"factored", "joint"});
  check_choice("reduce", o.reduce, {"factor_mean", "inverse_mean"});
  check_choice("distribute", o.distribute, {"auto", "shard", "replicate"});
  check_choice("compat", o.compat, {"", "mindspore"});
  for (size_t i = 0; i < o.split_indices.size(); ++i)
    check(o.split_indices[i] >= 0 && (i == 0 || o.split_indices[i] > o.split_indices[i - 1]), "split_indices must be layers in ascending order",
          fmt::format("[{}]", fmt::join(o.split_indices, ", ")), "each is the last layer of a bucket, counted from 0");
  check_together(o);
}

// Splits parameters into those with and without decay; the update order stays as given.
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

}  // namespace

Thor::Thor(Params params, const Options& o) : Optimizer("THOR", with_filter(std::move(params), o), shared_options(o)) {
  check_options(o);
  thor_ = std::make_unique<Impl>(o);
  thor_->momentum = &shared_state("momentum", o.momentum);
  init_state();
}

Thor::~Thor() = default;

std::string Thor::variant_name(int variant) const {
  if (variant < kFirstPiece) return variant == kRefresh ? "refresh" : "reuse";
  return fmt::format("refresh part {} of {}", variant - kFirstPiece + 1, thor_->o.stagger);
}

bool Thor::remeasures(int variant) const { return variant != kReuse; }

bool Thor::knows_layers() const { return !thor_->known.empty(); }

void Thor::set_damping(const LearningRate& damping) {
  check_damping(damping);
  thor_->o.damping = damping;
}

void Thor::set_frequency(int64_t frequency) {
  check_frequency(frequency);
  ThorOptions changed = thor_->o;
  changed.frequency = frequency;
  check_together(changed);
  thor_->o.frequency = frequency;
}

// λ of this update. After the end of a table its last value is used, but variant() throws there.
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
                     "give one for each update of the run, or a schedule");
  // Piece p of k is due p·frequency/k updates after each multiple of frequency. All pieces are due at update 0 and while the curvature is not ready.
  const int64_t at = step % t.o.frequency;
  int due = at == 0 ? kRefresh : kReuse;
  for (int64_t piece = 0; piece < t.o.stagger; ++piece)
    if (step > 0 && at == piece * t.o.frequency / t.o.stagger) due = kFirstPiece + static_cast<int>(piece);
  if (t.ready != nullptr && (!t.is_ready || due != kReuse)) {
    // The only read from the device: every step until the curvature is ready, then once per refresh.
    const std::vector<float> now = t.ready->stored().to_vector<float>();
    t.is_ready = now[0] != 0;
    if (now[1] > t.failed) {
      log::write(log::Level::kWarn, "optim",
                 fmt::format("THOR: {} factors could not be inverted before update {}; the previous inverses stay in use | raise the damping if this continues",
                             now[1] - t.failed, step));
      t.failed = now[1];
    }
  }
  return t.is_ready ? due : kRefresh;
}

namespace {

// The layers as each part of the batch uses them.
std::vector<std::vector<Layer>> parts_of(const std::vector<Parameter*>& params, const Gradients& g, bool fold_bias) {
  std::vector<std::vector<Layer>> out;
  const size_t count = std::max<size_t>(1, g.parts.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = g.parts.empty() ? 0 : g.parts[i], end = i + 1 < count ? g.parts[i + 1] : g.uses.size();
    out.push_back(thor::layers_of(params, std::span(g.uses).subspan(begin, end - begin), fold_bias));
  }
  return out;
}

}  // namespace

// G⁻¹·dW·A⁻¹ for parameters with factors, the diagonal rule for layer norms; other gradients are unchanged. samples: in one part of the batch.
TensorList Thor::Impl::natural(const std::vector<Layer>& layers, const TensorList& grads, const Tensor& lambda, double samples) const {
  TensorList out = grads;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    if (layer.kind == Kind::kNorm) {
      const Tensor plain = ops::mul(grads[i], 1 / o.loss_scale);
      out[i] = ops::div(grads[i], ops::add(ops::mul(ops::square(plain), 1 / samples), ops::cast(ops::sqrt(lambda), plain.dtype())));
    }
    if (!layer.factored()) continue;
    const auto it = slots.find(layer.param);
    if (it == slots.end() || it->second.a_inv == nullptr) continue;  // a path of the network that no refresh has covered yet: use the gradient
    const Slots& s = it->second;
    const auto value = [](const auto& slot) { return slot == nullptr ? Tensor() : slot->value(); };
    const thor::Inverses inverses{.a = value(s.a_inv), .g = value(s.g_inv), .a_values = value(s.a_values), .g_values = value(s.g_values), .lambda = lambda};
    const auto [weight, bias] = preconditioned(layer, grads[i], layer.bias < 0 ? Tensor() : grads[static_cast<size_t>(layer.bias)], inverses);
    out[i] = weight;
    if (layer.bias >= 0) out[static_cast<size_t>(layer.bias)] = bias;
  }
  return out;
}

// Multiplies all natural gradients by ν = min(1, sqrt(κ/(lr²·Σ<U, g>))). Gradients are multiplied by the optimizer's loss scale, so the product
// contains its square.
void Thor::Impl::clip(const std::vector<Layer>& layers, const TensorList& grads, const Tensor& rate, TensorList* natural) const {
  Tensor product;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].kind == Kind::kPlain) continue;
    const Tensor part = ops::cast(ops::mul(ops::sum(ops::mul((*natural)[i], grads[i])), 1 / (o.loss_scale * o.loss_scale)), DType::kFloat32);
    product = product.defined() ? ops::add(product, part) : part;
  }
  if (!product.defined()) return;
  const Tensor lr = ops::cast(ops::reshape(rate, Shape{}), DType::kFloat32);
  const Tensor length = ops::maximum(ops::mul(ops::square(lr), product), scalar(1e-30));
  const Tensor nu = ops::minimum(scalar(1), ops::sqrt(ops::div(scalar(o.kl_clip), length)));
  for (size_t i = 0; i < layers.size(); ++i)
    if (layers[i].kind != Kind::kPlain) (*natural)[i] = ops::mul((*natural)[i], ops::cast(nu, (*natural)[i].dtype()));
}

// If the largest index in split_indices is beyond the layers with factors, but not beyond the parameters, the indices count parameters, as in published BERT
// settings. Each is then replaced by the last layer with factors up to that parameter.
void Thor::Impl::number_buckets(const std::vector<Layer>& layers) {
  std::vector<int64_t>& split = o.split_indices;
  const auto factored = std::count_if(layers.begin(), layers.end(), [](const Layer& l) { return l.factored(); });
  if (split.empty() || split.back() < factored) return;
  if (split.back() >= static_cast<int64_t>(layers.size()))
    throw ValueError(fmt::format("THOR: split_indices names layer {}, there are {} layers with factors and {} parameters, counted from 0", split.back(),
                                 factored, layers.size()),
                     "split_indices", "name last layers of buckets, or leave it empty for one bucket");
  std::vector<int64_t> of_layers;
  for (const int64_t parameter : split) {
    const int64_t last = std::count_if(layers.begin(), layers.begin() + parameter + 1, [](const Layer& l) { return l.factored(); }) - 1;
    if (last >= 0 && (of_layers.empty() || last > of_layers.back())) of_layers.push_back(last);
  }
  log::write(log::Level::kInfo, "optim",
             fmt::format("THOR: split_indices [{}] count parameters ({} layers have factors); as layers: [{}]", fmt::join(split, ", "), factored,
                         fmt::join(of_layers, ", ")));
  split = std::move(of_layers);
}

Gradients Thor::precondition(Gradients g) {
  Impl& t = *thor_;
  const bool from_memory = g.uses.empty() && g.variant == kReuse && !t.known.empty();
  const std::vector<std::vector<Layer>> parts =
      from_memory ? std::vector<std::vector<Layer>>(std::max<size_t>(1, g.parts.size()), t.known) : parts_of(parameters(), g, t.o.fold_bias);
  const std::vector<Layer>& layers = parts[0];
  if (!g.uses.empty() && (g.variant != kReuse || t.known.empty())) {
    t.known = layers;
    for (Layer& layer : t.known) layer.uses.clear();
  }
  const bool any = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.kind != Kind::kPlain; });
  if (g.variant != kReuse) t.number_buckets(layers);
  if (!any && !std::exchange(t.warned_nothing, true))
    log::write(log::Level::kWarn, "optim", "THOR: no parameter belongs to a matrix product, convolution, embedding or layer norm: this is Momentum");
  if (!any) return g;
  const double samples = static_cast<double>(t.o.batch_size > 0 ? t.o.batch_size * static_cast<int64_t>(parts.size()) : g.samples);
  if (samples == 0) throw ValueError("THOR: the number of samples that the loss averages is not known", "batch_size", "give batch_size");
  // From here on gradients carry only the optimizer's own loss scale, by which apply divides.
  for (Tensor& grad : g.of_params) grad = unscaled(grad, 1, g.inv_scale);
  g.inv_scale = {};
  const Tensor lambda = t.damping(global_step().value());
  if (g.variant != kReuse) {
    const Tensor failed = t.refresh(parts, lambda, samples, g);
    if (t.ready != nullptr) {
      const Tensor old = t.ready->value(), none = ops::equal(failed, scalar(0));
      const Tensor was = ops::reshape(ops::slice(old, {0}, {1}), Shape{}), count = ops::reshape(ops::slice(old, {1}, {2}), Shape{});
      const Tensor now = ops::stack({ops::maximum(was, ops::cast(none, DType::kFloat32)), ops::add(count, failed)}, 0);
      t.ready->assign(g.skip.defined() ? ops::where(g.skip, old, now) : now);
    }
  }
  TensorList natural = t.natural(layers, g.of_params, lambda, samples / static_cast<double>(parts.size()));
  if (t.o.kl_clip > 0) t.clip(layers, g.of_params, get_lr()[0], &natural);
  g.of_params = std::move(natural);
  g.uses.clear();
  return g;
}

// Momentum, after clipping the tensor's natural gradient if enable_clip_grad is set.
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
    for (const auto* slot : it->second.state())
      if (*slot != nullptr) out.push_back(slot->get());
  }
  if (thor_->ready != nullptr) out.push_back(thor_->ready.get());
  return out;
}

void Thor::expect_state(const std::map<std::string, TensorMeta>& stored) {
  Impl& t = *thor_;
  if (!stored.contains("thor_ready")) return;
  t.is_ready = false;  // read again from the loaded state
  const auto make = [&](std::unique_ptr<Parameter>* slot, const std::string& name) {
    const auto it = stored.find(name);
    if (it != stored.end() && *slot == nullptr) *slot = std::make_unique<Parameter>(Tensor::zeros(it->second.shape, DType::kFloat32), name, false);
  };
  const std::string_view form = t.joint() ? "vectors" : "inv";
  bool any = false;
  for (const Parameter* p : parameters()) {
    const auto name = [&](char factor, std::string_view what) { return fmt::format("matrix_{}_{}.{}", factor, what, p->name()); };
    if (!stored.contains(name('g', form))) continue;  // state of the other damping form is ignored; the next step refreshes
    any = true;
    Impl::Slots& s = t.slots[p];
    make(&s.a_inv, name('a', form)), make(&s.g_inv, name('g', form));
    if (t.joint()) make(&s.a_values, name('a', "values")), make(&s.g_values, name('g', "values"));
    if (t.o.factor_decay > 0) make(&s.a, "matrix_a." + p->name()), make(&s.g, "matrix_g." + p->name());
    if (!t.o.trace_rule.empty()) make(&s.trace, "thor_trace." + p->name());
  }
  if (any) make(&t.ready, "thor_ready");
}

std::vector<Thor::Curvature> Thor::curvature() const {
  std::vector<Curvature> out;
  for (const Parameter* p : parameters()) {
    const auto it = thor_->slots.find(p);
    if (it == thor_->slots.end() || it->second.a_inv == nullptr) continue;
    const Impl::Slots& s = it->second;
    const char* kind = s.kind == Kind::kConv ? "conv2d" : s.kind == Kind::kEmbedding ? "embedding" : "matmul";
    out.push_back({.param = p->name(), .kind = kind, .a_dim = s.a_dim, .g_dim = s.g_dim, .bytes = 0});
    for (const auto* slot : {&s.a_inv, &s.g_inv, &s.a_values, &s.g_values})
      if (*slot != nullptr) out.back().bytes += 4 * (*slot)->shape().numel();
  }
  return out;
}

std::vector<Optimizer::Measure> Thor::measures() const {
  std::vector<Measure> out;
  for (const Parameter* p : parameters()) {
    const auto it = thor_->slots.find(p);
    if (it == thor_->slots.end() || it->second.seen == nullptr) continue;
    const std::vector<float> traces = it->second.seen->stored().to_vector<float>();
    out.push_back({"trace of A", p->name(), static_cast<double>(traces[0])});
    out.push_back({"trace of G", p->name(), static_cast<double>(traces[1])});
  }
  return out;
}

std::vector<std::vector<std::string>> Thor::holdings() const {
  std::vector<std::vector<std::string>> out;
  for (const Curvature& c : curvature())
    out.push_back({c.param, c.kind, fmt::format("{}", c.a_dim), fmt::format("{}", c.g_dim), fmt::format("{:.3f}", static_cast<double>(c.bytes) / 1e6)});
  if (!out.empty()) out.insert(out.begin(), {"parameter", "kind", "width of A", "width of G", "MB of inverses, and of factors during a refresh"});
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
  std::vector<std::string> out = {
      fmt::format("curvature of {} parameters, {:.2f} MB of inverses; largest: {}", all.size(), static_cast<double>(bytes) / 1e6, largest)};
  if (thor_->balance > 0) out.push_back(fmt::format("inversions distributed over {} ranks, balance {:.3f}", thor_->ranks, thor_->balance));
  return out;
}

}  // namespace sindri::optim
