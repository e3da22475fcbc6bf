// The counter space of random_ops.h in kernels: the same words from the same key. The key is read on the device, so that a recorded step draws new values once
// the state has advanced.
#pragma once

#include <cstddef>

#include "ops/random/random_ops.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// A block of Philox4x32-10.
struct Words {
  uint32_t w[4];
};
SINDRI_DEVICE Words philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0, p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

SINDRI_DEVICE uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// random_ops::RandomStream.
struct DeviceStream {
  uint32_t k0, k1;
  uint64_t step, offset;
};
SINDRI_DEVICE DeviceStream stream_of(const int64_t* state, int64_t instance) {
  constexpr int kBits = random_ops::kCounterBits;
  constexpr uint64_t kCounter = (uint64_t{1} << kBits) - 1;
  const auto seed = static_cast<uint64_t>(state[0]), step = static_cast<uint64_t>(state[1]), offset = static_cast<uint64_t>(state[2]);
  const uint64_t first = step >> kBits | offset >> kBits << random_ops::kPartBits, number = first + static_cast<uint64_t>(instance);
  const uint64_t key = mixed(seed ^ (number + 0x9E3779B97F4A7C15ull + (seed << 6) + (seed >> 2)));
  return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), step & kCounter, offset & kCounter};
}
/// The four words of block b of local sample i; `redraw` distinguishes draws of one element.
SINDRI_DEVICE Words block_of(const DeviceStream& s, int64_t i, uint32_t b, uint32_t redraw = 0) {
  const uint64_t sample = s.offset + static_cast<uint64_t>(i);
  const uint32_t high = (redraw & 0xffu) | static_cast<uint32_t>((sample >> 32) & 0xfffu) << 8 | static_cast<uint32_t>((s.step >> 32) & 0xfffu) << 20;
  return philox(b, static_cast<uint32_t>(sample), static_cast<uint32_t>(s.step), high, s.k0, s.k1);
}

}  // namespace sindri::cuda
