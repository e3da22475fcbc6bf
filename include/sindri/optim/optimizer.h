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
  std::vector<Parameter*> params;
  std::optional<LearningRate> lr;
  std::optional<double> weight_decay;
  bool grad_centralization = false;
  std::vector<Parameter*> order_params;
};

struct OptimizerOptions {
  LearningRate learning_rate = 0.1;
  double weight_decay = 0;      ///< without groups it skips parameters whose names contain "beta" or "gamma", as MindSpore does
  double loss_scale = 1;        ///< gradients are divided by it
};

class SINDRI_API Optimizer {
 public:
  /// Throws ValueError for a negative rate or decay, loss_scale <= 0, no or duplicate parameters.
  Optimizer(std::string name, std::vector<Parameter*> params, OptimizerOptions o);
  Optimizer(std::string name, std::vector<ParamGroup> groups, OptimizerOptions o);
  virtual ~Optimizer();

  const std::string& name() const { return name_; }
  /// In update order.
  const std::vector<Parameter*>& parameters() const { return params_; }
  /// Updates every parameter: grads in the order of parameters(). Reads lr at global_step, then advances it (when lr is
  /// dynamic). All of it goes through ops, so it can be traced.
  void apply(const TensorList& grads);
  /// The learning rate(s) of the current step: one, or one per parameter with group rates.
  TensorList get_lr();
  /// All state that a checkpoint must carry, named as MindSpore names it ("moments.<param>", "global_step", "learning_rate", …).
  std::vector<Parameter*> state();
  Parameter& global_step() { return *global_step_; }

  virtual bool wants_uses() const { return false; }               ///< THOR: ask backward for ParamUse
  virtual Gradients precondition(Gradients g) { return g; }       ///< THOR: natural gradient from the uses
  virtual int variant(int64_t step) const { (void)step; return 0; }   ///< which compiled graph a step uses

 protected:
  /// State slots of one parameter, in the order update() receives them; called once per parameter.
  struct Slot { std::string prefix; double init = 0; bool scalar = false; };
  virtual std::vector<Slot> slots() const = 0;
  /// The rule for one tensor: writes new values to `p` and `state`. weight_decay is 0 where it does not apply.
  virtual void update(Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, double grad_scale, const std::vector<Parameter*>& state) = 0;
  /// Before the first update of a step: shared scalars such as beta1_power.
  virtual void begin_update() {}
  /// A scalar state shared by all parameters ("momentum", "beta1_power"), float32.
  Parameter& shared_state(const std::string& name, double init);
  /// Derived constructors call it once their members are set.
  void init_state();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string name_;
  std::vector<Parameter*> params_;
  std::unique_ptr<Parameter> global_step_;
};

}  // namespace sindri::optim
