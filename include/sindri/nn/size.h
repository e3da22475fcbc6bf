// Argument types of layers: a size of both spatial dimensions, a padding of four sides.
#pragma once
#include <cstdint>
#include <vector>

namespace sindri::nn {

/// Rows and columns; one number sets both. Zero means not given.
struct Size2 {
  Size2(int64_t both = 0) : h(both), w(both) {}  // NOLINT(google-explicit-constructor): kernel_size = 3
  Size2(int64_t rows, int64_t columns) : h(rows), w(columns) {}
  /// {rows, columns}.
  std::vector<int64_t> vec() const { return {h, w}; }
  int64_t h, w;
};

/// Top, bottom, left, right; one number sets all four.
struct Pad4 {
  Pad4(int64_t all = 0) : top(all), bottom(all), left(all), right(all) {}  // NOLINT(google-explicit-constructor): padding = 1
  Pad4(int64_t t, int64_t b, int64_t l, int64_t r) : top(t), bottom(b), left(l), right(r) {}
  /// {top, bottom, left, right}.
  std::vector<int64_t> vec() const { return {top, bottom, left, right}; }
  /// Whether any side is not 0.
  bool any() const { return top != 0 || bottom != 0 || left != 0 || right != 0; }
  int64_t top, bottom, left, right;
};

}  // namespace sindri::nn
