// fold_batch_norm: w s and beta - mean s with s = gamma / sqrt(var + eps) for each output channel. Reads and writes the weight once. It runs once per weight
// and evaluation, so it computes in double like the CPU.
#include "ops/conv/conv_geometry.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

struct Vector {
  const void* data;
  bool wide;  // float for half types, otherwise the weight's type
};
template <class E> SINDRI_DEVICE double value(const Vector& v, int64_t i) {
  return v.wide ? static_cast<double>(static_cast<const float*>(v.data)[i]) : static_cast<double>(load(static_cast<const E*>(v.data)[i]));
}
template <class E> SINDRI_DEVICE double factor(const Vector& gamma, const Vector& var, double eps, int64_t o) {
  return value<E>(gamma, o) / sqrt(value<E>(var, o) + eps);
}

// `each` elements of w belong to a channel.
template <class E> __global__ void fold_weight(const E* w, Vector gamma, Vector var, double eps, E* scaled, int64_t n, Divisor each) {
  for (int64_t i = global_thread(); i < n; i += global_threads())
    scaled[i] = store_as<E>(static_cast<double>(load(w[i])) * factor<E>(gamma, var, eps, each.quotient(i)));
}
// The bias has gamma's type.
template <class E> __global__ void fold_bias(Vector gamma, Vector beta, Vector mean, Vector var, double eps, void* bias, int64_t channels) {
  for (int64_t o = global_thread(); o < channels; o += global_threads()) {
    const double v = value<E>(beta, o) - value<E>(mean, o) * factor<E>(gamma, var, eps, o);
    if (gamma.wide) static_cast<float*>(bias)[o] = static_cast<float>(v);
    else static_cast<E*>(bias)[o] = store_as<E>(v);
  }
}

void run(const Call& call) {
  const TensorMeta& w = *call.in[0].meta;
  const int64_t n = w.numel(), channels = w.shape[0];
  if (channels == 0) return;
  const double eps = call.query.attrs.as<conv::FoldBatchNormAttrs>().eps;
  const auto vector = [&](size_t i) { return Vector{call.in[i].data, call.in[i].meta->dtype != w.dtype}; };
  dispatch_floating_element(w.dtype, [&]<class E>() {
    launch(call, grid_for(channels), fold_bias<E>, vector(1), vector(2), vector(3), vector(4), eps, call.out[1].data, channels);
    if (n > 0) launch(call, grid_for(n), fold_weight<E>, call.input<E>(0), vector(1), vector(4), eps, call.output<E>(0), n, Divisor(n / channels, n));
  });
}

const bool kFold = register_cuda_kernel({.op = "fold_batch_norm", .run = run});

}  // namespace
}  // namespace sindri::cuda
