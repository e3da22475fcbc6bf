// Functions of the gradient ops in binary.def: dy is the gradient of the output, the second argument the tensor that the op saved.
#pragma once

#include "sindri/core/tensor.h"

namespace sindri::ops {

Tensor larger_share(const Tensor& a, const Tensor& b);
Tensor relu_grad(const Tensor& dy, const Tensor& y);
Tensor relu6_grad(const Tensor& dy, const Tensor& y);
Tensor leaky_relu_grad(const Tensor& dy, const Tensor& x, double alpha);
Tensor elu_grad(const Tensor& dy, const Tensor& x, double alpha);
Tensor tanh_grad(const Tensor& dy, const Tensor& y);
Tensor sigmoid_grad(const Tensor& dy, const Tensor& y);
Tensor gelu_grad(const Tensor& dy, const Tensor& x, bool approximate);
Tensor silu_grad(const Tensor& dy, const Tensor& x);
Tensor hswish_grad(const Tensor& dy, const Tensor& x);
Tensor hsigmoid_grad(const Tensor& dy, const Tensor& x);
Tensor clamp_grad(const Tensor& dy, const Tensor& x, double lo, double hi);

}  // namespace sindri::ops
