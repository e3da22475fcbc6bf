// The casting rule, by the op's AmpClass:
//
//             kLower   kFp32     kMixed                           kFollow
//    O1       half     float32   float32                          widest input
//    O2       half     float32   half, parameters float32         half
//    O3       half     float32   half                             half
//
// Under to_float every op runs in the Cell's type, except ops that read a tensor the user has cast: they run in the
// widest input's type, and their results count as cast too.
//
// A level may mark Cells (Options::by_cells). It then applies to_float to the Cells that its lists name, or to all
// others; ops outside of marked Cells are not changed.
//
// keep_batchnorm_fp32 selects between the O2 row and the O3 row of kMixed. Lists and to_float take precedence over the
// table. Integers, bool and float64 are never cast; ops without a gradient rule (comparisons, argmax) stay at the
// widest input, so that their decisions do not depend on the level.
#include "src/amp/amp_trace.h"

#include <algorithm>
#include <string_view>

namespace sindri::amp {

namespace {

bool castable(const Tensor& t) { return is_floating(t.dtype()) && t.dtype() != DType::kFloat64; }

// These set their result type themselves, only move bytes, or pass the program's values to the host.
bool keeps_types(const OpDef& op) {
  return op.traits.role == OpRole::kCast || op.traits.role == OpRole::kToLayout || (op.traits.host_effect && op.traits.lane == Lane::kCompute);
}

// Returns the common type of all castable inputs, float32 if they differ.
DType widest(Span<const Tensor> in) {
  DType found = DType::kBool;
  for (const Tensor& t : in) {
    if (!castable(t)) continue;
    if (found != DType::kBool && t.dtype() != found) return DType::kFloat32;
    found = t.dtype();
  }
  return found;
}

const OpDef& cast_op() {
  static const OpDef& op = op_of(OpRole::kCast);
  return op;
}

const Attrs& cast_attrs(DType dtype) {
  static const Attrs bf16 = cast_op().attrs.make({{"dtype", DType::kBFloat16}}), f16 = cast_op().attrs.make({{"dtype", DType::kFloat16}}),
                     f32 = cast_op().attrs.make({{"dtype", DType::kFloat32}});
  return dtype == DType::kBFloat16 ? bf16 : dtype == DType::kFloat16 ? f16 : f32;
}

}  // namespace

AmpTrace::Rule AmpTrace::rule_for(const OpDef& op) const {
  if (policy.kind == Policy::Kind::kOff || policy.kind == Policy::Kind::kMarked || keeps_types(op)) return {};
  if (policy.mixed && op.traits.amp == AmpClass::kMixed) return {Target::kMixed, policy.dtype};
  const bool follows = op.traits.amp == AmpClass::kFollow;
  if (policy.kind == Policy::Kind::kUniform) return follows && op.vjp == nullptr ? Rule{Target::kWidest} : Rule{Target::kOne, policy.dtype};
  const Options& o = *policy.options;
  if (contains(o.black_list, op.name)) return {Target::kOne, DType::kFloat32};
  if (contains(o.white_list, op.name)) return {Target::kOne, o.dtype};
  switch (op.traits.amp) {
    case AmpClass::kFp32: return {Target::kOne, DType::kFloat32};
    case AmpClass::kLower: return o.level == Level::kO0 ? Rule{Target::kWidest} : Rule{Target::kOne, o.dtype};
    case AmpClass::kMixed:
      if (o.level <= Level::kO1) return {Target::kOne, DType::kFloat32};
      return {o.keeps_batchnorm() ? Target::kMixed : Target::kOne, o.dtype};
    default: return o.level <= Level::kO1 || op.vjp == nullptr ? Rule{Target::kWidest} : Rule{Target::kOne, o.dtype};
  }
}

Tensor AmpTrace::converted(const Tensor& t, DType dtype, Trace* below) {
  if (!castable(t) || t.dtype() == dtype) return t;
  for (const auto& [id, source] : widened_) {
    if (id == t.id() && source.dtype() == dtype) return source;
  }
  return apply_below(below, cast_op(), cast_attrs(dtype), {&t, 1})[0];
}

std::vector<Tensor> AmpTrace::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) {
  Rule rule = rule_for(op);
  const bool held = !held_.empty() && std::any_of(in.begin(), in.end(), [&](const Tensor& t) { return castable(t) && held_.contains(t.id()); });
  if (held && rule.target == Target::kOne && policy.kind == Policy::Kind::kUniform) rule = {Target::kWidest};
  if (rule.target == Target::kAsIs) {
    std::vector<Tensor> out = apply_below(below, op, attrs, in);
    if (&op == &cast_op() && is_half(in[0].dtype()) && out[0].dtype() == DType::kFloat32) {
      widened_[next_widened_] = {out[0].id(), in[0]};
      next_widened_ = (next_widened_ + 1) % widened_.size();
    }
    if (held) hold_all(out);
    return out;
  }
  if (std::any_of(in.begin(), in.end(), [](const Tensor& t) { return t.dtype() == DType::kFloat64; })) return apply_below(below, op, attrs, in);
  const DType common = rule.target == Target::kWidest ? widest(in) : rule.dtype;
  std::vector<Tensor> cast(in.begin(), in.end());
  for (size_t i = 0; i < cast.size(); ++i) {
    const bool wide = rule.target == Target::kMixed && i < 32 && (op.traits.amp_wide >> i & 1u) != 0;
    cast[i] = converted(cast[i], wide ? DType::kFloat32 : common, below);
  }
  std::vector<Tensor> out = apply_below(below, op, attrs, cast);
  if (held) hold_all(out);
  return out;
}

void AmpTrace::hold_all(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors)
    if (castable(t)) hold(t);
}

}  // namespace sindri::amp
