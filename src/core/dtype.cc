// Names and promotion of element types.
#include "sindri/core/dtype.h"

#include <array>
#include <string>

#include "sindri/core/error.h"

namespace sindri {

namespace {
struct Row {
  const char* name;
  const char* short_name;
  size_t size;
};
constexpr std::array<Row, kNumDTypes> kRows = {{{"bool", "bool", 1},
                                                {"uint8", "u8", 1},
                                                {"int32", "i32", 4},
                                                {"int64", "i64", 8},
                                                {"float16", "f16", 2},
                                                {"bfloat16", "bf16", 2},
                                                {"float32", "f32", 4},
                                                {"float64", "f64", 8}}};
const Row& row(DType t) { return kRows[static_cast<size_t>(t)]; }
}  // namespace

size_t dtype_size(DType t) { return row(t).size; }
const char* dtype_name(DType t) { return row(t).name; }
const char* dtype_short_name(DType t) { return row(t).short_name; }

DType parse_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (name == kRows[static_cast<size_t>(i)].name || name == kRows[static_cast<size_t>(i)].short_name) return static_cast<DType>(i);
  }
  throw DTypeError("unknown element type '" + std::string(name) + "'", "", "use bool, uint8, int32, int64, float16, bfloat16, float32 or float64");
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_half(a) && is_half(b)) return DType::kFloat32;
  return a > b ? a : b;
}

}  // namespace sindri
