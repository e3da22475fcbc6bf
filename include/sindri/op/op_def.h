// An op is one record. All that the rest of the system knows of an op it reads here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri {

template <class T> using Span = std::span<T>;

/// What the gradient rule of an op may read. Tensors that the op does not save (OpTraits) have a meta but no data.
struct VjpContext {
  const Attrs& attrs;
  Span<const Tensor> in;  ///< the op's inputs
  Span<const Tensor> out;  ///< the op's outputs
  Span<const Tensor> dout;  ///< gradients of the outputs; undefined where the output has none
  Span<const bool> needs;  ///< which inputs need a gradient; the rule may leave the others undefined
};

/// Mixed precision class (src/amp/amp_trace.cc): kLower runs in half (matmul, conv), kFp32 in float32 (softmax, losses), kMixed takes
/// and gives half activations beside float32 parameters (batch norm: half in memory, float32 inside), kFollow goes with its inputs.
enum class AmpClass : uint8_t { kLower, kFp32, kMixed, kFollow };

/// How an op treats physical layout. Applied by the eager and graph interpreters alike (src/op/layout_rule.h):
/// kAgnostic       every input of full output rank is brought to one layout: channels_last if any of them is, and the
///                 output has it too. Elementwise ops.
/// kFollowInput0   kernels handle input 0 (rank 4) in either layout; further rank-4 inputs follow it; rank-4 outputs too.
///                 OpTraits::layout_lead names another input to follow, such as one that the forward op saved.
/// kChannelsLastPreferred  rank-4 float inputs are brought to channels_last, except weights (see OpTraits::layout_weights).
/// kContiguousOnly inputs are brought to contiguous; outputs are contiguous.
/// kAsInferred     inputs as they come, outputs as infer states (to_layout itself).
enum class LayoutRule : uint8_t { kAgnostic, kFollowInput0, kChannelsLastPreferred, kContiguousOnly, kAsInferred };

inline constexpr uint32_t kSavesNone = 0, kSavesAll = ~0u;
/// Bit i stands for input or output i: `saves_in = saves(0, 2)`.
template <class... I> constexpr uint32_t saves(I... i) { return ((1u << i) | ... | 0u); }

/// What an op is to the rewrites of the engine, which look for roles, not for names: eager mode's views and layouts, mixed precision's casts, and the
/// patterns that src/graph/passes fuse and what they fuse them to. No two ops have one role.
enum class OpRole : uint8_t {
  kNone,
  kReshape,  ///< the bytes of input 0 under another shape
  kCast,  ///< to the type of the attribute `dtype`
  kToLayout,  ///< to the layout of the attribute `layout`
  kAdd,
  kRelu,
  kReluGrad,
  kConv2d,
  kConv2dBiasAct,  ///< a convolution, its bias, an addend and relu
  kFoldBatchNorm,  ///< a convolution's weight and bias with an evaluated batch norm's
  kBatchNormTrain,
  kBatchNormInfer,
  kBatchNormGrad,
  kBatchNormRelu,  ///< batch norm, an addend and relu
  kBatchNormReluGrad,
  kElementwiseCluster,  ///< a program of elementwise ops
  kGroupUpdate,  ///< one kind of optimizer update for many parameters
  kGroupCluster,  ///< one program of elementwise ops for many tensors
};

/// What the engine has to know of an op beside its shapes and its gradient.
struct OpTraits {
  AmpClass amp = AmpClass::kFollow;
  uint32_t amp_wide = 0;  ///< kMixed: inputs that stay float32 (parameters and statistics)
  LayoutRule layout = LayoutRule::kContiguousOnly;
  uint32_t saves_in = kSavesAll;  ///< inputs whose values the gradient rule reads
  uint32_t saves_out = kSavesNone;  ///< outputs whose values the gradient rule reads
  /// Inputs and (from bit 16) outputs that stay contiguous under kChannelsLastPreferred / kFollowInput0. On CUDA devices those of rank 4 may lie either way as inputs,
  /// and are channels-last as outputs where that is other memory (src/op/layout_rule.cc).
  uint32_t layout_weights = 0;
  uint8_t layout_lead = 0;  ///< the input that kFollowInput0 follows
  int inplace_input = -1;  ///< output 0 may take the memory of this input
  uint32_t inplace_pairs = 0;  ///< bit k: output k may take the memory of input k (update ops); any subset of them at once
  /// Pairs that depend on the attributes: may output `out` take the memory of input `in`? Those allowed may all happen at once.
  bool (*may_overwrite)(const Attrs&, size_t num_inputs, size_t out, size_t in) = nullptr;
  /// Optimizer updates: this many first inputs belong to one parameter, the scalars behind them to all; 0 for other ops. Such nodes are
  /// grouped (src/graph/passes/group_updates.cc); output k is the new value of input k.
  uint32_t update_inputs = 0;
  bool elementwise = false;  ///< output element i depends on input elements i only (after broadcasting)
  /// Output 0 holds the elements of input 0 in another shape, order, type or number, and nothing else: a parameter behind it is still that
  /// parameter (ParamUse::path).
  bool rearranges = false;
  bool random = false;  ///< reads the RNG key input; never merged by CSE across different `instance`
  Lane lane = Lane::kCompute;  ///< the queue of an asynchronous device it runs on in a graph, beside the kernels of the others
  bool host_effect = false;  ///< must not be removed or constant-folded
  OpRole role = OpRole::kNone;
};

/// An op: name, documentation, attributes, traits, shape rule and gradient rule.
struct OpDef {
  const char* name;  ///< unique, snake_case
  const char* doc;  ///< shapes, formula, errors, source
  AttrsType attrs = attrs_type<NoAttrs>();
  OpTraits traits = {};
  /// Metas of the outputs (layouts are filled in later). Throws ShapeError, DTypeError or ValueError.
  std::vector<TensorMeta> (*infer)(const Attrs&, Span<const TensorMeta> in) = nullptr;
  /// Gradient with respect to every input, written with public op functions; null: not differentiable.
  std::vector<Tensor> (*vjp)(const VjpContext&) = nullptr;
  /// What the gradient of a parameter that is input `operand` is made of beside the output's (ParamUse::input), which may be undefined; null:
  /// the first other input whose value the gradient rule reads.
  Tensor (*param_input)(const Attrs&, Span<const Tensor> in, size_t operand) = nullptr;
  /// Elementwise ops: the scalar expression, for generated kernels.
  const char* expr = nullptr;
  /// Arithmetic operations of one call, a multiplication and an addition counted as two; null: see count_flops.
  int64_t (*flops)(const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta> out) = nullptr;
};

/// What OpDef::flops says; without it one operation per output element for elementwise ops, and -1 (not known) for others.
SINDRI_API int64_t count_flops(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> in, Span<const TensorMeta> out);

/// Adds an op at start-up: `const OpDef& kRelu = register_op({.name = "relu", …});` at namespace scope of its .cc file.
SINDRI_API const OpDef& register_op(OpDef def);
/// Throws ValueError, with the nearest names, when there is no such op.
SINDRI_API const OpDef& find_op(const std::string& name);
/// The op of a role. Throws InternalError when none is registered.
SINDRI_API const OpDef& op_of(OpRole role);
/// Every op, sorted by name.
SINDRI_API std::vector<const OpDef*> all_ops();

/// Checks for infer functions; each throws with the op's name and what was found.
SINDRI_API void check_arity(const char* op, Span<const TensorMeta> in, int expected);
SINDRI_API void check_floating(const char* op, const TensorMeta& m, const char* which);
SINDRI_API void check_same_dtype(const char* op, Span<const TensorMeta> in);
SINDRI_API void check_rank(const char* op, const TensorMeta& m, const char* which, int rank);

}  // namespace sindri
