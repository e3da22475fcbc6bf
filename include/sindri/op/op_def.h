// Definition of an op: one record from which the rest of the system reads everything about the op.
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

/// Arguments of an op's gradient rule. Tensors that the op does not save (OpTraits) have a meta but no data.
struct VjpContext {
  const Attrs& attrs;  ///< the op's attributes
  Span<const Tensor> in;  ///< the op's inputs
  Span<const Tensor> out;  ///< the op's outputs
  Span<const Tensor> dout;  ///< gradients of the outputs; undefined for an output without one
  Span<const bool> needs;  ///< which inputs need a gradient; the rule may leave the others undefined
};

/// Mixed precision class (src/amp/amp_trace.cc). kLower: runs in half precision (matmul, conv). kFp32: runs in float32 (softmax,
/// losses). kMixed: half activations and float32 parameters (batch norm: half in memory, float32 inside). kFollow: follows its
/// inputs.
enum class AmpClass : uint8_t { kLower, kFp32, kMixed, kFollow };

/// Treatment of physical layouts, the same in the eager and the graph interpreter (src/op/layout_rule.h).
/// kAgnostic       every input of full output rank is converted to one layout: channels_last if any of them is, and the
///                 output has it too. Elementwise ops.
/// kFollowInput0   kernels handle input 0 (rank 4) in either layout; further rank-4 inputs follow it; rank-4 outputs too.
///                 OpTraits::layout_lead names another input to follow, such as one that the forward op saved.
/// kChannelsLastPreferred  rank-4 float inputs are converted to channels_last, except weights (see OpTraits::layout_weights).
/// kContiguousOnly inputs are converted to contiguous; outputs are contiguous.
/// kAsInferred     inputs are not converted; outputs have the layout that infer states (to_layout itself).
enum class LayoutRule : uint8_t { kAgnostic, kFollowInput0, kChannelsLastPreferred, kContiguousOnly, kAsInferred };

/// Values of OpTraits::saves_in and saves_out: nothing, everything.
inline constexpr uint32_t kSavesNone = 0, kSavesAll = ~0u;
/// Bit i stands for input or output i: `saves_in = saves(0, 2)`.
template <class... I> constexpr uint32_t saves(I... i) { return ((1u << i) | ... | 0u); }

/// Role of an op in the engine's rewrites, which look for roles rather than names. There are roles for views and layouts in eager
/// mode, for casts of mixed precision, and for the patterns that src/graph/passes fuse and the fused ops. No two ops share a
/// role.
enum class OpRole : uint8_t {
  kNone,
  kReshape,  ///< the bytes of input 0 in another shape
  kCast,  ///< to the type of the attribute `dtype`
  kToLayout,  ///< to the layout of the attribute `layout`
  kAdd,
  kRelu,
  kReluGrad,
  kConv2d,
  kConv2dBiasAct,  ///< a convolution, its bias, an addend and relu
  kFoldBatchNorm,  ///< a convolution's weight and bias with an evaluated batch norm folded in
  kBatchNormTrain,
  kBatchNormInfer,
  kBatchNormGrad,
  kBatchNormRelu,  ///< batch norm, an addend and relu
  kBatchNormReluGrad,
  kElementwiseCluster,  ///< a program of elementwise ops
  kGroupUpdate,  ///< one kind of optimizer update for many parameters
  kGroupCluster,  ///< one program of elementwise ops for many tensors
};

/// Properties of an op that the engine needs besides its shapes and its gradient.
struct OpTraits {
  AmpClass amp = AmpClass::kFollow;  ///< class in mixed precision
  uint32_t amp_wide = 0;  ///< kMixed: bit mask of the inputs that stay float32 (parameters and statistics)
  LayoutRule layout = LayoutRule::kContiguousOnly;  ///< treatment of layouts
  uint32_t saves_in = kSavesAll;  ///< inputs whose values the gradient rule reads
  uint32_t saves_out = kSavesNone;  ///< outputs whose values the gradient rule reads
  /// Inputs and (from bit 16) outputs that stay contiguous under kChannelsLastPreferred and kFollowInput0. On CUDA devices, such
  /// inputs of rank 4 may have either layout, and such outputs are channels-last if that is a different order in memory
  /// (src/op/layout_rule.cc).
  uint32_t layout_weights = 0;
  uint8_t layout_lead = 0;  ///< the input that kFollowInput0 follows
  int inplace_input = -1;  ///< output 0 may use the memory of this input; -1: none
  uint32_t inplace_pairs = 0;  ///< bit k: output k may use the memory of input k (update ops); any subset of these pairs at once
  /// Pairs that depend on the attributes: whether output `out` may use the memory of input `in`. All allowed pairs may apply at
  /// once.
  bool (*may_overwrite)(const Attrs&, size_t num_inputs, size_t out, size_t in) = nullptr;
  /// Optimizer updates: the number of leading inputs that belong to one parameter; the scalars after them are shared by all
  /// parameters. 0 for other ops. Such nodes are grouped (src/graph/passes/group_updates.cc); output k is the new value of input
  /// k.
  uint32_t update_inputs = 0;
  bool elementwise = false;  ///< output element i depends only on element i of the inputs (after broadcasting)
  /// Output 0 holds the elements of input 0 in another shape, order, type or number, and nothing else. A parameter passed through
  /// such an op is still that parameter (ParamUse::path).
  bool rearranges = false;
  bool random = false;  ///< reads the RNG key input; CSE never merges nodes with different `instance`
  Lane lane = Lane::kCompute;  ///< queue of an asynchronous device on which it runs in a graph, concurrently with the kernels of other lanes
  bool host_effect = false;  ///< must not be removed or constant-folded
  OpRole role = OpRole::kNone;  ///< role in the engine's rewrites
};

/// An op: name, documentation, attributes, traits, shape rule and gradient rule.
struct OpDef {
  const char* name;  ///< unique, snake_case
  const char* doc;  ///< shapes, formula, errors, source
  AttrsType attrs = attrs_type<NoAttrs>();  ///< attributes of the op
  OpTraits traits = {};  ///< properties for the engine
  /// Returns the metas of the outputs; layouts are filled in later. Throws ShapeError, DTypeError or ValueError.
  std::vector<TensorMeta> (*infer)(const Attrs&, Span<const TensorMeta> in) = nullptr;
  /// Returns the gradient with respect to every input, written with public op functions. Null: not differentiable.
  std::vector<Tensor> (*vjp)(const VjpContext&) = nullptr;
  /// For a parameter that is input `operand`: returns the tensor from which the parameter's gradient is computed, together with
  /// the output's gradient (ParamUse::input); may be undefined. Null: the first other input whose value the gradient rule reads.
  Tensor (*param_input)(const Attrs&, Span<const Tensor> in, size_t operand) = nullptr;
  /// Elementwise ops: the scalar expression, for generated kernels.
  const char* expr = nullptr;
  /// Returns the arithmetic operations of one call; a multiplication and an addition count as two. Null: see count_flops.
  int64_t (*flops)(const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta> out) = nullptr;
};

/// Arithmetic operations by OpDef::flops. Without it, one per output element for elementwise ops and -1 (unknown) for others.
SINDRI_API int64_t count_flops(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> in, Span<const TensorMeta> out);

/// Registers an op at start-up: `const OpDef& kRelu = register_op({.name = "relu", …});` at namespace scope of its .cc file.
SINDRI_API const OpDef& register_op(OpDef def);
/// The op of that name. Throws ValueError, with the nearest names, if there is none.
SINDRI_API const OpDef& find_op(const std::string& name);
/// The op with that role. Throws InternalError if none is registered.
SINDRI_API const OpDef& op_of(OpRole role);
/// All ops, sorted by name.
SINDRI_API std::vector<const OpDef*> all_ops();

/// Checks for infer functions: number of inputs (ValueError), floating type and equal types (DTypeError), rank (ShapeError). Each
/// error names the op and what was found; `which` names the input.
SINDRI_API void check_arity(const char* op, Span<const TensorMeta> in, int expected);
SINDRI_API void check_floating(const char* op, const TensorMeta& m, const char* which);
SINDRI_API void check_same_dtype(const char* op, Span<const TensorMeta> in);
SINDRI_API void check_rank(const char* op, const TensorMeta& m, const char* which, int rank);

}  // namespace sindri
