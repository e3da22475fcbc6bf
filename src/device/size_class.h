// Sizes that allocators round requests up to, so that a freed block serves the next request of about its size: powers of two
// below 4 KiB, then steps of 1/8 of the next lower power of two, which wastes 12 % at most. Classes are numbered without gaps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sindri {

struct SizeClass {
  static constexpr int kSmallest = 6, kSteps = 12;  // 64 bytes; from 4 KiB on eight classes per power of two
  static constexpr size_t kCount = static_cast<size_t>(kSteps - kSmallest + 1 + (63 - kSteps) * 8);
  size_t index;
  int64_t bytes;
};

inline SizeClass size_class(int64_t bytes) {
  constexpr int kSmallest = SizeClass::kSmallest, kSteps = SizeClass::kSteps;
  const auto rest = static_cast<uint64_t>(std::max<int64_t>(bytes, 1) - 1);  // so that a power of two belongs to the class that it ends
  const int log = std::bit_width(rest);  // 2^log >= bytes > 2^(log - 1)
  if (log <= kSteps) {
    const int power = std::max(log, kSmallest);
    return {static_cast<size_t>(power - kSmallest), int64_t{1} << power};
  }
  const int shift = log - 1 - 3;
  const auto step = static_cast<int64_t>(rest >> shift) + 1;  // 9 … 16 eighths of the lower power
  return {static_cast<size_t>(kSteps - kSmallest + 1 + (log - 1 - kSteps) * 8 + step - 9), step << shift};
}

}  // namespace sindri
