// Random tensors on CUDA devices, bitwise identical to the CPU's. Arithmetic is IEEE double without fused operations in the CPU's order; logarithm, sine and
// cosine are its series (random_simd.cc). A thread draws one block of four words and writes its elements. Memory traffic: the result, written once.
#include "ops/random/random_cuda.h"

#include <bit>

#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

using namespace random_ops;

SINDRI_DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
SINDRI_DEVICE double mul(double a, double b) { return __dmul_rn(a, b); }

// 64 bits of words 2k and 2k + 1.
SINDRI_DEVICE uint64_t wide(const Words& b, int k) { return static_cast<uint64_t>(b.w[2 * k + 1]) << 32 | b.w[2 * k]; }
// Elements per block: float64 uses 53 bits, the other types 24.
template <class E> constexpr int kOfBlock = std::is_same_v<E, double> ? 2 : 4;

struct Uniform {
  double low, span;
  template <class E> static constexpr int of_block = kOfBlock<E>;
  template <class E> SINDRI_DEVICE void draw(const Words& b, double (&out)[4]) const {
    for (int k = 0; k < kOfBlock<E>; ++k) {
      const double unit = kOfBlock<E> == 2 ? static_cast<double>(wide(b, k) >> 11) * 0x1p-53 : static_cast<double>(b.w[k] >> 8) * 0x1p-24;
      out[k] = add(low, mul(span, unit));
    }
  }
};

struct Bernoulli {
  int32_t threshold;
  template <class E> static constexpr int of_block = 4;
  template <class E> SINDRI_DEVICE void draw(const Words& b, double (&out)[4]) const {
    for (int k = 0; k < 4; ++k) out[k] = static_cast<int32_t>(b.w[k] >> 8) < threshold ? 1 : 0;
  }
};

SINDRI_DEVICE double log_positive(double x) {
  const uint64_t u = static_cast<uint64_t>(__double_as_longlong(x)) + 0x00095f619980c433ull;  // rounds the exponent at 2^-1/2
  const int64_t e = static_cast<int64_t>(u >> 52) - 1023;
  const double m = __longlong_as_double(static_cast<long long>((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull));
  const double f = (m - 1) / (m + 1), s = mul(f, f);
  double p = 1.0 / 21;
  p = add(mul(p, s), 1.0 / 19);
  p = add(mul(p, s), 1.0 / 17);
  p = add(mul(p, s), 1.0 / 15);
  p = add(mul(p, s), 1.0 / 13);
  p = add(mul(p, s), 1.0 / 11);
  p = add(mul(p, s), 1.0 / 9);
  p = add(mul(p, s), 1.0 / 7);
  p = add(mul(p, s), 1.0 / 5);
  p = add(mul(p, s), 1.0 / 3);
  return add(mul(static_cast<double>(e), 0.69314718055994530942), add(mul(2, f), mul(mul(mul(2, f), s), p)));
}
SINDRI_DEVICE void sincos_turn(double u, double* sine, double* cosine) {
  const auto quarter = static_cast<int32_t>(add(mul(4, u), 0.5));
  const double a = mul(add(u, -mul(0.25, static_cast<double>(quarter))), 6.28318530717958647693), s = mul(a, a);
  double ps = 1.0 / 355687428096000, pc = 1.0 / 20922789888000;
  ps = add(mul(ps, s), -1.0 / 1307674368000);
  ps = add(mul(ps, s), 1.0 / 6227020800);
  ps = add(mul(ps, s), -1.0 / 39916800);
  ps = add(mul(ps, s), 1.0 / 362880);
  ps = add(mul(ps, s), -1.0 / 5040);
  ps = add(mul(ps, s), 1.0 / 120);
  ps = add(mul(ps, s), -1.0 / 6);
  pc = add(mul(pc, s), -1.0 / 87178291200);
  pc = add(mul(pc, s), 1.0 / 479001600);
  pc = add(mul(pc, s), -1.0 / 3628800);
  pc = add(mul(pc, s), 1.0 / 40320);
  pc = add(mul(pc, s), -1.0 / 720);
  pc = add(mul(pc, s), 1.0 / 24);
  pc = add(mul(pc, s), -1.0 / 2);
  const double sn = add(a, mul(mul(a, s), ps)), cs = add(1, mul(s, pc));
  const bool swap = (quarter & 1) != 0;
  const double x = swap ? cs : sn, y = swap ? sn : cs;
  *sine = (quarter & 2) != 0 ? -x : x;
  *cosine = ((quarter + 1) & 2) != 0 ? -y : y;
}
SINDRI_DEVICE void box_muller(double u, double v, double* z0, double* z1) {
  const double r = sqrt(mul(-2, log_positive(u)));
  double sine, cosine;
  sincos_turn(v, &sine, &cosine);
  *z0 = mul(r, cosine);
  *z1 = mul(r, sine);
}
template <class E> SINDRI_DEVICE void standard_normal(const Words& b, double (&z)[4]) {
  if constexpr (kOfBlock<E> == 2) {
    box_muller((static_cast<double>(wide(b, 0) >> 11) + 1) * 0x1p-53, static_cast<double>(wide(b, 1) >> 11) * 0x1p-53, &z[0], &z[1]);
  } else {
    for (int k = 0; k < 4; k += 2) box_muller((static_cast<double>(b.w[k]) + 1) * 0x1p-32, static_cast<double>(b.w[k + 1]) * 0x1p-32, &z[k], &z[k + 1]);
  }
}

struct Normal {
  double mean, stddev;
  template <class E> static constexpr int of_block = kOfBlock<E>;
  template <class E> SINDRI_DEVICE void draw(const Words& b, double (&out)[4]) const {
    double z[4];
    standard_normal<E>(b, z);
    for (int k = 0; k < kOfBlock<E>; ++k) out[k] = add(mean, mul(stddev, z[k]));
  }
};

// The blocks of all samples in sequence.
struct Blocks {
  int64_t n = 0, each = 0;  // number of blocks; elements per sample
  Divisor of_sample;
};

template <class E, int N> struct alignas(sizeof(E) * N) Together { E e[N]; };

template <class E, class Policy> __global__ void draw_blocks(Blocks b, Policy p, int64_t instance, bool together, const int64_t* state, E* y) {
  constexpr int kN = Policy::template of_block<E>;
  const DeviceStream stream = stream_of(state, instance);
  for (int64_t i = global_thread(); i < b.n; i += global_threads()) {
    const int64_t sample = b.of_sample.quotient(i), block = i - sample * b.of_sample.value, e = block * kN;
    double v[4];
    p.template draw<E>(block_of(stream, sample, static_cast<uint32_t>(block)), v);
    E* const to = y + sample * b.each + e;
    if (together) {  // whole blocks at addresses that allow a single access
      constexpr int kHalf = sizeof(E) * kN > 16 ? 2 : kN;
      for (int k = 0; k < kN; k += kHalf) {
        Together<E, kHalf> t;
        for (int j = 0; j < kHalf; ++j) t.e[j] = store_as<E>(v[k + j]);
        *reinterpret_cast<Together<E, kHalf>*>(to + k) = t;
      }
    } else {
      for (int k = 0; k < kN; ++k)
        if (e + k < b.each) to[k] = store_as<E>(v[k]);
    }
  }
}

// Each element e of a sample has its own blocks, one per attempt; the first value of a block inside ±2 is used.
template <class E> __global__ void draw_truncated(Blocks b, Normal p, int64_t instance, const int64_t* state, E* y) {
  const DeviceStream stream = stream_of(state, instance);
  for (int64_t i = global_thread(); i < b.n; i += global_threads()) {
    const int64_t sample = b.of_sample.quotient(i), e = i - sample * b.of_sample.value;
    double inside = 0;
    bool found = false;
    for (uint32_t attempt = 0; attempt < 100 && !found; ++attempt) {
      double z[4];
      standard_normal<E>(block_of(stream, sample, static_cast<uint32_t>(e), 1 + attempt), z);
      for (int k = 0; k < kOfBlock<E> && !found; ++k)
        if (abs(z[k]) <= 2) {
          inside = z[k];
          found = true;
        }
    }
    y[i] = store_as<E>(add(p.mean, mul(p.stddev, inside)));
  }
}

// ----- permutation -----

// Draw t of the sequence of 64-bit draws as a number below `bound`; returns false if it must be drawn again (the bound does not divide 2^64).
SINDRI_DEVICE bool draw_below(const DeviceStream& s, uint64_t t, uint64_t bound, int64_t* drawn) {
  const Words b = philox(static_cast<uint32_t>(t / 2), 0, static_cast<uint32_t>(s.step), static_cast<uint32_t>(s.step >> 32), s.k0, s.k1);
  const uint64_t v = wide(b, static_cast<int>(t % 2));
  *drawn = static_cast<int64_t>(__umul64hi(v, bound));
  return v * bound >= (0 - bound) % bound;
}

// Fisher and Yates with the swaps of one block's threads at a time (Shun et al. 2015, "Sequential random permutation, list contraction and tree contraction are
// highly parallel"). Each swap reserves its two positions, the earliest swap that requests a position gets it, and swaps that have both are executed together.
// Rounds continue until all are done: two or three, more for the last positions. The result equals that of sequential swaps. A single block does all of this,
// with a few exchanges through the cache for each of n / 1,024 groups: a permutation is drawn once per epoch, not per step.
constexpr int kSwaps = 1024;
__global__ void permute(int64_t n, int64_t instance, const int64_t* state, unsigned long long* reserved, int64_t* y) {
  SINDRI_SHARED(int, flags, 2);
  SINDRI_SHARED(int64_t, again, kSwaps + 1);
  const DeviceStream stream = stream_of(state, instance);
  const auto t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int64_t i = t; i < n; i += threads) {
    y[i] = i;
    reserved[i] = 0;
  }
  uint64_t used = 0;  // number of draws used
  for (int64_t top = n - 1; top > 0; top -= threads) {
    const int64_t i = top - t;
    const auto swaps = static_cast<int>(min(top, static_cast<int64_t>(threads)));
    bool pending = i > 0;
    int64_t j = 0;
    const bool drawn = !pending || draw_below(stream, used + static_cast<uint64_t>(t), static_cast<uint64_t>(i) + 1, &j);
    if (t == 0) flags[0] = 0;
    __syncthreads();
    if (!drawn) atomicOr(flags + 0, 1);
    __syncthreads();
    if (flags[0] != 0) {  // one in 2^64 / n draws: all later ones shift by one
      if (t == 0) {
        uint64_t at = used;
        for (int k = 0; k < swaps; ++k) {
          int64_t place = 0;
          while (!draw_below(stream, at++, static_cast<uint64_t>(top - k) + 1, &place)) {}
          again[k] = place;
        }
        again[kSwaps] = static_cast<int64_t>(at - used);
      }
      __syncthreads();
      if (pending) j = again[t];
      used += static_cast<uint64_t>(static_cast<int64_t>(again[kSwaps]));
    } else {
      used += static_cast<uint64_t>(swaps);
    }
    const auto rank = static_cast<unsigned long long>(pending ? i + 1 : 0);
    for (bool more = true; more;) {
      if (pending) {
        atomicMax(&reserved[i], rank);
        atomicMax(&reserved[j], rank);
      }
      if (t == 0) flags[1] = 0;
      __syncthreads();
      const bool mine = pending && reserved[i] == rank && reserved[j] == rank;
      if (mine) {
        const int64_t v = y[i];
        y[i] = y[j];
        y[j] = v;
      }
      __syncthreads();
      if (pending) {
        reserved[i] = 0;
        reserved[j] = 0;
      }
      pending = pending && !mine;
      if (pending) atomicOr(flags + 1, 1);
      __syncthreads();
      more = flags[1] != 0;
      __syncthreads();
    }
  }
}

// ----- host code -----

Blocks blocks_of(const Shape& shape, int of_block) {
  const Samples s = samples_of(shape);
  const int64_t blocks = ceil_div(s.each, of_block);
  return {s.count * blocks, s.each, Divisor(blocks, s.count * blocks)};
}

template <class E, class Policy> void draw(const Call& call, const Policy& p, int64_t instance) {
  constexpr int kN = Policy::template of_block<E>;
  const Blocks b = blocks_of(call.out[0].meta->shape, kN);
  const bool together = b.each % kN == 0 && reinterpret_cast<uintptr_t>(call.out[0].data) % 16 == 0;
  launch(call, grid_for(b.n), draw_blocks<E, Policy>, b, p, instance, together, call.input<int64_t>(0), call.output<E>(0));
}

bool empty(const Call& call) { return call.out[0].meta->numel() == 0; }

void run_uniform(const Call& call) {
  if (empty(call)) return;
  const auto& a = call.query.attrs.as<UniformAttrs>();
  dispatch_floating_element(a.dtype, [&]<class E>() { draw<E>(call, Uniform{a.low, a.high - a.low}, a.instance); });
}
void run_normal(const Call& call) {
  if (empty(call)) return;
  const auto& a = call.query.attrs.as<NormalAttrs>();
  dispatch_floating_element(a.dtype, [&]<class E>() { draw<E>(call, Normal{a.mean, a.stddev}, a.instance); });
}
void run_truncated(const Call& call) {
  if (empty(call)) return;
  const auto& a = call.query.attrs.as<NormalAttrs>();
  const Blocks b = blocks_of(a.shape, 1);
  dispatch_floating_element(a.dtype, [&]<class E>() {
    launch(call, grid_for(b.n), draw_truncated<E>, b, Normal{a.mean, a.stddev}, a.instance, call.input<int64_t>(0), call.output<E>(0));
  });
}
void run_bernoulli(const Call& call) {
  if (empty(call)) return;
  const auto& a = call.query.attrs.as<BernoulliAttrs>();
  dispatch_element(a.dtype, [&]<class E>() { draw<E>(call, Bernoulli{threshold24(a.p)}, a.instance); });
}
void run_permutation(const Call& call) {
  const auto& a = call.query.attrs.as<PermutationAttrs>();
  if (a.n == 0) return;
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(a.n))), 32, kSwaps));
  launch(call, {dim3(1), dim3(threads), 0}, permute, a.n, a.instance, call.input<int64_t>(0), static_cast<unsigned long long*>(call.workspace),
         call.output<int64_t>(0));
}
int64_t permutation_workspace(const KernelQuery& q) { return q.attrs.as<PermutationAttrs>().n * 8; }

const bool kUniform = register_cuda_kernel({.op = "random_uniform", .run = run_uniform});
const bool kNormal = register_cuda_kernel({.op = "random_normal", .run = run_normal});
const bool kTruncatedNormal = register_cuda_kernel({.op = "random_truncated_normal", .run = run_truncated});
const bool kBernoulli = register_cuda_kernel({.op = "random_bernoulli", .run = run_bernoulli});
const bool kPermutation = register_cuda_kernel({.op = "random_permutation", .run = run_permutation, .workspace = permutation_workspace});

}  // namespace
}  // namespace sindri::cuda
