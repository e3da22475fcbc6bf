// Reverse-mode differentiation over a tape. One rule per op (OpDef::vjp) serves eager and traced tensors and gradients of gradients.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/bind.h"
#include "sindri/op/parameter.h"
#include "sindri/op/tensor_fn.h"

namespace sindri {

/// What second-order optimizers need of one use of a parameter: the input that met it and the gradient of the op's output.
struct ParamUse {
  Parameter* param;
  const OpDef* op;
  Attrs attrs;
  Tensor input, output_grad;
};

struct Gradients {
  TensorList of_inputs;  ///< one per requested input; undefined never: zeros where the loss does not depend on it
  TensorList of_params;  ///< one per requested parameter, in the order asked for
  std::vector<ParamUse> uses;  ///< filled on request
  Tensor inv_scale;  ///< float32 scalar still to be multiplied onto of_params (1 / loss scale); undefined: they are unscaled
  Tensor skip;  ///< bool scalar: true when the update must be left out; undefined: it never is
};

/// Records the ops that pass while it is in scope on this thread, then differentiates.
///
///   Tape tape;
///   { TraceScope scope(tape); loss = net(x); }
///   Gradients g = tape.backward({loss}, {}, {x}, params);
class SINDRI_API Tape final : public Trace {
 public:
  using VjpFn = std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)>;
  Tape();
  ~Tape() override;
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;

  /// Replaces the gradient rule of a recorded function: out = f(in) ran without this tape; `vjp(dout)` gives the gradients of `in`.
  void record_custom(Span<const Tensor> in, Span<const Tensor> out, std::function<TensorList(Span<const Tensor> dout)> vjp);

  /// Gradients of sum_i <outputs[i], seeds[i]> (seeds empty: ones); zeros where no output depends on the input or parameter. May be
  /// called more than once. Throws ShapeError for a seed of another shape, ValueError when an op on the way has no gradient.
  Gradients backward(const TensorList& outputs, const TensorList& seeds, Span<const Tensor> inputs, Span<Parameter* const> params,
                     bool with_uses = false) const;
  size_t num_records() const;

 private:
  friend SINDRI_API TensorList custom_gradient(const TensorFn& f, Span<const Tensor> in, VjpFn vjp);
  friend class PausedTapes;
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

/// `t` as a value of its own: gradients with respect to it are not those of other uses of t. Tapes in force see t handed on.
SINDRI_API Tensor fresh_leaf(const Tensor& t);

/// Runs f(in) and gives it the gradient rule `vjp(in, out, dout)` in every tape in force, instead of the rules of the ops in f.
SINDRI_API TensorList custom_gradient(const TensorFn& f, Span<const Tensor> in,
                                      std::function<TensorList(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout)> vjp);

/// The function giving d sum(f)/d inputs[argnums] (all inputs when argnums is empty).
SINDRI_API TensorFn grad(TensorFn f, std::vector<int> argnums = {});
/// Value of f and gradients in one pass, with respect to inputs (argnums; empty: none) and parameters together.
SINDRI_API std::pair<TensorList, Gradients> value_and_grad(const TensorFn& f, Span<const Tensor> in, const std::vector<int>& argnums,
                                                           Span<Parameter* const> params, const TensorList& seeds = {});

}  // namespace sindri
