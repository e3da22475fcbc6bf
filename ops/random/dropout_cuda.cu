// dropout and dropout_grad on CUDA devices (one computation), with the CPU's masks. A thread draws a block of four words and applies it to its four elements.
// In channels-last tensors these are a pixel apart, so neighbouring threads process neighbouring channels. Memory traffic: x read once, y written once.
#include "ops/random/random_cuda.h"
#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

using namespace random_ops;

struct Mask {
  int64_t n = 0;  // blocks, or elements if each thread processes one
  int64_t each = 0;  // elements per sample
  int64_t channels = 1, pixels = 0;
  Divisor of_sample, by_channels;
  int32_t threshold = 0;
  float scale = 1;
  double scale64 = 1;
};

template <class E> SINDRI_DEVICE E masked(const Mask& m, uint32_t word, E x) {
  if (static_cast<int32_t>(word >> 8) >= m.threshold) return store_as<E>(0.0f);
  if constexpr (std::is_same_v<E, double>) return x * m.scale64;
  else return store_as<E>(load(x) * m.scale);
}

template <class E> struct alignas(sizeof(E) * 4 > 16 ? 16 : sizeof(E) * 4) Four { E e[4]; };

template <class E> __global__ void mask_rows(Mask m, int64_t instance, bool together, const int64_t* state, const E* x, E* y) {
  const DeviceStream stream = stream_of(state, instance);
  for (int64_t i = global_thread(); i < m.n; i += global_threads()) {
    const int64_t sample = m.of_sample.quotient(i), block = i - sample * m.of_sample.value, at = sample * m.each + block * 4;
    const Words w = block_of(stream, sample, static_cast<uint32_t>(block));
    if (together) {
      Four<E> f = *reinterpret_cast<const Four<E>*>(x + at);
      for (int k = 0; k < 4; ++k) f.e[k] = masked(m, w.w[k], f.e[k]);
      *reinterpret_cast<Four<E>*>(y + at) = f;
    } else {
      for (int k = 0; k < 4; ++k)
        if (block * 4 + k < m.each) y[at + k] = masked(m, w.w[k], x[at + k]);
    }
  }
}

// Samples stored as H, W, C: logical element c·HW + p is at p·C + c. Four pixels of a channel share a block if HW is a multiple of four.
template <class E> __global__ void mask_channels_last(Mask m, int64_t instance, const int64_t* state, const E* x, E* y) {
  const DeviceStream stream = stream_of(state, instance);
  for (int64_t i = global_thread(); i < m.n; i += global_threads()) {
    const int64_t sample = m.of_sample.quotient(i), in_sample = i - sample * m.of_sample.value;
    const int64_t group = m.by_channels.quotient(in_sample), c = in_sample - group * m.channels, e = c * m.pixels + group * 4;
    const Words w = block_of(stream, sample, static_cast<uint32_t>(e / 4));
    for (int k = 0; k < 4; ++k) {
      const int64_t at = sample * m.each + (group * 4 + k) * m.channels + c;
      y[at] = masked(m, w.w[k], x[at]);
    }
  }
}
// The same for other sizes: one block per element.
template <class E> __global__ void mask_each(Mask m, int64_t instance, const int64_t* state, const E* x, E* y) {
  const DeviceStream stream = stream_of(state, instance);
  for (int64_t i = global_thread(); i < m.n; i += global_threads()) {
    const int64_t sample = m.of_sample.quotient(i), in_sample = i - sample * m.of_sample.value;
    const int64_t p = m.by_channels.quotient(in_sample), e = (in_sample - p * m.channels) * m.pixels + p;
    const Words w = block_of(stream, sample, static_cast<uint32_t>(e / 4));
    const auto k = static_cast<int>(e % 4);
    y[i] = masked(m, k == 0 ? w.w[0] : k == 1 ? w.w[1] : k == 2 ? w.w[2] : w.w[3], x[i]);
  }
}

void run(const Call& call) {
  const auto& a = call.query.attrs.as<DropoutAttrs>();
  const TensorMeta& x = *call.in[0].meta;
  if (x.numel() == 0) return;
  const Samples s = samples_of(x.shape);
  Mask m;
  m.each = s.each;
  m.threshold = threshold24(a.keep_prob);
  m.scale64 = 1 / a.keep_prob;
  m.scale = static_cast<float>(m.scale64);
  const bool last = x.layout == Layout::kChannelsLast;
  m.channels = last ? x.shape[1] : 1;
  m.pixels = s.each / m.channels;
  const bool fours = !last || m.pixels % 4 == 0;
  const int64_t of_sample = fours ? ceil_div(s.each, 4) : s.each;
  m.n = s.count * of_sample;
  m.of_sample = Divisor(of_sample, m.n);
  m.by_channels = Divisor(m.channels, m.n);
  const bool together = s.each % 4 == 0 && (reinterpret_cast<uintptr_t>(call.in[0].data) | reinterpret_cast<uintptr_t>(call.out[0].data)) % 16 == 0;
  const auto* const state = call.input<int64_t>(1);
  dispatch_floating_element(x.dtype, [&]<class E>() {
    if (!last) launch(call, grid_for(m.n), mask_rows<E>, m, a.instance, together, state, call.input<E>(0), call.output<E>(0));
    else if (fours) launch(call, grid_for(m.n), mask_channels_last<E>, m, a.instance, state, call.input<E>(0), call.output<E>(0));
    else launch(call, grid_for(m.n), mask_each<E>, m, a.instance, state, call.input<E>(0), call.output<E>(0));
  });
}

const bool kDropout = register_cuda_kernel({.op = "dropout", .run = run});
const bool kDropoutGrad = register_cuda_kernel({.op = "dropout_grad", .run = run});

}  // namespace
}  // namespace sindri::cuda
