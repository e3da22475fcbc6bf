// Reverse-mode differentiation with a tape. One rule per op (OpDef::vjp) serves eager and traced tensors and gradients
// of gradients.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/bind.h"
#include "sindri/op/parameter.h"
#include "sindri/op/tensor_fn.h"

namespace sindri {

/// An op between a Parameter and the op that uses it: a cast, reshape, transpose or broadcast (OpTraits::rearranges).
struct Rearrangement {
  const OpDef* op;
  Attrs attrs;
};

/// One use of a Parameter by an op, from which curvature is estimated (K-FAC, THOR). The use's contribution to the
/// Parameter's gradient depends on operands and output_grad alone: output_gradᵀ·input for a dense layer.
struct SINDRI_API ParamUse {
  Parameter* param = nullptr;  ///< the Parameter that is used
  const OpDef* op = nullptr;  ///< null: a function with a custom gradient (custom_gradient)
  Attrs attrs = {};  ///< attributes of op
  size_t operand = 0;  ///< index of the Parameter in operands
  TensorList operands = {};  ///< all inputs of the op as it read them: in the half type if mixed precision cast them
  /// Ops from the Parameter to operands[operand], in order; empty: the Parameter's value itself.
  std::vector<Rearrangement> path = {};
  /// Gradient of the op's first output, in its shape and type, scaled like Gradients::of_params. Undefined if only
  /// other outputs of the op have a gradient.
  Tensor output_grad = {};
  Tensor loss_scale = {};  ///< floating scalar by which output_grad is multiplied; undefined: 1. Set by a TrainStep

  /// The operand that the Parameter is combined with: the other factor of a matrix product or multiplication, a
  /// convolution's input, or an embedding's ids. For gamma of layer and batch norm it is the normalised input, before
  /// scale and shift, in float32 or wider. Undefined if there is none (a bias, beta).
  Tensor input() const;
  /// output_grad / loss_scale, in float32 if output_grad has a half type. Undefined if output_grad is.
  Tensor unscaled_output_grad() const;
};

/// Result of a backward pass: gradients, and the uses of parameters if requested.
struct Gradients {
  TensorList of_inputs;  ///< one per requested input, never undefined: zeros if the loss does not depend on it
  /// One per requested parameter, in the order of the request. In a TrainStep, before gradients are reduced over ranks,
  /// undefined for parameters that the step does not train.
  TensorList of_params;
  /// For each parameter, whether the step does not train it; set after the reduction. Its gradient is then zeros, and
  /// it keeps its value and optimizer state. Empty: all are trained.
  std::vector<bool> untrained = {};
  /// Uses of the requested parameters through which a gradient flows, if the tape keeps uses. They are in the order in
  /// which the ops ran; uses by one op are ordered by operand. Uses inside a recomputed function (recompute_function)
  /// hold the values of the second run and are placed where the function was called. If two operands of an op are
  /// Parameters (or the same Parameter), the op counts as two uses.
  std::vector<ParamUse> uses;
  /// 1 / loss scale, by which of_params have not been multiplied yet: a float32 scalar (float64 for float64 gradients).
  /// Undefined: of_params are unscaled.
  Tensor inv_scale;
  Tensor skip;  ///< bool scalar, true if the update must be skipped; undefined: never
  int variant = 0;  ///< variant of the step that computed them (TrainStep::variant)
  int64_t samples = 0;  ///< rows of this rank's batch, over which the loss is a mean; 0: unknown
  /// For a batch of several parts (virtual ranks) whose losses are averaged: the index in `uses` at which each part of
  /// this rank starts.
  std::vector<size_t> parts = {};
  /// Takes one list of tensors for each part of this rank and returns their means over all parts of all ranks. They are
  /// summed in the same order as the gradients, in one reduction. Empty: there is one part.
  std::function<TensorList(const std::vector<TensorList>&)> mean_over_parts = {};
  /// Name of the group, for ops::all_reduce, of the ranks that have parts, so that they can share work.
  std::string group = {};
  int rank = 0, ranks = 1;  ///< number of this rank in the group, and size of the group
};

/// What a tape keeps in addition to the values that its gradient rules read.
struct TapeOptions {
  bool uses = false;  ///< all operands of ops that use a Parameter, which ParamUse needs
};

/// Records the ops that run while it is in scope on this thread, then differentiates.
///
///   Tape tape;
///   { TraceScope scope(tape); loss = net(x); }
///   Gradients g = tape.backward({loss}, {}, {x}, params);
class SINDRI_API Tape final : public Trace {
 public:
  /// A gradient rule: gradients of the inputs, from inputs, outputs and the outputs' gradients.
  using VjpFn = std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)>;
  /// An empty tape. It records only inside a TraceScope.
  explicit Tape(TapeOptions options = {});
  ~Tape() override;
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;

  /// Gradients of sum_i ⟨outputs[i], seeds[i]⟩ (empty seeds: ones). They are zeros if no output depends on the input or
  /// parameter, and for parameters without requires_grad. May be called several times. Throws ShapeError for a seed of
  /// another shape, ValueError if an op on the path has no gradient.
  Gradients backward(const TensorList& outputs, const TensorList& seeds, Span<const Tensor> inputs, Span<Parameter* const> params) const;
  /// Number of recorded ops and functions.
  size_t num_records() const;

  // A tape recorded while a graph is traced serves every run of that graph, on the run's data.

  /// The traced tensors that gradient rules read, each once. nullopt if a record has a custom gradient
  /// (custom_gradient), which may hold other tensors, and for a tape that keeps uses.
  std::optional<TensorList> traced() const;
  /// The parameter whose value this tensor was at the time of recording; null for other tensors.
  Parameter* parameter_of(const Tensor& t) const;
  /// Takes over the records of `other`. The tensor with id ids[i] is replaced by by[i] under a new identity; returns
  /// these tensors. Traced tensors that are not replaced keep only their identity.
  TensorList take(const Tape& other, Span<const uint64_t> ids, TensorList by);

 private:
  friend class PausedTapes;
  friend class UseRequest;
  friend struct CustomFunction;
  struct State;
  std::unique_ptr<State> state_;
};

/// Pauses the tapes in force on this thread during its lifetime: the ops that run belong to a function that is recorded
/// as a whole afterwards.
class SINDRI_API PausedTapes {
 public:
  PausedTapes();
  ~PausedTapes();
  PausedTapes(const PausedTapes&) = delete;
  PausedTapes& operator=(const PausedTapes&) = delete;
  /// Whether any tape would have recorded.
  bool any() const { return !paused_.empty(); }

 private:
  std::vector<bool*> paused_;
};

/// A tensor with the identity and meta of t, by which tapes know it, but without data and graph.
SINDRI_API Tensor identity_of(const Tensor& t);
/// Returns t as a separate value: gradients with respect to it exclude other uses of t. Tapes in force record an
/// identity.
SINDRI_API Tensor fresh_leaf(const Tensor& t);

/// Runs f(in) with the gradient rule `vjp(in, out, dout)` in every tape in force, in place of the rules of the ops in
/// f. vjp returns one gradient per input; backward throws ValueError for another number and ShapeError for other
/// shapes.
SINDRI_API TensorList custom_gradient(const TensorFn& f, Span<const Tensor> in,
                                      std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)> vjp);

/// Returns the function that computes d sum(f)/d inputs[argnums] (all inputs if argnums is empty).
SINDRI_API TensorFn grad(TensorFn f, std::vector<int> argnums = {});
/// Computes the value of f and its gradients in one pass, with respect to inputs (argnums; empty: none) and parameters
/// together, and the parameters' uses if the options request them. Throws ValueError for an argnum out of range, and
/// the same errors as Tape::backward.
SINDRI_API std::pair<TensorList, Gradients> value_and_grad(const TensorFn& f, Span<const Tensor> in, const std::vector<int>& argnums,
                                                           Span<Parameter* const> params, const TensorList& seeds = {}, TapeOptions options = {});

}  // namespace sindri
