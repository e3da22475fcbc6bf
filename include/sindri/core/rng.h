// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
// A random number is a pure function of a key and a counter, so there is no stored stream position that threads could race for.
// Ops derive both from (seed, op instance, step, global position of the sample, element), the data pipeline from (seed,
// operation, pass, position, draw). So masks and augmentation do not depend on threads, devices or ranks.
#pragma once

#include <array>
#include <cstdint>

#include "sindri/export.h"

namespace sindri {

/// The four 32-bit random numbers of one counter.
struct Philox4 {
  std::array<uint32_t, 4> v;
};

/// Computes one block of four 32-bit words, in 10 rounds.
inline Philox4 philox4x32(std::array<uint32_t, 4> ctr, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ull * ctr[0], p1 = 0xCD9E8D57ull * ctr[2];
    ctr = {static_cast<uint32_t>(p1 >> 32) ^ ctr[1] ^ key[0], static_cast<uint32_t>(p1), static_cast<uint32_t>(p0 >> 32) ^ ctr[3] ^ key[1],
           static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return {ctr};
}

/// Mixes one 64-bit word (splitmix64 finalizer), to derive keys from seeds and names.
inline uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
/// Mixes `b` into the hash `a`; the order matters.
inline uint64_t hash_combine(uint64_t a, uint64_t b) { return mix64(a ^ (b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2))); }

/// Uniform float in [0, 1) with 24 random bits.
inline float u32_to_unit_float(uint32_t u) { return static_cast<float>(u >> 8) * 0x1p-24f; }
/// Uniform double in [0, 1) with 53 random bits.
inline double u64_to_unit_double(uint64_t u) { return static_cast<double>(u >> 11) * 0x1p-53; }

/// A sequence of draws in one counter space, with key `key` and counters (draw/4, a, b, c).
class PhiloxSequence {
 public:
  PhiloxSequence(uint64_t key, uint32_t a, uint32_t b, uint32_t c) : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}, a_(a), b_(b), c_(c) {}
  /// Uniform 32-bit integer.
  uint32_t next_u32() {
    if (pos_ == 4) {
      block_ = philox4x32({index_++, a_, b_, c_}, key_);
      pos_ = 0;
    }
    return block_.v[static_cast<size_t>(pos_++)];
  }
  /// Uniform 64-bit integer, from two 32-bit draws, the low half first.
  uint64_t next_u64() {
    uint64_t lo = next_u32();
    return lo | (static_cast<uint64_t>(next_u32()) << 32);
  }
  /// Uniform in [0, 1), computed as in u32_to_unit_float and u64_to_unit_double.
  float next_float() { return u32_to_unit_float(next_u32()); }
  double next_double() { return u64_to_unit_double(next_u64()); }
  /// Uniform integer in [0, n), n > 0, by multiply-shift with rejection (no bias).
  uint64_t next_below(uint64_t n) {
    for (;;) {
      unsigned __int128 m = static_cast<unsigned __int128>(next_u64()) * n;
      if (static_cast<uint64_t>(m) >= (0 - n) % n) return static_cast<uint64_t>(m >> 64);
    }
  }

 private:
  std::array<uint32_t, 2> key_;
  uint32_t a_, b_, c_, index_ = 0;
  int pos_ = 4;
  Philox4 block_{};
};

/// Sets the global seed of the runtime (MindSpore: mindspore.set_seed; sindri/core/runtime.h). Initializers, dropout and data
/// pipelines without a seed use it. Throws ValueError for a seed outside [0, 2^32 - 1].
SINDRI_API void set_seed(int64_t seed);
/// The seed in use; 0 until set_seed is called.
SINDRI_API int64_t get_seed();
/// Whether set_seed has been called.
SINDRI_API bool seed_is_set();
/// Number of calls to set_seed. Counters of draws "since set_seed" restart when it changes.
SINDRI_API int64_t seed_generation();

}  // namespace sindri
