// Checks of the optimizer update ops' inputs; each error names the op and the value found.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

/// Input 0 is the parameter, float32 or float64; the named states have its shape and type.
inline void check_state(const char* op, Span<const TensorMeta> in, std::initializer_list<std::pair<size_t, const char*>> states) {
  if (in[0].dtype != DType::kFloat32 && in[0].dtype != DType::kFloat64)
    throw DTypeError(fmt::format("{}: param must be float32 or float64, got {}", op, in[0].str()), "",
                     "keep parameters in float32; mixed precision casts them when they are used");
  for (const auto& [i, which] : states) {
    if (in[i].shape != in[0].shape) throw ShapeError(fmt::format("{}: {} must have param's shape {}, got {}", op, which, in[0].shape.str(), in[i].str()));
    if (in[i].dtype != in[0].dtype) throw DTypeError(fmt::format("{}: {} must have param's type {}, got {}", op, which, dtype_name(in[0].dtype), in[i].str()));
  }
}
inline void check_grad(const char* op, const TensorMeta& param, const TensorMeta& grad) {
  check_floating(op, grad, "grad");
  if (grad.shape != param.shape) throw ShapeError(fmt::format("{}: grad must have param's shape {}, got {}", op, param.shape.str(), grad.str()));
}
inline void check_scalar(const char* op, const TensorMeta& m, const char* which) {
  check_floating(op, m, which);
  if (m.numel() != 1) throw ShapeError(fmt::format("{}: {} must hold one value, got {}", op, which, m.str()));
}
/// `fixed` inputs, then inv_scale (floating scalar) and skip (bool scalar), both optional.
inline void check_arity_with_controls(const char* op, Span<const TensorMeta> in, size_t fixed) {
  if (in.size() < fixed || in.size() > fixed + 2)
    throw ValueError(fmt::format("{}: expected {} inputs, optionally followed by inv_scale and skip, got {}", op, fixed, in.size()));
  const bool has_skip = in.size() > fixed && in.back().dtype == DType::kBool;
  if (in.size() == fixed + 2 && !has_skip) throw DTypeError(fmt::format("{}: skip must be bool, got {}", op, in.back().str()));
  if (has_skip && in.back().numel() != 1) throw ShapeError(fmt::format("{}: skip must hold one value, got {}", op, in.back().str()));
  if (in.size() - (has_skip ? 1 : 0) > fixed) check_scalar(op, in[fixed], "inv_scale");
}
inline void check_not_negative(const char* op, double v, const char* which) {
  if (!(v >= 0)) throw ValueError(fmt::format("{}: {} must be at least 0, got {}", op, which, v));
}
inline void check_unit_interval(const char* op, double v, const char* which) {
  if (!(v >= 0 && v < 1)) throw ValueError(fmt::format("{}: {} must be in [0, 1), got {}", op, which, v));
}

}  // namespace sindri::ops
