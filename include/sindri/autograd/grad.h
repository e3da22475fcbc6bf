// Reverse-mode differentiation over a tape. One rule per op (OpDef::vjp) serves eager and traced tensors and gradients of gradients.
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

/// An op that lies between a Parameter and the op that uses it: a cast, reshape, transpose, broadcast (OpTraits::rearranges).
struct Rearrangement {
  const OpDef* op;
  Attrs attrs;
};

/// One use of a Parameter by an op: what curvature estimates (K-FAC, THOR) are made of. The contribution of this use to the Parameter's
/// gradient is a function of operands and output_grad alone: output_gradᵀ·input for a dense layer.
struct SINDRI_API ParamUse {
  Parameter* param = nullptr;
  const OpDef* op = nullptr;  ///< null: a function with a gradient rule of its own (custom_gradient)
  Attrs attrs = {};
  size_t operand = 0;  ///< operands[operand] is the Parameter
  TensorList operands = {};  ///< every input of the op as it entered: in the half type where mixed precision cast it
  std::vector<Rearrangement> path = {};  ///< from the Parameter to operands[operand], in order; empty: the Parameter's value itself
  Tensor output_grad = {};  ///< of the op's first output, in its shape and type, scaled as Gradients::of_params; undefined where only others have one
  Tensor loss_scale = {};  ///< floating scalar that output_grad is multiplied by; undefined: 1. A TrainStep fills it in

  /// What meets the Parameter there: the other factor of a matrix product or multiplication, a convolution's input, an embedding's ids, the
  /// normalised input (no scale, no shift) for gamma of layer and batch norm, in float32 or wider. Undefined where nothing does (a bias, beta).
  Tensor input() const;
  /// output_grad / loss_scale; float32 where output_grad has a half type. Undefined where output_grad is.
  Tensor unscaled_output_grad() const;
};

/// What a backward pass gives: gradients, and the uses of parameters where those were asked for.
struct Gradients {
  TensorList of_inputs;  ///< one per requested input; undefined never: zeros where the loss does not depend on it
  /// One per requested parameter, in the order asked for. In a TrainStep, before gradients are put together over ranks, undefined for parameters that the
  /// step does not train.
  TensorList of_params;
  std::vector<bool> untrained = {};  ///< behind that, which those are: they have zeros, and stay as they are with their optimizer state; empty: none
  /// From a tape that keeps uses, those of the requested parameters that a gradient passes: in the order in which the ops ran, by operand
  /// within an op; those inside a function that is computed again (recompute_function), with the values of the second run, at the place where
  /// it was called. One op is two uses where two of its operands are Parameters (or one Parameter twice).
  std::vector<ParamUse> uses;
  /// float32 scalar (float64 for gradients in float64) still to be multiplied onto of_params (1 / loss scale); undefined: they are unscaled.
  Tensor inv_scale;
  Tensor skip;  ///< bool scalar: true when the update must be left out; undefined: it never is
  int variant = 0;  ///< which form of the step they come from (TrainStep::variant)
  int64_t samples = 0;  ///< rows of the batch whose mean loss this is, of this rank; 0: not known
  /// Where the batch is one of several parts (virtual ranks) whose losses are averaged: the index of the first of `uses` of each part that this rank has.
  std::vector<size_t> parts = {};
  /// Of tensors that belong to this rank's parts, a list each, the means over all parts of all ranks, added up in the order that gradients are, in
  /// one reduction; empty: there is one part.
  std::function<TensorList(const std::vector<TensorList>&)> mean_over_parts = {};
  /// The ranks that have parts, and this one's number, for work that they share: the group of ops::all_reduce.
  std::string group = {};
  int rank = 0, ranks = 1;
};

/// What a tape keeps beyond that which its gradient rules read.
struct TapeOptions {
  bool uses = false;  ///< keep what ParamUse needs: all operands of ops that use a Parameter, beyond those the gradient rules read
};

/// Records the ops that pass while it is in scope on this thread, then differentiates.
///
///   Tape tape;
///   { TraceScope scope(tape); loss = net(x); }
///   Gradients g = tape.backward({loss}, {}, {x}, params);
class SINDRI_API Tape final : public Trace {
 public:
  using VjpFn = std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)>;
  explicit Tape(TapeOptions options = {});
  ~Tape() override;
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;

  /// Gradients of sum_i <outputs[i], seeds[i]> (seeds empty: ones); zeros where no output depends on the input or parameter, and for parameters without
  /// requires_grad. May be called more than once. Throws ShapeError for a seed of another shape, ValueError when an op on the way has no gradient.
  Gradients backward(const TensorList& outputs, const TensorList& seeds, Span<const Tensor> inputs, Span<Parameter* const> params) const;
  size_t num_records() const;

  // A tape recorded while a graph is traced serves each run of that graph, on the data that the run gives.

  /// The traced tensors that gradient rules read, each once. nullopt where a record has a rule of its own (custom_gradient), which may hold others, and
  /// of a tape that keeps uses.
  std::optional<TensorList> traced() const;
  /// The parameter whose value at the time of recording this tensor is; null for another tensor.
  Parameter* parameter_of(const Tensor& t) const;
  /// Takes over the records of `other`, with `by[i]`, under an identity of its own, in the place of the tensor of id `ids[i]`: gives these. Traced
  /// tensors that are not replaced keep their identity only.
  TensorList take(const Tape& other, Span<const uint64_t> ids, TensorList by);

 private:
  friend class PausedTapes;
  friend class UseRequest;
  friend struct CustomFunction;
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives no tape in force on this thread records: what runs belongs to a function whose record is made afterwards.
class SINDRI_API PausedTapes {
 public:
  PausedTapes();
  ~PausedTapes();
  PausedTapes(const PausedTapes&) = delete;
  PausedTapes& operator=(const PausedTapes&) = delete;
  /// Whether a tape would have recorded.
  bool any() const { return !paused_.empty(); }

 private:
  std::vector<bool*> paused_;
};

/// What a tape knows a tensor by: its identity and meta, without data and graph.
SINDRI_API Tensor identity_of(const Tensor& t);
/// `t` as a value of its own: gradients with respect to it are not those of other uses of t. Tapes in force see t handed on.
SINDRI_API Tensor fresh_leaf(const Tensor& t);

/// Runs f(in) and gives it the gradient rule `vjp(in, out, dout)` in every tape in force, instead of the rules of the ops in f.
SINDRI_API TensorList custom_gradient(const TensorFn& f, Span<const Tensor> in,
                                      std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)> vjp);

/// The function giving d sum(f)/d inputs[argnums] (all inputs when argnums is empty).
SINDRI_API TensorFn grad(TensorFn f, std::vector<int> argnums = {});
/// Value of f and gradients in one pass, with respect to inputs (argnums; empty: none) and parameters together, and the parameters' uses where
/// the options ask for them.
SINDRI_API std::pair<TensorList, Gradients> value_and_grad(const TensorFn& f, Span<const Tensor> in, const std::vector<int>& argnums,
                                                           Span<Parameter* const> params, const TensorList& seeds = {}, TapeOptions options = {});

}  // namespace sindri
