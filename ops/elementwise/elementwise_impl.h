// Shared by the definition and the kernels of elementwise ops: attributes as numbers, operand strides under broadcasting.
#pragma once

#include <array>
#include <limits>

#include "ops/elementwise/domain.h"
#include "sindri/core/tensor.h"
#include "sindri/op/attrs.h"
#include "src/core/tensor_impl.h"

namespace sindri::elementwise {

struct LeakyReluAttrs {
  double alpha = 0.2;
  SINDRI_ATTRS(LeakyReluAttrs, alpha)
};
struct EluAttrs {
  double alpha = 1.0;
  SINDRI_ATTRS(EluAttrs, alpha)
};
struct GeluAttrs {
  bool approximate = true;
  SINDRI_ATTRS(GeluAttrs, approximate)
};
struct ClampAttrs {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  SINDRI_ATTRS(ClampAttrs, lo, hi)
};
struct CastAttrs {
  DType dtype = DType::kFloat32;
  SINDRI_ATTRS(CastAttrs, dtype)
};

/// p0 and p1 of the expressions: the attributes in the order of their declaration.
inline std::array<double, 2> numbers_of(const Attrs& attrs) {
  std::array<double, 2> p{};
  size_t i = 0;
  for (const AttrField& f : attrs.fields()) {
    if (i == p.size()) break;
    if (const auto* d = std::get_if<double>(&f.value)) p[i++] = *d;
    else if (const auto* b = std::get_if<bool>(&f.value)) p[i++] = *b ? 1.0 : 0.0;
  }
  return p;
}

/// Elements to advance in the memory of `operand` per step of each dimension of `out`; 0 where the operand is repeated.
inline Shape operand_strides(const TensorMeta& operand, const Shape& out) {
  Shape own = contiguous_strides(operand.shape);
  if (operand.layout == Layout::kChannelsLast) {
    const int64_t c = operand.shape[1], h = operand.shape[2], w = operand.shape[3];
    own = {h * w * c, 1, w * c, c};
  }
  Shape strides = Shape::filled(out.rank(), 0);
  const int lead = out.rank() - operand.shape.rank();
  for (int i = 0; i < operand.shape.rank(); ++i) strides[lead + i] = operand.shape[i] == 1 && out[lead + i] != 1 ? 0 : own[i];
  return strides;
}

}  // namespace sindri::elementwise
