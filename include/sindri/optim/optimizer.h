// Optimizer: parameter groups, learning rates and weight decay around the rule for one tensor (MindSpore:
// nn.Optimizer).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"
#include "sindri/optim/schedule.h"

namespace sindri::optim {

/// A parameter group. Unset fields use the optimizer's values. A group with order_params holds nothing else: it fixes
/// the order in which parameters are updated and communicated.
struct ParamGroup {
  std::vector<Parameter*> params = {};
  std::optional<LearningRate> lr = {};
  std::optional<WeightDecay> weight_decay = {};
  /// Subtracts from gradients [n, c, …] their mean over all dimensions but the first, if 16 divides c (Yong et al.
  /// 2020).
  bool grad_centralization = false;
  std::vector<Parameter*> order_params = {};  ///< all parameters of the groups, each once
};

/// Clipping of the gradients, after division by the loss scale and before weight decay. 0 turns it off.
struct GradClip {
  double global_norm = 0;  ///< largest L2 norm of all gradients together
  double value = 0;  ///< largest absolute value of an element
};

/// Options that every optimizer has. Groups may have separate rates and decays.
struct OptimizerOptions {
  LearningRate learning_rate = 0.1;
  WeightDecay weight_decay = 0;  ///< without groups, skips parameters whose names contain "beta" or "gamma", as MindSpore does
  double loss_scale = 1;  ///< gradients are divided by it
  GradClip grad_clip = {};  ///< see GradClip
};

/// How an update rule scales its gradient, and whether the update takes effect.
struct UpdateControl {
  double grad_scale = 1;  ///< multiplies the gradient
  Tensor inv_scale = {};  ///< float scalar that also multiplies the gradient (1 / loss scale); undefined: 1
  Tensor skip = {};  ///< bool scalar; true keeps parameter and state; undefined: false
  Tensor decay = {};  ///< weight decay computed as a scalar, for rules that apply decay; undefined: the number passed to update()
};

/// Parameters of an optimizer: a list with the same options for all, or groups.
class SINDRI_API Params {
 public:
  Params(std::vector<Parameter*> params) : params_(std::move(params)) {}  // NOLINT(google-explicit-constructor)
  Params(std::vector<ParamGroup> groups) : groups_(std::move(groups)), grouped_(true) {}  // NOLINT(google-explicit-constructor)
  /// Whether made from groups.
  bool grouped() const { return grouped_; }
  /// The list; empty if made from groups.
  const std::vector<Parameter*>& params() const { return params_; }
  /// The groups; empty if made from a list.
  const std::vector<ParamGroup>& groups() const { return groups_; }

 private:
  std::vector<Parameter*> params_;
  std::vector<ParamGroup> groups_;
  bool grouped_ = false;
};

/// New values of parameters before they are assigned. Stages in between may read, exchange or replace them, for example
/// sum the changes over ranks.
struct SINDRI_API Updates {
  std::vector<Parameter*> params = {};  ///< parameters to update
  TensorList values = {};  ///< new values, one for each of params

  /// values[i] - params[i], in the parameter's type; valid until the values are assigned.
  Tensor delta(size_t i) const;
  /// Sets values[i] to params[i] + delta. Throws ShapeError for another shape.
  void set_delta(size_t i, const Tensor& delta);
};

/// Base of optimizers: parameters, groups, rates, decays and state around the rule for one tensor, which a derived
/// class defines (slots, update). A step is apply(gradients).
class SINDRI_API Optimizer {
 public:
  /// Throws ValueError for a negative rate, decay or clip, for loss_scale <= 0 and for tables of rates of different
  /// lengths. Also throws it for missing, null, unnamed or duplicate parameters, for empty groups, and for order_params
  /// other than exactly the groups' parameters.
  Optimizer(std::string name, Params params, OptimizerOptions o);
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Name of the optimizer, for messages.
  const std::string& name() const { return name_; }
  /// Parameters in update order.
  const std::vector<Parameter*>& parameters() const { return params_; }
  /// Updates every parameter; grads are in the order of parameters(). Reads rates and decays at global_step, then
  /// advances it. All of this uses ops, so it can be traced. Under a loss scale, `inv_scale` (float scalar) multiplies
  /// every gradient. If `skip` (bool scalar) is true, parameters and all state keep their values, without
  /// synchronisation with the host. Equals assign_updates(compute_updates(...)), but assigns each new value as soon as
  /// it is computed. Throws ValueError for another number of gradients, ShapeError for a gradient of another shape.
  void apply(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// First half of apply: writes the optimizer's state, but not the parameters. In a skipped step the values are the
  /// old ones. Throws the same errors as apply.
  Updates compute_updates(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// Second half of apply. Throws ValueError if values are missing, ShapeError for a value of another shape than its
  /// parameter.
  void assign_updates(const Updates& updates);
  /// Applies the rule alone, to gradients that are already unscaled, decayed and centralised. `rates` holds one scalar,
  /// or one per parameter. So does `decays`, which only rules that apply weight decay themselves read: an undefined
  /// tensor means no decay, an empty list the optimizer's own decays. Advances global_step if `advance`. Throws the
  /// same errors as apply, and ValueError for a wrong number of rates or decays.
  virtual void apply_rule(const TensorList& grads, const TensorList& rates, const TensorList& decays = {}, const Tensor& skip = {}, bool advance = true);
  /// Learning rates of the current step as scalars: one, or one per parameter if groups have rates.
  virtual TensorList get_lr();
  /// Whether the rate depends on global_step.
  virtual bool dynamic_lr() const;
  /// Whether the rate or a weight decay depends on global_step.
  virtual bool dynamic() const;
  /// Changes a fixed rate between steps, without a new graph. Throws ValueError for a negative rate, and if the rate is
  /// dynamic or per group.
  virtual void set_lr(double lr);
  /// Weight decay of parameters()[i], with the beta/gamma rule applied. Throws ValueError if it depends on the step,
  /// and for i out of range.
  virtual double weight_decay(size_t i) const;
  /// Whether weight decay is added to the gradient, so that centralisation includes it, or is part of the update rule.
  virtual bool decays_gradient() const { return true; }
  /// Whether the rule reads global_step (for a bias correction). global_step then counts every update, whatever
  /// count_every_update says.
  virtual bool needs_step_count() const { return false; }
  /// Sets whether global_step counts every update, as in MindSpore 2. false: it counts only if a rate or decay depends
  /// on it, as in MindSpore 1, or if the rule needs the count.
  virtual void count_every_update(bool on);
  /// The options that every optimizer has, as given.
  virtual const OptimizerOptions& base_options() const;
  /// All state that a checkpoint must contain. The names are MindSpore's: `moments.<param>`, "global_step",
  /// "learning_rate", ….
  virtual std::vector<Parameter*> state();
  /// Announces the tensors of a checkpoint, by name, before state is read from it. An optimizer that otherwise creates
  /// state in its first step creates it here.
  virtual void expect_state(const std::map<std::string, TensorMeta>& stored) { (void)stored; }
  /// States of parameters()[i], in the order in which the rule gets them. Examples: `moment1.<param>`, `moment2.<param>`.
  /// Throws ValueError for i out of range.
  virtual const std::vector<Parameter*>& state_of(size_t i) const;
  /// Scalar states shared by all parameters ("beta1_power").
  virtual std::vector<Parameter*> shared_states() const;
  /// Parameter with the rate of parameters()[i], a number or a table of rates; null for a schedule. Throws ValueError
  /// for i out of range.
  virtual Parameter* rate_slot(size_t i) const;
  /// Number of updates so far, int32 [1].
  virtual Parameter& global_step() { return *global_step_; }

  /// Whether a training step must keep the uses of parameters() and pass them to precondition (Gradients::uses). Read
  /// when the step is built.
  virtual bool wants_uses() const { return false; }
  /// Turns the step's gradients into those that apply receives. They stay scaled (g.inv_scale, and the optimizer's
  /// loss_scale). g.variant is the variant of the step. In GRAPH_MODE this function is traced. It also runs in skipped
  /// steps, so the state that it writes must depend on g.skip.
  virtual Gradients precondition(Gradients g) { return g; }
  /// Variant of step number `step` (0, 1, …). In GRAPH_MODE each variant has a separate graph, for example one that
  /// refreshes curvature factors and one that reuses them. Called on the host before the step.
  virtual int variant(int64_t step) const {
    (void)step;
    return 0;
  }
  /// What the steps of a variant do, as a verb ("refresh" in "5 steps that refresh"). Empty for variant 0: all steps
  /// are alike.
  virtual std::string variant_name(int variant) const {
    (void)variant;
    return "";
  }
  /// Lines printed at the end of a training run: state that the optimizer holds besides its moments.
  virtual std::vector<std::string> report() const { return {}; }
  /// The same as a table by parameter for the run's report, with a first row of headings; empty: no table.
  virtual std::vector<std::vector<std::string>> holdings() const { return {}; }
  /// A value that a run's report plots over time.
  struct Measure {
    std::string group;  ///< measures of one group share a plot
    std::string name;  ///< name within the group
    double value = 0;
  };
  /// Latest measures, read on the host.
  virtual std::vector<Measure> measures() const { return {}; }
  /// Whether the steps of this variant change the measures.
  virtual bool remeasures(int variant) const {
    (void)variant;
    return false;
  }

 protected:
  /// A state slot of one parameter. update() receives the states in the order of slots().
  struct Slot {
    std::string prefix;  ///< first part of the state's name
    double init = 0;  ///< initial value of every element
    bool scalar = false;  ///< a scalar instead of a tensor of the parameter's shape
    const char* joint = ".";  ///< text between the prefix and the parameter's name
  };
  /// State slots of each parameter.
  virtual std::vector<Slot> slots() const = 0;
  /// The rule for one tensor: returns the new value of `p` and writes the new values of `state`, or the old values if
  /// `control` says to skip. weight_decay is 0 if it does not apply.
  virtual Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                        const std::vector<Parameter*>& state) = 0;
  /// Whether the rule has two passes: update() returns an intermediate value, from which finish() computes the new
  /// value after every parameter's update(). Graphs group updates that nothing reads before the last one.
  virtual bool two_passes() const { return false; }
  /// Second pass: returns the new value of `p` from the value that update() returned.
  virtual Tensor finish(const Parameter& p, const Tensor& made, const Tensor& lr, const UpdateControl& control);
  /// Takes the results of an update op, the new parameter followed by the new states: writes the states and returns the
  /// parameter.
  static Tensor assign_state(const std::vector<Parameter*>& state, const std::vector<Tensor>& updated);
  /// Gradient for rules composed of ops, with the scales of `control` and the weight decay applied.
  static Tensor whole_gradient(const Parameter& p, const Tensor& grad, double weight_decay, const UpdateControl& control);
  /// Last step of rules composed of ops: writes the states' new values and returns the parameter's, or keeps the old
  /// ones if `control` says to skip.
  static Tensor unless_skipped(const Parameter& p, const Tensor& value, const std::vector<Parameter*>& state, const TensorList& states,
                               const UpdateControl& control);
  /// Called before the first update() of a step, for shared scalars such as beta1_power.
  virtual void begin_update() {}
  /// Whether weight decay without groups skips parameters named beta and gamma.
  virtual bool filters_decay() const { return true; }
  /// Creates a state that all parameters share ("momentum", "beta1_power"): float32, or float64 if a parameter is.
  Parameter& shared_state(const std::string& name, double init, const Shape& shape = {});
  /// Creates the states of slots(). Derived constructors call it after their members are set.
  void init_state();
  /// Number of the current update, from 1, as a scalar of the shared states' type.
  Tensor update_number() const;
  /// Receives a parameter and its new value.
  using Emit = std::function<void(Parameter&, Tensor)>;
  /// Runs one step and passes each parameter's new value to `emit` as soon as it is computed.
  virtual void run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const Emit& emit);

 private:
  friend class LARS;  // takes over decay and unscaling
  struct Impl;
  /// A gradient prepared for the rule, with the weight decay and scales that the rule still has to apply.
  struct Prepared {
    Tensor grad;
    double weight_decay = 0;
    UpdateControl control;
  };
  void add_groups(const Params& params);
  void add_parameter(Parameter* p, size_t group);
  void order_parameters(const std::vector<Parameter*>& order);
  void check_rates() const;
  void check_gradients(const TensorList& grads) const;
  bool decays(size_t i) const;
  TensorList group_rates();
  TensorList group_decays();
  TensorList clipped(TensorList unscaled) const;
  std::vector<Prepared> prepare(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip);
  void update_all(const std::vector<Prepared>& prepared, const TensorList& rates, const Tensor& skip, bool advance, const Emit& emit);
  std::unique_ptr<Impl> impl_;
  std::string name_;
  std::vector<Parameter*> params_;
  std::unique_ptr<Parameter> global_step_;
};

}  // namespace sindri::optim
