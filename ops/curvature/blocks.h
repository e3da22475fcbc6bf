// Attributes of the ops of this folder, and the division of a factor into blocks. Private to ops/curvature/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"

namespace sindri::curvature {

struct GramAttrs {
  int64_t block = 0;
  bool ones = false;
  SINDRI_ATTRS(GramAttrs, block, ones)
};
struct Conv2dGramAttrs {
  std::vector<int64_t> kernel = {1, 1};
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
  int64_t block = 0;
  bool ones = false;
  SINDRI_ATTRS(Conv2dGramAttrs, kernel, stride, pad, dilation, groups, block, ones)
};
struct DampedInverseAttrs {
  int64_t d = 0;
  SINDRI_ATTRS(DampedInverseAttrs, d)
};
struct BlockEigenAttrs {
  int64_t d = 0;
  SINDRI_ATTRS(BlockEigenAttrs, d)
};
struct BlockPreconditionAttrs {
  int64_t groups = 1;
  double scale = 1;
  SINDRI_ATTRS(BlockPreconditionAttrs, groups, scale)
};

/// A factor of width d in blocks of width b.
struct Blocks {
  int64_t d = 0, b = 0;
  /// `wanted` is the op's attribute; 0 or more than d means one block.
  static Blocks of(int64_t d, int64_t wanted) { return {d, wanted == 0 ? d : std::min(wanted, d)}; }
  int64_t count() const { return b == 0 ? 0 : (d + b - 1) / b; }
  int64_t begin(int64_t i) const { return i * b; }
  int64_t width(int64_t i) const { return std::min(b, d - i * b); }  ///< of block i without its padding
};

/// Geometry of the rows of a convolution: sizes of x, of the result, and of the window.
struct Window {
  int64_t n, c, h, w, oh, ow, kh, kw, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w, groups;
  bool ones;  ///< each row has a 1 after its elements
  int64_t rows() const { return n * oh * ow; }
  int64_t channels() const { return c / groups; }  ///< channels of a group
  int64_t elements() const { return channels() * kh * kw; }
  int64_t d() const { return elements() + (ones ? 1 : 0); }
  /// Whether the rows are those of x itself, [n·h·w, c].
  bool is_x() const { return !ones && kh == 1 && kw == 1 && oh == h && ow == w && stride_h == 1 && stride_w == 1 && pad_top == 0 && pad_left == 0; }
};
/// Throws ShapeError or ValueError for invalid sizes.
SINDRI_API Window window_of(const Conv2dGramAttrs& attrs, const TensorMeta& x);
/// The window of a matrix x [rows, columns].
SINDRI_API Window window_of_matrix(const TensorMeta& x, bool ones);

/// For an op whose inputs are the blocks of factors of width d. If there are more than `least` inputs, the last is `mine`, which marks the blocks of this
/// rank. Throws for an invalid rank, type, size or number of inputs.
void check_factors(const char* op, Span<const TensorMeta> in, size_t least, int64_t d);

}  // namespace sindri::curvature
