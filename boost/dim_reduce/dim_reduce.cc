// Training in the span of weight snapshots (Li et al. 2022, arXiv:2103.11154; MindSpore: mindspore.boost, dim_reduce): P-BFGS and P-SGD.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sindri/boost/dim_reduce.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/train/boost.h"
#include "src/train/first_rank.h"

namespace sindri::boost {

namespace {

struct Settings {
  bool bfgs, interpolate, shard;
  double rho, gamma, alpha, sigma, rate, momentum;
  int64_t components, max_search, bn_batches, decay_steps;
  std::string matrix, snapshots;
};

Tensor scalar(double v) { return ops::full({}, v, DType::kFloat64); }
Tensor dot(const Tensor& a, const Tensor& b) { return ops::sum(ops::mul(a, b)); }

// Reads a condition on the host. In a trace this splits the graph, and the condition selects the continuation.
bool holds(const Tensor& condition) {
  const std::optional<bool> traced = traced_condition(condition);
  return traced ? *traced : condition.item() != 0;
}

// Restores the values that Parameters had at construction: in now(), or on destruction unless keep() was called (for example, if something throws).
class Undo {
 public:
  explicit Undo(const std::vector<Parameter*>& parameters) : parameters_(parameters) {
    for (const Parameter* p : parameters_) before_.push_back(p->value());
  }
  ~Undo() {
    try {
      if (!done_) now();
    } catch (...) {}  // the first exception is the one to report
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  void now() {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i]->value().id() != before_[i].id()) parameters_[i]->assign(before_[i]);
    done_ = true;
  }
  void keep() { done_ = true; }

 private:
  const std::vector<Parameter*>& parameters_;
  TensorList before_;
  bool done_ = false;
};

class DimReduce final : public train::BoostAlgorithm {
 public:
  explicit DimReduce(Settings s) : s_(std::move(s)) {}

  std::string name() const override { return "dim_reduce"; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    order_ = train::network_order(context);
    for (const size_t i : order_) {
      Parameter* const p = context.parameters[i];
      weights_.push_back(p);
      columns_.emplace_back(p->name(), p->shape());
      if (p->dtype() != DType::kFloat32)
        throw DTypeError(fmt::format("dim_reduce: '{}' is {}, weights must be float32", p->name(), p->meta().str()), "boost.dim_reduce");
    }
    for (const auto& [path, p] : context.network_state)
      if (std::find(weights_.begin(), weights_.end(), p) == weights_.end()) others_.push_back(p);
    for (const train::BuildContext::MovingAverage& m : context.moving_averages)
      if (m.momentum < 1) moving_.push_back(m);  // with momentum 1 it is never updated, so it stays valid
    loss_scale_ = context.loss_scale * context.gradient_sum;
    check_optimizer(step, context);
    size_ = column_count(columns_);
    ranks_ = comm::world().size();
    make_state();
    const Subspace subspace = find_subspace();
    ratios_ = subspace.ratios;
    own_fingerprint_ = fingerprint_of(subspace.components);
    place(subspace.components);
    log::write(log::Level::kInfo, "boost", fmt::format("dim_reduce: {} directions of {} weights; the optimizer's rule is replaced", s_.components, size_));
    step_ = &step;
    forward_ = step.forward;
    step.forward = [this](const train::TrainStep::Batch& batch) {
      const int64_t drawn = ops::rng_instance();
      const Tensor key = ops::rng_state().value();
      Tensor loss = forward_(batch);
      if (collecting_) parts_.push_back({batch, loss, key, drawn});
      return loss;
    };
    step.gradients = [this, lists = context.gradient_lists, inner = step.gradients](train::TrainStep& self, const train::TrainStep::Batch& batch) {
      if (calls_ == lists) parts_.clear(), calls_ = 0;  // the previous step ended before its update
      collecting_ = true;
      const std::shared_ptr<void> end(nullptr, [this](void*) { collecting_ = false; });
      const int64_t drawn = ops::rng_instance();
      const Tensor key = ops::rng_state().value();
      const size_t before = parts_.size();
      try {
        auto [loss, g] = inner(self, batch);
        if (parts_.size() == before) parts_.push_back({batch, loss, key, drawn});  // gradient stages in Python run their own forward pass
        ++calls_;
        return std::pair(loss, std::move(g));
      } catch (...) {
        parts_.clear(), calls_ = 0;
        throw;
      }
    };
    step.update = [this](train::TrainStep&, const Gradients& g) {
      const std::vector<Part> parts = std::exchange(parts_, {});
      calls_ = 0;
      update(parts, g);
    };
  }

  std::vector<Parameter*> state() override {
    std::vector<Parameter*> out;
    for (const auto& p : state_) out.push_back(p.get());
    return out;
  }

  void on_event(train::Event event, train::TrainState& s) override {
    if (event == train::Event::kBegin) {
      measured_at_ = -1;
      restart_in_other_subspace();
    }
    const bool last = event == train::Event::kStepEnd && (s.epoch_complete || s.stop);
    if (!last && event != train::Event::kEnd) return;
    if (s_.bn_batches == 0 || moving_.empty() || measured_at_ == s.cur_step_num) return;
    measured_at_ = s.cur_step_num;
    const TensorList measured = train::measured_statistics(*step_, moving_, s, s_.bn_batches);
    for (size_t i = 0; i < measured.size(); ++i) moving_[i].parameter->store(measured[i]);
    if (s.moving_averages_written && !measured.empty()) s.moving_averages_written();
  }

  train::EventColumns columns(const train::TrainState&) const override {
    const std::vector<double> n = counts_->stored().to_vector<double>();
    train::EventColumns out = {{"subspace_share", share_->stored().item()}};
    if (!s_.bfgs) return out;
    for (int64_t m = 0; m < s_.max_search; ++m) out.emplace_back(fmt::format("accepted_{}", m), n[static_cast<size_t>(m)]);
    out.emplace_back("rejected", n[static_cast<size_t>(s_.max_search)]);
    out.emplace_back("curvature_skips", n[static_cast<size_t>(s_.max_search + 1)]);
    return out;
  }
  std::vector<optim::Optimizer::Measure> measures() const override {
    std::vector<optim::Optimizer::Measure> out = {{"share of the gradient in the subspace", "|P·g| / |g|", share_->stored().item()}};
    for (size_t i = 0; i < ratios_.size(); ++i) out.push_back({"PCA: share of the variance", fmt::format("component {}", i + 1), ratios_[i]});
    return out;
  }

 private:
  /// The inputs of the forward pass over one part of the batch (one virtual rank).
  struct Part {
    TensorList batch;
    Tensor loss, key;
    int64_t drawn;
  };

  static void check_optimizer(const train::TrainStep& step, const train::BuildContext& context) {
    if (step.wants_uses)
      throw ValueError("dim_reduce searches along the gradient, and this optimizer preconditions it", "boost.dim_reduce",
                       "use a first-order optimizer in the second stage, such as momentum");
    if (context.optimizer != nullptr && (context.optimizer->base_options().grad_clip.global_norm > 0 || context.optimizer->base_options().grad_clip.value > 0))
      log::write(log::Level::kWarn, "boost", "dim_reduce: the optimizer's rule is replaced, and its clipping with it: gradients are not clipped");
  }

  // Hash of P in two parts, each of which fits an int32.
  static std::vector<double> fingerprint_of(const Tensor& components) {
    const uint64_t hash = XXH3_64bits(components.raw_data(), components.nbytes()) | 1;
    return {static_cast<double>(static_cast<int32_t>(hash & 0x7fffffff)), static_cast<double>(static_cast<int32_t>((hash >> 32) & 0x7fffffff))};
  }
  // State from a run with another P is expressed in that subspace's coordinates, so it is reset.
  void restart_in_other_subspace() {
    const std::vector<double> held = fingerprint_->stored().to_vector<double>();
    const bool other = held[0] != 0 && held != own_fingerprint_;
    fingerprint_->store(Tensor::from_values({2}, own_fingerprint_, DType::kInt32));
    if (!other) return;
    log::write(log::Level::kWarn, "boost",
               "dim_reduce: the checkpoint is from a run in another subspace; the curvature estimate is reset | give that run's matrix as pca_mat_path to "
               "continue in its subspace");
    for (Parameter* p : {velocity_, last_step_, last_gradient_, started_, residual_})
      if (p != nullptr) p->store(Tensor::zeros(p->shape(), p->dtype()));
    if (inverse_ != nullptr) inverse_->store(identity(s_.components));
  }
  static Tensor identity(int64_t k) {
    std::vector<double> eye(static_cast<size_t>(k * k), 0);
    for (int64_t i = 0; i < k; ++i) eye[static_cast<size_t>(i * (k + 1))] = 1;
    return Tensor::from_values({k, k}, eye, DType::kFloat64);
  }

  Parameter* make(const char* name, const Shape& shape, DType dtype) {
    state_.push_back(std::make_unique<Parameter>(Tensor::zeros(shape, dtype), std::string("dim_reduce.") + name, false));
    return state_.back().get();
  }
  void make_state() {
    const int64_t k = s_.components;
    share_ = make("share", {}, DType::kFloat32);
    counts_ = make("counts", {s_.max_search + 2}, DType::kInt32);
    fingerprint_ = make("fingerprint", {2}, DType::kInt32);
    if (!s_.bfgs) {
      velocity_ = make("velocity", {k}, DType::kFloat64);
      updates_ = make("updates", {}, DType::kInt32);
      return;
    }
    inverse_ = make("inverse_hessian", {k, k}, DType::kFloat64);
    inverse_->store(identity(k));
    last_step_ = make("last_step", {k}, DType::kFloat64);
    last_gradient_ = make("last_gradient", {k}, DType::kFloat64);
    started_ = make("started", {}, DType::kBool);
    residual_ = make("residual", {size_}, DType::kFloat32);
  }

  // Rank 0 finds and writes the subspace; the other ranks read the file.
  Subspace find_subspace() const {
    if (!s_.matrix.empty()) {
      train::from_first_rank(comm::world(), "dim_reduce", [&] {
        if (!std::filesystem::exists(s_.matrix))
          throw IoError("the matrix of components does not exist", s_.matrix, "omit the setting to compute the matrix from the snapshots, or correct the path");
        return std::string();
      });
      return load_subspace(s_.matrix, columns_, s_.components);
    }
    if (s_.snapshots.empty())
      throw ValueError("dim_reduce needs snapshots of the weights, or a matrix of their components", "boost.dim_reduce",
                       "set weight_load_dir to the folder of the first stage's checkpoints, or pca_mat_path to a file written by sindri pca");
    const std::string path = train::from_first_rank(comm::world(), "principal components", [&] {
      const std::vector<std::string> files = snapshot_files(s_.snapshots);
      log::write(log::Level::kInfo, "boost", fmt::format("dim_reduce: {} snapshots, {} to {}", files.size(), files.front(), files.back()));
      const std::string folder = std::filesystem::is_directory(s_.snapshots) ? s_.snapshots : std::filesystem::path(files[0]).parent_path().string();
      std::string made = (folder.empty() ? "." : folder) + "/pca_mat_temp.npy";
      save_subspace(made, principal_components(files, columns_, s_.components), columns_);
      return made;
    });
    return load_subspace(path, columns_, s_.components);
  }

  // With `shard` each rank holds its part of the columns, padded to one width. The part's index is stored in memory, so that all ranks have the same graph.
  void place(const Tensor& components) {
    if (!s_.shard || ranks_ == 1) {
      matrix_ = std::make_unique<Parameter>(components, "dim_reduce.matrix", false);
      return;
    }
    width_ = (size_ + ranks_ - 1) / ranks_;
    const int64_t begin = std::min(size_, comm::world().rank() * width_), end = std::min(size_, begin + width_);
    Tensor own = ops::slice(components, {0, begin}, {s_.components, end});
    if (end - begin < width_) own = ops::pad(own, {0, 0, 0, width_ - (end - begin)});
    matrix_ = std::make_unique<Parameter>(own, "dim_reduce.matrix", false);
    std::vector<double> which(static_cast<size_t>(ranks_), 0);
    which[static_cast<size_t>(comm::world().rank())] = 1;
    own_ = std::make_unique<Parameter>(Tensor::from_values({1, ranks_}, which, DType::kFloat32), "dim_reduce.own", false);
  }

  // P·g, float64 [k].
  Tensor into_subspace(const Tensor& g) const {
    Tensor column = ops::reshape(g, {size_, 1});
    if (width_ > 0) {
      const Tensor padded = ops::pad(g, {0, ranks_ * width_ - size_});
      column = ops::reshape(ops::matmul(own_->value(), ops::reshape(padded, {ranks_, width_})), {width_, 1});
    }
    Tensor k = ops::cast(ops::reshape(ops::matmul(matrix_->value(), column), {s_.components}), DType::kFloat64);
    if (width_ > 0) k = ops::all_reduce({k}, {.what = "projected gradient"})[0];
    return k;
  }
  // Pᵀ·row for each row of ks [m, k]: float32 [m, n].
  Tensor out_of_subspace(const Tensor& ks) const {
    const Tensor rows = ops::matmul(ops::cast(ks, DType::kFloat32), matrix_->value());
    if (width_ == 0) return rows;
    const Tensor all = ops::all_gather(ops::transpose(rows, {1, 0}));  // [ranks·width, m]
    return ops::transpose(ops::slice(all, {0, 0}, {size_, ks.dim(0)}), {1, 0});
  }

  Tensor flat(const TensorList& list) const {
    TensorList parts;
    for (const Tensor& t : list) parts.push_back(ops::reshape(ops::cast(t, DType::kFloat32), {t.numel()}));
    return ops::concat(parts, 0);
  }
  // weights = before + change, in the weights' shapes.
  void move(const TensorList& before, const Tensor& change) const {
    int64_t at = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const int64_t n = before[i].numel();
      weights_[i]->assign(ops::add(before[i], ops::reshape(ops::slice(change, {at}, {at + n}), before[i].shape())));
      at += n;
    }
  }

  Tensor mean_over_ranks(Tensor loss) const { return ranks_ == 1 ? loss : ops::all_reduce({loss}, {.op = "mean", .what = "line search"})[0]; }
  Tensor mean_loss(const std::vector<Part>& parts) const {
    Tensor sum;
    for (const Part& p : parts) {
      const Tensor l = ops::cast(ops::reshape(p.loss, Shape{}), DType::kFloat64);
      sum = sum.defined() ? ops::add(sum, l) : l;
    }
    return mean_over_ranks(ops::mul(sum, 1.0 / static_cast<double>(parts.size())));
  }
  // The loss of the same batch with the same random numbers at other weights. Values that forward writes are restored.
  Tensor loss_at(const std::vector<Part>& parts) const {
    Undo undo(others_);
    const Tensor key = ops::rng_state().value();
    const int64_t drawn = ops::rng_instance();
    Tensor sum;
    for (const Part& p : parts) {
      if (p.key.id() != key.id()) ops::rng_state().assign(p.key);
      ops::set_rng_instance(p.drawn);
      const Tensor l = ops::cast(ops::reshape(forward_(p.batch), Shape{}), DType::kFloat64);
      sum = sum.defined() ? ops::add(sum, l) : l;
    }
    undo.now();
    if (ops::rng_state().value().id() != key.id()) ops::rng_state().assign(key);
    ops::set_rng_instance(drawn);
    return mean_over_ranks(ops::mul(sum, 1.0 / static_cast<double>(parts.size())));
  }

  void count(int64_t which) {
    std::vector<double> one(static_cast<size_t>(s_.max_search + 2), 0);
    one[static_cast<size_t>(which)] = 1;
    counts_->assign(ops::add(counts_->value(), Tensor::from_values({s_.max_search + 2}, one, DType::kInt32)));
  }

  void update(const std::vector<Part>& parts, const Gradients& g) {
    if (g.skip.defined() && holds(g.skip)) return;
    TensorList ordered;
    for (const size_t i : order_) ordered.push_back(g.of_params[i]);
    Tensor gradient = flat(ordered);
    if (g.inv_scale.defined()) gradient = ops::mul(gradient, ops::cast(ops::reshape(g.inv_scale, Shape{}), DType::kFloat32));
    if (loss_scale_ != 1) gradient = ops::mul(gradient, 1 / loss_scale_);
    const Tensor gk = into_subspace(gradient);
    const Tensor norm = ops::maximum(ops::cast(ops::norm(gradient), DType::kFloat64), scalar(1e-300));
    share_->assign(ops::cast(ops::div(ops::sqrt(dot(gk, gk)), norm), DType::kFloat32));
    TensorList before;
    for (const Parameter* p : weights_) before.push_back(p->value());
    if (s_.bfgs) return search(parts, gradient, gk, before);
    const Tensor velocity = ops::add(ops::mul(velocity_->value(), s_.momentum), gk);
    velocity_->assign(velocity);
    Tensor rate = scalar(s_.rate);
    if (s_.decay_steps > 0) {
      const Tensor left = ops::sub(scalar(1), ops::div(ops::cast(updates_->value(), DType::kFloat64), static_cast<double>(s_.decay_steps)));
      rate = ops::mul(ops::maximum(left, scalar(0)), s_.rate);
    }
    updates_->assign(ops::add(updates_->value(), ops::full({}, 1, DType::kInt32)));
    move(before, ops::reshape(out_of_subspace(ops::reshape(ops::neg(ops::mul(velocity, rate)), {1, s_.components})), {size_}));
  }

  // The inverse Hessian at this gradient, or the previous one if yᵀs is too small (BFGS, Nocedal and Wright 2006, equation 6.17).
  Tensor next_inverse(const Tensor& gk) {
    const int64_t k = s_.components;
    const Tensor b = inverse_->value(), s = last_step_->value(), y = ops::sub(gk, last_gradient_->value());
    const Tensor c = dot(y, s), usable = ops::logical_and(started_->value(), ops::greater(c, scalar(1e-20)));
    if (!holds(usable)) {
      if (holds(started_->value())) count(s_.max_search + 1);
      return b;
    }
    const Tensor ys = ops::div(ops::mul(ops::reshape(y, {k, 1}), ops::reshape(s, {1, k})), c);  // y·sᵀ/c
    const Tensor by = ops::matmul(b, ys), cross = ops::matmul(ys, by, true);  // B·y·sᵀ/c, s·yᵀ·B·y·sᵀ/c²
    const Tensor next = ops::add(ops::sub(ops::sub(b, by), ops::transpose(by, {1, 0})),
                                 ops::add(cross, ops::div(ops::mul(ops::reshape(s, {k, 1}), ops::reshape(s, {1, k})), c)));
    return ops::mul(ops::add(next, ops::transpose(next, {1, 0})), 0.5);
  }

  void search(const std::vector<Part>& parts, const Tensor& gradient, const Tensor& gk, const TensorList& before) {
    const int64_t k = s_.components;
    Undo undo(weights_);
    const Tensor inverse = next_inverse(gk), f0 = mean_loss(parts);
    started_->assign(ops::full({}, 1, DType::kBool));
    const Tensor d = ops::neg(ops::reshape(ops::matmul(inverse, ops::reshape(gk, {k, 1})), {k})), slope = dot(gk, d);
    const Tensor both = out_of_subspace(ops::stack({d, gk}, 0));
    const Tensor direction = ops::reshape(ops::slice(both, {0, 0}, {1, size_}), {size_}), inside = ops::reshape(ops::slice(both, {1, 0}, {2, size_}), {size_});
    const Tensor residual = ops::add(ops::mul(residual_->value(), s_.gamma), ops::sub(gradient, inside));
    residual_->assign(residual);
    const Tensor aside = ops::mul(residual, -s_.alpha);
    Tensor rho = scalar(1);
    for (int64_t m = 0; m < s_.max_search; ++m) {
      const Tensor change = ops::mul(direction, ops::cast(rho, DType::kFloat32));
      move(before, change);
      const Tensor f1 = loss_at(parts);
      if (holds(ops::less_equal(f1, ops::add(f0, ops::mul(ops::mul(rho, slope), s_.sigma))))) {
        last_step_->assign(ops::mul(d, rho));
        last_gradient_->assign(gk);
        inverse_->assign(inverse);
        count(m);
        undo.keep();
        return move(before, ops::add(change, aside));
      }
      rho = s_.interpolate ? interpolated(rho, f0, f1, slope) : ops::mul(rho, s_.rho);
    }
    count(s_.max_search);
    undo.keep();
    move(before, aside);
  }

  // The minimum of the parabola through f0, its slope and f1, limited to between a tenth and six tenths of the step that failed.
  Tensor interpolated(const Tensor& rho, const Tensor& f0, const Tensor& f1, const Tensor& slope) const {
    const Tensor below = ops::mul(ops::sub(ops::sub(f1, f0), ops::mul(rho, slope)), 2.0);
    const Tensor usable = ops::greater(below, scalar(0));
    const Tensor least = ops::div(ops::neg(ops::mul(ops::mul(rho, rho), slope)), ops::where(usable, below, scalar(1)));
    const Tensor bounded = ops::minimum(ops::maximum(least, ops::mul(rho, 0.1)), ops::mul(rho, 0.6));
    return ops::where(ops::logical_and(usable, ops::less(below, scalar(1e300))), bounded, ops::mul(rho, 0.1));
  }

  Settings s_;
  std::vector<size_t> order_;  // weights_ and columns_ are in the network's order; entry i is the index of weight i among the step's parameters
  std::vector<Parameter*> weights_, others_;
  std::vector<train::BuildContext::MovingAverage> moving_;
  Columns columns_;
  int64_t size_ = 0, ranks_ = 1, width_ = 0;
  double loss_scale_ = 1;
  std::vector<double> ratios_;
  std::vector<std::unique_ptr<Parameter>> state_;
  std::unique_ptr<Parameter> matrix_, own_;
  Parameter *share_ = nullptr, *counts_ = nullptr, *velocity_ = nullptr, *updates_ = nullptr, *inverse_ = nullptr, *last_step_ = nullptr,
            *last_gradient_ = nullptr, *started_ = nullptr, *residual_ = nullptr, *fingerprint_ = nullptr;
  std::vector<double> own_fingerprint_;  // fingerprint of the P in use
  std::function<Tensor(const train::TrainStep::Batch&)> forward_;
  bool collecting_ = false;  // forward runs for gradients
  int64_t calls_ = 0;  // number of calls of step.gradients in this step
  std::vector<Part> parts_;
  const train::TrainStep* step_ = nullptr;
  int64_t measured_at_ = -1;
};

using enum SettingType;
const auto& kDimReduce = train::boosts()
                             .add({
                                 .name = "dim_reduce",
                                 .doc = "train in the subspace spanned by weight snapshots, by BFGS with a line search or by SGD (Li et al. 2022)",
                                 .settings =
                                     {{.name = "method",
                                       .type = kString,
                                       .fallback = "bfgs",
                                       .doc = "bfgs: quasi-Newton steps with a line search; sgd: projected gradients with momentum",
                                       .choices = "bfgs|sgd"},
                                      {.name = "n_components", .type = kInt, .fallback = "32", .doc = "number of principal components", .min = 1, .max = 4096},
                                      {.name = "weight_load_dir",
                                       .type = kString,
                                       .fallback = "",
                                       .doc = "folder with the snapshots (*.ckpt), or a pattern of file names"},
                                      {.name = "pca_mat_path",
                                       .type = kString,
                                       .fallback = "",
                                       .doc = "components of the snapshots: a .npy file written by `sindri pca` or an earlier run; empty: computed"},
                                      {.name = "rho",
                                       .type = kFloat,
                                       .fallback = "0.55",
                                       .doc = "with search: backtrack, factor of the step size after a failed trial",
                                       .min = 1e-6,
                                       .max = 1 - 1e-6},
                                      {.name = "gamma",
                                       .type = kFloat,
                                       .fallback = "0.9",
                                       .doc = "momentum of the gradient component outside the subspace",
                                       .min = 0,
                                       .max = 1 - 1e-9},
                                      {.name = "alpha",
                                       .type = kFloat,
                                       .fallback = "0.001",
                                       .doc = "learning rate of that component; 0: the weights stay in the subspace",
                                       .min = 0},
                                      {.name = "sigma",
                                       .type = kFloat,
                                       .fallback = "0.4",
                                       .doc = "share of the slope by which a trial must lower the loss (Armijo condition)",
                                       .min = 1e-9,
                                       .max = 1 - 1e-9},
                                      {.name = "max_search",
                                       .type = kInt,
                                       .fallback = "10",
                                       .doc = "most trials per step; each costs one forward pass",
                                       .min = 1,
                                       .max = 100},
                                      {.name = "search",
                                       .type = kString,
                                       .fallback = "interpolate",
                                       .doc = "how the next trial is chosen: at the minimum of a parabola, or rho times the previous step size",
                                       .choices = "interpolate|backtrack"},
                                      {.name = "rate", .type = kFloat, .fallback = "1", .doc = "with method: sgd, the learning rate", .min = 0},
                                      {.name = "momentum",
                                       .type = kFloat,
                                       .fallback = "0.9",
                                       .doc = "with method: sgd, the momentum",
                                       .min = 0,
                                       .max = 1 - 1e-9},
                                      {.name = "decay_steps",
                                       .type = kInt,
                                       .fallback = "0",
                                       .doc = "with method: sgd, the number of updates over which the rate falls linearly to 0; 0: constant",
                                       .min = 0,
                                       .max = 1e12,
                                       .unit = "updates"},
                                      {.name = "place",
                                       .type = kString,
                                       .fallback = "replicate",
                                       .doc = "with several ranks: each rank holds all components, or a part of their columns",
                                       .choices = "replicate|shard"},
                                      {.name = "bn_batches",
                                       .type = kInt,
                                       .fallback = "0",
                                       .doc = "number of training batches used to recompute batch norm's statistics at the end of every epoch; 0: never",
                                       .min = 0,
                                       .max = 1e9,
                                       .unit = "batches"}},
                                 .facts = {.excludes = {"adasum", "grad_accumulation", "grad_freeze", "sam"}},
                                 .make =
                                     [](const SettingValues& v) {
                                       if (v.get_float("sigma") >= 0.5)
                                         log::write(
                                             log::Level::kWarn, "boost",
                                             fmt::format("dim_reduce: sigma is {}; values of 0.5 and above reject good steps (Armijo)", v.get_float("sigma")));
                                       return std::make_shared<DimReduce>(Settings{.bfgs = v.get_string("method") == "bfgs",
                                                                                   .interpolate = v.get_string("search") == "interpolate",
                                                                                   .shard = v.get_string("place") == "shard",
                                                                                   .rho = v.get_float("rho"),
                                                                                   .gamma = v.get_float("gamma"),
                                                                                   .alpha = v.get_float("alpha"),
                                                                                   .sigma = v.get_float("sigma"),
                                                                                   .rate = v.get_float("rate"),
                                                                                   .momentum = v.get_float("momentum"),
                                                                                   .components = v.get_int("n_components"),
                                                                                   .max_search = v.get_int("max_search"),
                                                                                   .bn_batches = v.get_int("bn_batches"),
                                                                                   .decay_steps = v.get_int("decay_steps"),
                                                                                   .matrix = v.get_string("pca_mat_path"),
                                                                                   .snapshots = v.get_string("weight_load_dir")});
                                     },
                             });

}  // namespace

}  // namespace sindri::boost
