// Element types that an elementwise op supports; see unary.def and binary.def.
#pragma once

namespace sindri::elementwise {

enum class Domain { kNumericBool, kNumeric, kFloating, kPredicate, kIntegral };
using enum Domain;

}  // namespace sindri::elementwise
