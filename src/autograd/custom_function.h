// A function that a tape knows as one record with a rule of its own: what custom_gradient, fresh_leaf and recompute_function share.
#pragma once
#include <functional>

#include "sindri/autograd/grad.h"

namespace sindri {

class UseRequest;

/// One call of the rule.
struct CustomCall {
  Span<const Tensor> in, out, dout;
  Span<const bool> needs;  ///< inputs that a gradient is asked for; those of the others may be left undefined
  UseRequest* uses;  ///< null: nobody asks for the uses of Parameters inside
};

struct CustomFunction {
  enum class Kind : uint8_t {
    kOpaque,  ///< what happens inside is the rule's own affair: a Parameter among the inputs is used by the function
    kIdentity,  ///< gives its inputs under other identities
    kComputedAgain,  ///< the rule runs it again and reports the uses inside
  };
  Kind kind = Kind::kOpaque;
  std::function<TensorList(const CustomCall&)> vjp;

  /// f(in), recorded as this function by every tape in force.
  TensorList run(const TensorFn& f, Span<const Tensor> in) const;
};

}  // namespace sindri
