// Random tensors on the CPU. The reference kernels draw element by element; the others fill stretches of a sample from
// consecutive blocks, in parallel. Both use the same words, so uniform and Bernoulli values are bitwise identical.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include "ops/random/random_ops.h"
#include "ops/random/random_simd.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace random_ops;

template <class T> T converted(double v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(v);
  else return T(static_cast<float>(v));
}

constexpr int64_t kStretch = 2048;  // elements filled from one buffer of words, a multiple of four

// 64-bit word k of a block.
uint64_t wide(const uint32_t* words, int64_t k) { return static_cast<uint64_t>(words[2 * k + 1]) << 32 | words[2 * k]; }
// Words per element of T: float64 uses 53 random bits, the others 24.
template <class T> constexpr int64_t kWords = std::is_same_v<T, double> ? 2 : 1;
template <class T> double unit(const uint32_t* words, int64_t i) {
  if constexpr (kWords<T> == 2) return u64_to_unit_double(wide(words, i));
  else return static_cast<double>(u32_to_unit_float(words[i]));
}

// Like fill_stretches, but for samples of few blocks (with one dimension, samples have one element). It computes the blocks of several samples together,
// whereas fill_stretches combines blocks of one sample. Elements of the last blocks beyond the samples are computed and dropped.
template <class T, class F> void fill_small_samples(const Samples& s, const RandomStream& stream, T* y, F&& f) {
  const int64_t per_block = 4 / kWords<T>, blocks = (s.each + per_block - 1) / per_block, padded = blocks * per_block, group = kStretch / padded;
  parallel_for((s.count + group - 1) / group, 4, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[2 * kStretch];
    alignas(64) T drawn[kStretch];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t first = t * group, n = std::min(group, s.count - first);
      const bool wraps = stream.sample(first + n - 1)[0] < stream.sample(first)[0];  // carries into the upper bits of the sample's number
      const int64_t together = wraps ? 1 : n;
      for (int64_t i = 0; i < n; i += together) {
        const auto from = stream.sample(first + i);
        for (int64_t b = 0; b < blocks; ++b) {
          uint32_t* const to = words + 4 * (i * blocks + b);
          SINDRI_SIMD_CALL(philox_samples)(stream.key.data(), from.data(), static_cast<uint32_t>(b), together, 4 * blocks, to);
        }
      }
      f(drawn, words, n * padded);
      for (int64_t i = 0; i < n; ++i) std::copy_n(drawn + i * padded, s.each, y + (first + i) * s.each);
    }
  });
}

// Calls f(y, words, n) for stretches of every sample: n elements at y, whose words start at `words`.
template <class T, class F> void fill_stretches(const KernelQuery& q, const RandomStream& stream, T* y, F&& f) {
  const Samples s = samples_of(q.out[0].shape);
  if (s.count * s.each == 0) return;
  if (s.each <= 32) return fill_small_samples(s, stream, y, f);
  const int64_t stretches = (s.each + kStretch - 1) / kStretch;
  parallel_for(s.count * stretches, std::max<int64_t>(1, 8192 / std::min(s.each, kStretch)), [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[2 * kStretch];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t e = t % stretches * kStretch, n = std::min(kStretch, s.each - e), per_block = 4 / kWords<T>;
      const auto counter = stream.sample(t / stretches);
      SINDRI_SIMD_CALL(philox_blocks)(stream.key.data(), counter.data(), static_cast<uint32_t>(e / per_block), (n + per_block - 1) / per_block, words);
      f(y + t / stretches * s.each + e, words, n);
    }
  });
}

// Calls f(i, block, k) for every element i, where k is its index among the elements of its block.
template <class T, class F> void for_each_drawn(const KernelQuery& q, const RandomStream& stream, F&& f) {
  const Samples s = samples_of(q.out[0].shape);
  const int64_t per_block = 4 / kWords<T>;
  for (int64_t i = 0; i < q.out[0].numel(); ++i) {
    const int64_t e = i % s.each;
    f(i, stream.block(i / s.each, static_cast<uint32_t>(e / per_block)), e % per_block);
  }
}

void uniform_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<UniformAttrs>();
  dispatch_dtype(a.dtype, [&]<class T>() {
    for_each_drawn<T>(q, RandomStream(in[0].as<int64_t>(), a.instance), [&](int64_t i, const std::array<uint32_t, 4>& block, int64_t k) {
      out[0].as<T>()[i] = converted<T>(a.low + (a.high - a.low) * unit<T>(block.data(), k));
    });
  });
}

void uniform_blocked(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<UniformAttrs>();
  dispatch_dtype(a.dtype, [&]<class T>() {
    fill_stretches<T>(q, RandomStream(in[0].as<int64_t>(), a.instance), out[0].as<T>(), [&](T* y, const uint32_t* words, int64_t n) {
      for (int64_t i = 0; i < n; ++i) y[i] = converted<T>(a.low + (a.high - a.low) * unit<T>(words, i));
    });
  });
}

void bernoulli_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BernoulliAttrs>();
  const int32_t threshold = threshold24(a.p);
  dispatch_dtype(a.dtype, [&]<class T>() {
    for_each_drawn<float>(q, RandomStream(in[0].as<int64_t>(), a.instance), [&](int64_t i, const std::array<uint32_t, 4>& block, int64_t k) {
      out[0].as<T>()[i] = converted<T>(static_cast<int32_t>(block[static_cast<size_t>(k)] >> 8) < threshold ? 1 : 0);
    });
  });
}

// Two normal values from two uniform ones, with the C library's functions.
std::pair<double, double> box_muller(double u, double v) {
  const double r = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
  return {r * std::cos(angle), r * std::sin(angle)};
}
// Normal value k of the block, computed from pair k/2: u is its first word and v its second.
template <class T> double normal_of(const std::array<uint32_t, 4>& block, int64_t k) {
  const auto pair = [&] {
    if constexpr (kWords<T> == 2)
      return box_muller((static_cast<double>(wide(block.data(), 0) >> 11) + 1) * 0x1p-53, static_cast<double>(wide(block.data(), 1) >> 11) * 0x1p-53);
    else
      return box_muller((static_cast<double>(block[static_cast<size_t>(k & ~int64_t{1})]) + 1) * 0x1p-32,
                        static_cast<double>(block[static_cast<size_t>(k | 1)]) * 0x1p-32);
  }();
  return k % 2 == 0 ? pair.first : pair.second;
}

void normal_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<NormalAttrs>();
  dispatch_dtype(a.dtype, [&]<class T>() {
    for_each_drawn<T>(q, RandomStream(in[0].as<int64_t>(), a.instance), [&](int64_t i, const std::array<uint32_t, 4>& block, int64_t k) {
      out[0].as<T>()[i] = converted<T>(a.mean + a.stddev * normal_of<T>(block, k));
    });
  });
}

// Standard normal values from words, with the machine-independent functions.
template <class T> void standard_normal(const uint32_t* words, double* z, int64_t n) {
  if constexpr (kWords<T> == 2) SINDRI_SIMD_CALL(normal_from_u64)(words, z, n);
  else SINDRI_SIMD_CALL(normal_from_u32)(words, z, n);
}

void normal_blocked(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<NormalAttrs>();
  dispatch_dtype(a.dtype, [&]<class T>() {
    fill_stretches<T>(q, RandomStream(in[0].as<int64_t>(), a.instance), out[0].as<T>(), [&](T* y, const uint32_t* words, int64_t n) {
      double z[kStretch];
      standard_normal<T>(words, z, (n + 1) / 2 * 2);
      for (int64_t i = 0; i < n; ++i) y[i] = converted<T>(a.mean + a.stddev * z[i]);
    });
  });
}

// Each element e of a sample has its own blocks, one per attempt; the first of a block's four values (float64: two) inside ±2 is
// used. All values of a block are outside with probability 4e-6 (2e-3), so 100 attempts are always enough in practice; after that
// the mean is used.
template <class T> double truncated(const RandomStream& stream, int64_t sample, int64_t e) {
  for (uint32_t attempt = 0; attempt < 100; ++attempt) {
    const auto block = stream.block(sample, static_cast<uint32_t>(e), 1 + attempt);
    double z[4];
    constexpr int64_t count = 4 / kWords<T>;
    standard_normal<T>(block.data(), z, count);
    for (int64_t k = 0; k < count; ++k) {
      if (std::abs(z[k]) <= 2) return z[k];
    }
  }
  return 0;
}

template <bool kParallel> void truncated_normal(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<NormalAttrs>();
  const RandomStream stream(in[0].as<int64_t>(), a.instance);
  const int64_t each = samples_of(a.shape).each, n = q.out[0].numel();
  dispatch_dtype(a.dtype, [&]<class T>() {
    parallel_for(n, kParallel ? 2048 : n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[0].as<T>()[i] = converted<T>(a.mean + a.stddev * truncated<T>(stream, i / each, i % each));
    });
  });
}

// Fisher and Yates: position i swaps with one of 0 … i. Draws do not depend on the sample offset, so ranks agree on the order.
void permutation_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<PermutationAttrs>();
  const RandomStream stream(in[0].as<int64_t>(), a.instance);
  PhiloxSequence draws(static_cast<uint64_t>(stream.key[1]) << 32 | stream.key[0], 0, static_cast<uint32_t>(stream.step),
                       static_cast<uint32_t>(stream.step >> 32));
  int64_t* y = out[0].as<int64_t>();
  for (int64_t i = 0; i < a.n; ++i) y[i] = i;
  for (int64_t i = a.n - 1; i > 0; --i) std::swap(y[i], y[draws.next_below(static_cast<uint64_t>(i) + 1)]);
}

const bool kUniform = register_kernel({.op = "random_uniform", .name = "blocked", .simple = uniform_blocked});
const bool kNormal = register_kernel({.op = "random_normal", .name = "blocked", .simple = normal_blocked});
const bool kTruncated = register_kernel({.op = "random_truncated_normal", .name = "parallel", .simple = truncated_normal<true>});
const bool kUniformReference = register_kernel({.op = "random_uniform", .name = "reference", .priority = kReferencePriority, .simple = uniform_reference});
const bool kNormalReference = register_kernel({.op = "random_normal", .name = "reference", .priority = kReferencePriority, .simple = normal_reference});
const bool kTruncatedReference =
    register_kernel({.op = "random_truncated_normal", .name = "reference", .priority = kReferencePriority, .simple = truncated_normal<false>});
const bool kBernoulliReference =
    register_kernel({.op = "random_bernoulli", .name = "reference", .priority = kReferencePriority, .simple = bernoulli_reference});
const bool kPermutationReference =
    register_kernel({.op = "random_permutation", .name = "reference", .priority = kReferencePriority, .simple = permutation_reference});

}  // namespace
}  // namespace sindri
