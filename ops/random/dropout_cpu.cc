// dropout and dropout_grad on the CPU (one computation): draws the words for a stretch of a sample, then applies the mask.
#include <algorithm>

#include "ops/random/random_ops.h"
#include "ops/random/random_simd.h"
#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace random_ops;

template <class T> T kept(T x, double scale) {
  if constexpr (std::is_same_v<T, double>) return x * scale;
  else return T(static_cast<float>(x) * static_cast<float>(scale));
}

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<DropoutAttrs>();
  const RandomStream stream(in[1].as<int64_t>(), a.instance);
  const int32_t threshold = threshold24(a.keep_prob);
  const int64_t each = samples_of(q.in[0].shape).each;
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    for_each_element(q.in[0], [&](int64_t i, int64_t at) {
      const int64_t sample = i / each, e = i % each;
      const uint32_t word = stream.block(sample, static_cast<uint32_t>(e / 4))[static_cast<size_t>(e % 4)];
      const bool keep = static_cast<int32_t>(word >> 8) < threshold;
      out[0].as<T>()[at] = keep ? kept(in[0].as<T>()[at], 1 / a.keep_prob) : T(0);
    });
  });
}

constexpr int64_t kStretch = 4096;  // elements whose words are drawn at a time: 16 KiB, a multiple of four

// Elements [e, e + n) of one sample stored in row-major order.
template <class T> void apply_row(const T* x, const uint32_t* words, T* y, int64_t n, int32_t threshold, double scale) {
  if constexpr (std::is_same_v<T, float>) {
    SINDRI_SIMD_CALL(dropout_f32)(x, words, y, n, threshold, static_cast<float>(scale));
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    SINDRI_SIMD_CALL(dropout_bf16)(&x->bits, words, &y->bits, n, threshold, static_cast<float>(scale));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int32_t>(words[i] >> 8) < threshold ? kept(x[i], scale) : T(0);
  }
}

// The same for a sample stored as H, W, C: logical element c·HW + p is at p·C + c.
template <class T>
void apply_channels_last(const T* x, const uint32_t* words, T* y, int64_t e, int64_t n, int64_t channels, int64_t pixels, int32_t threshold, double scale) {
  int64_t c = e / pixels, p = e % pixels;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = p * channels + c;
    y[at] = static_cast<int32_t>(words[i] >> 8) < threshold ? kept(x[at], scale) : T(0);
    if (++p == pixels) {
      p = 0;
      ++c;
    }
  }
}

void run_blocked(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<DropoutAttrs>();
  const TensorMeta& m = q.in[0];
  if (m.numel() == 0) return;
  const RandomStream stream(in[1].as<int64_t>(), a.instance);
  const int32_t threshold = threshold24(a.keep_prob);
  const double scale = 1 / a.keep_prob;
  const Samples s = samples_of(m.shape);
  const int64_t stretches = (s.each + kStretch - 1) / kStretch;
  const bool last = m.layout == Layout::kChannelsLast;
  const int64_t channels = last ? m.shape[1] : 1, pixels = s.each / channels;
  dispatch_dtype(m.dtype, [&]<class T>() {
    parallel_for(s.count * stretches, std::max<int64_t>(1, 16384 / std::min(s.each, kStretch)), [&](int64_t begin, int64_t end) {
      alignas(64) uint32_t words[kStretch];
      for (int64_t t = begin; t < end; ++t) {
        const int64_t sample = t / stretches, e = t % stretches * kStretch, n = std::min(kStretch, s.each - e);
        const auto counter = stream.sample(sample);
        SINDRI_SIMD_CALL(philox_blocks)(stream.key.data(), counter.data(), static_cast<uint32_t>(e / 4), (n + 3) / 4, words);
        const T* x = in[0].as<T>() + sample * s.each;
        T* y = out[0].as<T>() + sample * s.each;
        if (last) apply_channels_last(x, words, y, e, n, channels, pixels, threshold, scale);
        else apply_row(x + e, words, y + e, n, threshold, scale);
      }
    });
  });
}

const bool kDropout = register_kernel({.op = "dropout", .name = "blocked", .simple = run_blocked});
const bool kDropoutGrad = register_kernel({.op = "dropout_grad", .name = "blocked", .simple = run_blocked});
const bool kDropoutReference = register_kernel({.op = "dropout", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kDropoutGradReference = register_kernel({.op = "dropout_grad", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
