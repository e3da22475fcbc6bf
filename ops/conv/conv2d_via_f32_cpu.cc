// conv2d, its gradients and conv2d_bias_act for half types that oneDNN does not support on this processor (float16 anywhere in
// version 2.6; bfloat16 without avx512_bf16 or if its instructions are slow).
#include "src/op/via_float32.h"

namespace sindri {
namespace {

const bool kForward = register_via_float32("conv2d"), kInputGrad = register_via_float32("conv2d_input_grad"),
           kWeightGrad = register_via_float32("conv2d_weight_grad"), kBiasAct = register_via_float32("conv2d_bias_act");

}  // namespace
}  // namespace sindri
