// Optimizer: groups, learning rates and weight decay around the rule for one tensor (MindSpore: nn.Optimizer).
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

/// One parameter group. Unset fields take the optimizer's own values. A group with order_params holds nothing else: it fixes the
/// order in which parameters are updated and communicated.
struct ParamGroup {
  std::vector<Parameter*> params = {};
  std::optional<LearningRate> lr = {};
  std::optional<WeightDecay> weight_decay = {};
  bool grad_centralization = false;  ///< subtracts from gradients [n, c, …] their mean over all dimensions but the first, where 16 divides c
  std::vector<Parameter*> order_params = {};
};

/// Clipping of the gradients (after division by the loss scale, before weight decay). Zero: off.
struct GradClip {
  double global_norm = 0;  ///< largest L2 norm of all gradients together
  double value = 0;  ///< largest absolute value of an element
};

/// What every optimizer takes. Groups may have a rate and a decay of their own.
struct OptimizerOptions {
  LearningRate learning_rate = 0.1;
  WeightDecay weight_decay = 0;  ///< without groups it skips parameters whose names contain "beta" or "gamma", as MindSpore does
  double loss_scale = 1;  ///< gradients are divided by it
  GradClip grad_clip = {};
};

/// What an update rule does to its gradient first, and whether it takes effect.
struct UpdateControl {
  double grad_scale = 1;  ///< multiplies the gradient
  Tensor inv_scale = {};  ///< float scalar that multiplies it too (1 / loss scale); undefined: 1
  Tensor skip = {};  ///< bool scalar: true leaves parameter and state as they are; undefined: false
  Tensor decay = {};  ///< a weight decay that is computed (scalar), for rules that decay by themselves; undefined: the number they get
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

/// Parameters, groups, rates, decays and state around the rule for one tensor, which a derived class gives (slots, update). A step is
/// apply(gradients).
class SINDRI_API Optimizer {
 public:
  /// Throws ValueError for a negative rate or decay, tables of rates of different lengths, loss_scale <= 0, no, null, unnamed or
  /// duplicate parameters, and order_params that do not hold exactly the groups' parameters.
  Optimizer(std::string name, Params params, OptimizerOptions o);
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const std::string& name() const { return name_; }
  /// In update order.
  const std::vector<Parameter*>& parameters() const { return params_; }
  /// Updates every parameter: grads in the order of parameters(). Reads rates and decays at global_step, then advances it. All of it goes
  /// through ops, so it can be traced. Throws ValueError when the count differs, ShapeError for a gradient of another shape.
  /// Under a loss scale, `inv_scale` (float scalar) multiplies every gradient; where `skip` (bool scalar) is true, parameters and
  /// all state stay as they are, without the host being asked.
  /// The same as assign_updates(compute_updates(...)), with each new value assigned as soon as it is there.
  void apply(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// The first half of apply: writes the optimizer's state, not the parameters. A skipped step's values are the old ones.
  Updates compute_updates(const TensorList& grads, const Tensor& inv_scale = {}, const Tensor& skip = {});
  /// The second half. Throws ValueError when values are missing, ShapeError for one of another shape than its parameter.
  void assign_updates(const Updates& updates);
  /// The rule alone, for gradients that are unscaled, decayed and centralised already. rates: scalars, one or one per parameter. decays:
  /// for rules that decay by themselves, scalars likewise, undefined where none applies; empty: their own. Advances global_step when
  /// `advance`. Throws as apply, and ValueError for another number of rates or decays.
  virtual void apply_rule(const TensorList& grads, const TensorList& rates, const TensorList& decays = {}, const Tensor& skip = {}, bool advance = true);
  /// The learning rate(s) of the current step, scalars: one, or one per parameter with group rates.
  virtual TensorList get_lr();
  /// True when the rate depends on global_step.
  virtual bool dynamic_lr() const;
  /// True when the rate or a weight decay does.
  virtual bool dynamic() const;
  /// A fixed rate may be changed between steps without a new graph; throws ValueError when the rate is dynamic or per group.
  virtual void set_lr(double lr);
  /// Weight decay of parameters()[i], the beta/gamma rule applied. Throws ValueError where it depends on the step.
  virtual double weight_decay(size_t i) const;
  /// Whether weight decay is part of the gradient (so that centralisation sees it) or of the update rule.
  virtual bool decays_gradient() const { return true; }
  /// Whether the rule reads global_step (a bias correction), which then counts every update whatever count_every_update says.
  virtual bool needs_step_count() const { return false; }
  /// global_step counts every update, as in MindSpore 2; false: only those with a rate or decay that depends on it, as in MindSpore 1,
  /// and those of rules that need the count.
  virtual void count_every_update(bool on);
  virtual const OptimizerOptions& base_options() const;
  /// All state that a checkpoint must carry, named as MindSpore names it (`moments.<param>`, "global_step", "learning_rate", …).
  virtual std::vector<Parameter*> state();
  /// Before state is read from a file: what the file holds, by name. An optimizer whose state begins with its first step makes it here.
  virtual void expect_state(const std::map<std::string, TensorMeta>& stored) { (void)stored; }
  /// The states of parameters()[i], as the rule gets them (`moment1.<param>`, `moment2.<param>`).
  virtual const std::vector<Parameter*>& state_of(size_t i) const;
  /// Scalar states that all parameters share ("beta1_power").
  virtual std::vector<Parameter*> shared_states() const;
  /// What holds the rate of parameters()[i], a number or a table of rates; null where it is a schedule.
  virtual Parameter* rate_slot(size_t i) const;
  virtual Parameter& global_step() { return *global_step_; }

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
  /// What the steps of a variant do, as in "5 steps that refresh"; empty of variant 0: all steps are alike.
  virtual std::string variant_name(int variant) const {
    (void)variant;
    return "";
  }
  /// Lines that a training ends with: what the optimizer holds beside its moments.
  virtual std::vector<std::string> report() const { return {}; }
  /// A table of the same by parameter, its first row the headings, for the run's report; empty: there is none.
  virtual std::vector<std::vector<std::string>> holdings() const { return {}; }
  /// A number that a run's report follows over time.
  struct Measure {
    std::string group;  ///< those that are drawn together
    std::string name;
    double value = 0;
  };
  /// The last ones, read on the host.
  virtual std::vector<Measure> measures() const { return {}; }
  /// Whether the steps of a variant change them.
  virtual bool measures_anew(int variant) const {
    (void)variant;
    return false;
  }

 protected:
  /// State slots of one parameter, in the order update() receives them.
  struct Slot {
    std::string prefix;
    double init = 0;
    bool scalar = false;
    const char* joint = ".";  ///< between prefix and the parameter's name
  };
  virtual std::vector<Slot> slots() const = 0;
  /// The rule for one tensor: returns the new value of `p` and writes that of `state`; the old ones where `control` says to skip.
  /// weight_decay is 0 where it does not apply.
  virtual Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                        const std::vector<Parameter*>& state) = 0;
  /// For rules of two passes: update() gives something else than the new value, of which finish() makes it once all parameters have had
  /// their update. Updates that nothing reads before the last one are grouped in graphs.
  virtual bool two_passes() const { return false; }
  virtual Tensor finish(const Parameter& p, const Tensor& made, const Tensor& lr, const UpdateControl& control);
  /// What an update op gave, new parameter then new states: writes the states, returns the parameter.
  static Tensor assign_state(const std::vector<Parameter*>& state, const std::vector<Tensor>& updated);
  /// For rules composed of ops: the gradient as the rule means it, with the scales of `control` and the decay in it.
  static Tensor whole_gradient(const Parameter& p, const Tensor& grad, double weight_decay, const UpdateControl& control);
  /// Their end: writes the states' new values and returns the parameter's; the old ones where `control` says to skip.
  static Tensor unless_skipped(const Parameter& p, const Tensor& value, const std::vector<Parameter*>& state, const TensorList& states,
                               const UpdateControl& control);
  /// Before the first update of a step: shared scalars such as beta1_power.
  virtual void begin_update() {}
  /// Whether weight decay without groups skips beta and gamma.
  virtual bool filters_decay() const { return true; }
  /// A state of one value shared by all parameters ("momentum", "beta1_power"): float32, float64 when a parameter is.
  Parameter& shared_state(const std::string& name, double init, const Shape& shape = {});
  /// Derived constructors call it once their members are set.
  void init_state();
  /// The number of the update that is being made, from 1, as a scalar of the type of shared states.
  Tensor update_number() const;
  using Emit = std::function<void(Parameter&, Tensor)>;
  /// One step, which hands each parameter's new value to `emit` as soon as it is there.
  virtual void run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const Emit& emit);

 private:
  friend class LARS;  // takes over decay and unscaling
  struct Impl;
  /// A gradient on its way to the rule, and what is left to the rule.
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
