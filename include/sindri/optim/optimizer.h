// Optimizer: groups, learning rates and weight decay around the rule for one tensor (MindSpore: nn.Optimizer).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"
#include "sindri/optim/schedule.h"

namespace sindri::optim {

/// One parameter group. Unset fields take the optimizer's own values. A group with order_params holds nothing else: it fixes the
/// order in which parameters are updated and communicated.
struct ParamGroup {
  std::vector<Parameter*> params = {};
  std::optional<LearningRate> lr = {};
  std::optional<double> weight_decay = {};
  bool grad_centralization = false;
  std::vector<Parameter*> order_params = {};
};

/// Clipping of the gradients (after division by the loss scale, before weight decay). Zero: off.
struct GradClip {
  double global_norm = 0;  ///< largest L2 norm of all gradients together
  double value = 0;  ///< largest absolute value of an element
};

struct OptimizerOptions {
  LearningRate learning_rate = 0.1;
  double weight_decay = 0;  ///< without groups it skips parameters whose names contain "beta" or "gamma", as MindSpore does
  double loss_scale = 1;  ///< gradients are divided by it
  GradClip grad_clip = {};
};

/// What an update rule does to its gradient first, and whether it takes effect.
struct UpdateControl {
  double grad_scale = 1;  ///< multiplies the gradient
  Tensor inv_scale = {};  ///< float32 scalar that multiplies it too (1 / loss scale); undefined: 1
  Tensor skip = {};  ///< bool scalar: true leaves parameter and state as they are; undefined: false
};

/// What a concrete optimizer takes: parameters (all alike) or groups.
class SINDRI_API Params {
 public:
  Params(std::vector<Parameter*> params) : params_(std::move(params)) {}  // NOLINT(google-explicit-constructor)
  Params(std::vector<ParamGroup> groups) : groups_(std::move(groups)), grouped_(true) {}  // NOLINT(google-explicit-constructor)
  bool grouped() const { return grouped_; }
  const std::vector<Parameter*>& params() const { return params_; }
  const std::vector<ParamGroup>& groups() const { return groups_; }

 private:
  std::vector<Parameter*> params_;
  std::vector<ParamGroup> groups_;
  bool grouped_ = false;
};

/// Values that parameters shall get, before they get them: stages between the two may read, exchange or replace them (a sum over ranks
/// of the changes, say).
struct SINDRI_API Updates {
  std::vector<Parameter*> params = {};
  TensorList values = {};  ///< new values, one for each of params

  /// values[i] - params[i], in the parameter's type; right until the values are assigned.
  Tensor delta(size_t i) const;
  /// values[i] becomes params[i] + delta. Throws ShapeError for another shape.
  void set_delta(size_t i, const Tensor& delta);
};

class SINDRI_API Optimizer {
 public:
  /// Throws ValueError for a negative rate or decay, loss_scale <= 0, no, null, unnamed or duplicate parameters, and order_params
  /// that do not hold exactly the groups' parameters.
  Optimizer(std::string name, Params params, OptimizerOptions o);
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const std::string& name() const { return name_; }
  /// In update order.
  const std::vector<Parameter*>& parameters() const { return params_; }
  /// Updates every parameter: grads in the order of parameters(). Reads lr at global_step, then advances it (when lr is
  /// dynamic). All of it goes through ops, so it can be traced. Throws ValueError when the count differs, ShapeError for a
  /// gradient of another shape.
  /// Under a loss scale, `inv_scale` (float32 scalar) multiplies every gradient; where `skip` (bool scalar) is true, parameters and
  /// all state stay as they are, without the host being asked.
  /// The same as assign_updates(compute_updates(...)), with each new value assigned as soon as it is there.
  void apply(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// The first half of apply: writes the optimizer's state, not the parameters. A skipped step's values are the old ones.
  Updates compute_updates(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// The second half. Throws ValueError when values are missing, ShapeError for one of another shape than its parameter.
  void assign_updates(const Updates& updates);
  /// The learning rate(s) of the current step, scalars: one, or one per parameter with group rates.
  TensorList get_lr();
  /// True when the rate depends on global_step.
  bool dynamic_lr() const;
  /// A fixed rate may be changed between steps without a new graph; throws ValueError when the rate is dynamic or per group.
  void set_lr(double lr);
  /// Weight decay of parameters()[i], the beta/gamma rule applied.
  double weight_decay(size_t i) const;
  const OptimizerOptions& base_options() const;
  /// All state that a checkpoint must carry, named as MindSpore names it ("moments.<param>", "global_step", "learning_rate", …).
  std::vector<Parameter*> state();
  Parameter& global_step() { return *global_step_; }

  /// True: a training step keeps the uses of parameters() and hands them to precondition (Gradients::uses). Asked when the step is made.
  virtual bool wants_uses() const { return false; }
  /// The gradients that apply gets, from those of the step: scaled as they are (g.inv_scale, and the optimizer's own loss_scale), in the
  /// form g.variant. It is traced in GRAPH_MODE, and says nothing of a skipped step: state it keeps must look at g.skip.
  virtual Gradients precondition(Gradients g) { return g; }
  /// Which form step number `step` takes (0, 1, …): in GRAPH_MODE each has a graph of its own, e.g. one that refreshes curvature factors
  /// and one that reuses them. Asked on the host before the step.
  virtual int variant(int64_t step) const {
    (void)step;
    return 0;
  }

 protected:
  /// State slots of one parameter, in the order update() receives them.
  struct Slot {
    std::string prefix;
    double init = 0;
    bool scalar = false;
  };
  virtual std::vector<Slot> slots() const = 0;
  /// The rule for one tensor: returns the new value of `p` and writes that of `state`; the old ones where `control` says to skip.
  /// weight_decay is 0 where it does not apply.
  virtual Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                        const std::vector<Parameter*>& state) = 0;
  /// Before the first update of a step: shared scalars such as beta1_power.
  virtual void begin_update() {}
  /// Whether weight decay without groups skips beta and gamma.
  virtual bool filters_decay() const { return true; }
  /// Whether decay is part of the gradient (so that centralisation sees it) or of the update rule.
  virtual bool decays_gradient() const { return true; }
  /// A scalar state shared by all parameters ("momentum", "beta1_power"): float32, float64 when a parameter is.
  Parameter& shared_state(const std::string& name, double init);
  /// Derived constructors call it once their members are set.
  void init_state();

 private:
  struct Impl;
  void add_groups(const Params& params);
  void add_parameter(Parameter* p, size_t group);
  void order_parameters(const std::vector<Parameter*>& order);
  void check_gradients(const TensorList& grads) const;
  /// One step, which hands each parameter's new value to `emit` as soon as it is there.
  void run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const std::function<void(Parameter&, Tensor)>& emit);
  TensorList group_rates();
  TensorList prepare(const TensorList& grads, const Tensor& inv_scale) const;
  std::unique_ptr<Impl> impl_;
  std::string name_;
  std::vector<Parameter*> params_;
  std::unique_ptr<Parameter> global_step_;
};

}  // namespace sindri::optim
