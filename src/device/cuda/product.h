// Sindri's own product on CUDA devices, C[z] = A[z] B[z], with gathered operands: one kernel multiplies matrices of any
// strides and convolves in all three directions, as a convolution is a product with the windows of its input. Shared by
// ops/matmul, which contains its kernels (product_cuda.cu), and ops/conv.
#pragma once

#include <cstdint>
#include <memory>

#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// The position of index i of an axis: (i / by) * outer + (i % by) * inner, in elements.
struct Split {
  Divisor by;
  int64_t outer = 0, inner = 0;
  static Split linear(int64_t stride, int64_t count) { return {Divisor(1, count), stride, 0}; }
  static Split pair(int64_t by, int64_t outer, int64_t inner, int64_t count) { return {Divisor(by, count), outer, inner}; }
};

/// The windows of an image. Pixel (n, i, j), counted in this order, and tap (r, s, c) select channel c of image n at
///    h = (i*pixel_h + r*tap_h + first_h) / every_h, w likewise;
/// if that is not an integer or lies outside the image, the element is zero.
struct Window {
  Divisor plane, row;  ///< pixels per image and per row
  Divisor channels, width;  ///< taps per position, and per row of the window
  Divisor every_h, every_w;
  int32_t pixel_h = 1, pixel_w = 1, tap_h = 1, tap_w = 1, first_h = 0, first_w = 0;
  int32_t h = 0, w = 0;  ///< of the image
  int64_t stride_n = 0, stride_c = 0, stride_h = 0, stride_w = 0;
};

/// A or B: a matrix of lines (rows of A, columns of B) and depth (the summed dimension).
struct GatheredMatrix {
  const void* data = nullptr;
  bool windowed = false;  ///< if false, an element's position is the sum of the offsets of its line and its depth
  bool lines_are_pixels = true;  ///< for windows: true if lines are pixels and depth is taps, false the other way round
  bool depth_is_dense = true;  ///< true if neighbours along the depth are adjacent in memory, false if neighbouring lines are
  Split line, depth;
  Window window;
};

/// Offsets of the z-th product's operands. Its dimensions are traversed in row-major order.
struct ProductBatch {
  int rank = 0;
  Divisor size[Shape::kMaxRank];
  int64_t a[Shape::kMaxRank] = {}, b[Shape::kMaxRank] = {};
};

/// C, and the operations applied to its sums: + bias[z*cols + col] + residual, then relu.
struct ProductResult {
  void* data = nullptr;
  Split row, col;
  int64_t batch = 0;
  const void* bias = nullptr;
  bool bias_is_wide = false;  ///< float for half types; else of C's type
  const void* residual = nullptr;  ///< in C's layout; may be C
  bool relu = false;
};

struct Product {
  int64_t count = 1, rows = 0, cols = 0, depth = 0;
  GatheredMatrix a, b;
  ProductBatch batch;
  ProductResult c;
  // Filled by make_product_kernel: tiles of a product, and the parts of its depth that are summed separately.
  Divisor row_tiles, col_tiles, products;
  int64_t jobs = 0, parts = 1, part_depth = 0;
  void* partial = nullptr;  ///< [parts, count, rows, cols] in the sum's type, if parts > 1
};

/// Assigns the op's operands: indices into the kernel's inputs; -1: absent.
struct ProductOperands {
  int a = 0, b = 1, bias = -1, residual = -1;
};

/// Makes a kernel that computes `product`, whose addresses are filled in from the operands at each run, for elements of
/// the type of output 0.
std::unique_ptr<Kernel> make_product_kernel(const KernelQuery& query, const Product& product, const ProductOperands& operands);

/// The name and priority under which ops register this kernel: it is the fallback if no library serves an op, and the reference on a GPU.
inline constexpr const char* kTiledProduct = "tiled_product";
inline constexpr int kTiledProductPriority = -10;

}  // namespace sindri::cuda
