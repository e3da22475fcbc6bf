// A function that a tape records as one record with a separate rule: shared by custom_gradient, fresh_leaf and recompute_function.
#pragma once
#include <functional>

#include "sindri/autograd/grad.h"

namespace sindri {

class UseRequest;

/// One call of the rule.
struct CustomCall {
  Span<const Tensor> in, out, dout;
  Span<const bool> needs;  ///< inputs whose gradient is requested; the other gradients may be undefined
  UseRequest* uses;  ///< null: the uses of Parameters inside are not requested
};

struct CustomFunction {
  enum class Kind : uint8_t {
    kOpaque,  ///< the tape does not see inside: a Parameter among the inputs is used by the function
    kIdentity,  ///< returns its inputs with new identities
    kComputedAgain,  ///< the rule runs the function again and reports the uses that it finds inside
  };
  Kind kind = Kind::kOpaque;
  std::function<TensorList(const CustomCall&)> vjp;

  /// Runs f(in); every tape in force records it as this function.
  TensorList run(const TensorFn& f, Span<const Tensor> in) const;
};

}  // namespace sindri
