// Resizing as in Pillow: the kernel widens if the image shrinks; first along rows, then along columns, with bytes rounded in between.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <vector>

#include "dataset/transforms/pixel_op.h"
#include "dataset/transforms/pixels_simd.h"
#include "dataset/transforms/resize.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

namespace {

/// For each output position the first input and the weights of the inputs from there on.
struct Taps {
  int size = 0;  // weights per position
  std::vector<int> first, count;
  std::vector<float> weights;
  std::vector<int> fixed;  // weights with 22 fractional bits, as Pillow multiplies bytes
};

constexpr int kPointBits = 22;

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }
double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

Taps make_taps(int size, int out, bool is_cubic) {
  const double scale = static_cast<double>(size) / out, widen = std::max(scale, 1.0), support = (is_cubic ? 2.0 : 1.0) * widen;
  Taps t;
  t.size = static_cast<int>(std::ceil(support)) * 2 + 1;
  t.weights.resize(static_cast<size_t>(t.size) * static_cast<size_t>(out));
  t.fixed.resize(t.weights.size());
  std::vector<double> row(static_cast<size_t>(t.size));
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(center - support + 0.5), 0), last = std::min(static_cast<int>(center + support + 0.5), size);
    double total = 0;
    for (int k = 0; k < last - first; ++k) {
      const double x = (k + first - center + 0.5) / widen;
      row[static_cast<size_t>(k)] = is_cubic ? cubic(x) : triangle(x);
      total += row[static_cast<size_t>(k)];
    }
    t.first.push_back(first);
    t.count.push_back(last - first);
    for (int k = 0; k < last - first; ++k) {
      const double w = row[static_cast<size_t>(k)] / total;
      const size_t at = static_cast<size_t>(i) * static_cast<size_t>(t.size) + static_cast<size_t>(k);
      t.weights[at] = static_cast<float>(w);
      t.fixed[at] = static_cast<int>(w < 0 ? w * (1 << kPointBits) - 0.5 : w * (1 << kPointBits) + 0.5);
    }
  }
  return t;
}

uint8_t from_fixed(int v) { return static_cast<uint8_t>(std::clamp(v >> kPointBits, 0, 255)); }

/// Computes one row of `width` pixels of `c` channels from a row of the input.
template <class T> void along_row(const T* x, T* y, const Taps& t, int width, int c) {
  for (int i = 0; i < width; ++i) {
    const int first = t.first[static_cast<size_t>(i)], count = t.count[static_cast<size_t>(i)];
    const size_t at = static_cast<size_t>(i) * static_cast<size_t>(t.size);
    for (int k = 0; k < c; ++k) {
      const T* from = x + first * c + k;
      if constexpr (std::is_same_v<T, uint8_t>) {
        int sum = 1 << (kPointBits - 1);
        for (int n = 0; n < count; ++n) sum += from[n * c] * t.fixed[at + static_cast<size_t>(n)];
        y[i * c + k] = from_fixed(sum);
      } else {
        double sum = 0;
        for (int n = 0; n < count; ++n) sum += static_cast<double>(from[n * c]) * static_cast<double>(t.weights[at + static_cast<size_t>(n)]);
        y[i * c + k] = static_cast<T>(sum);
      }
    }
  }
}

/// Computes one row of the result from rows of the input, `n` values each.
template <class T> void along_column(const cv::Mat& in, T* y, const Taps& t, int row, int n) {
  const int first = t.first[static_cast<size_t>(row)], count = t.count[static_cast<size_t>(row)];
  const size_t at = static_cast<size_t>(row) * static_cast<size_t>(t.size);
  if constexpr (std::is_same_v<T, uint8_t>) {
    std::vector<const uint8_t*> rows;
    for (int k = 0; k < count; ++k) rows.push_back(in.ptr<T>(first + k));
    SINDRI_SIMD_CALL(pixels_weighted_rows)(rows.data(), &t.fixed[at], count, n, y);
  } else {
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < count; ++k) sum += static_cast<double>(in.ptr<T>(first + k)[i]) * static_cast<double>(t.weights[at + static_cast<size_t>(k)]);
      y[i] = static_cast<T>(sum);
    }
  }
}

template <class T> void resize_as_pillow(const cv::Mat& in, cv::Mat& out, bool is_cubic) {
  const Taps across = make_taps(in.cols, out.cols, is_cubic), down = make_taps(in.rows, out.rows, is_cubic);
  const int c = in.channels(), n = out.cols * c;
  cv::Mat between = in;
  if (in.cols != out.cols) {
    between.create(in.rows, out.cols, in.type());
    int y = 0;
    if constexpr (std::is_same_v<T, uint8_t>) {
      // All but the last row: the loop reads one byte past a row, which is in the next row.
      const auto pixels = SINDRI_SIMD_CALL(pixels_weighted_pixels);
      for (; c == 3 && in.isContinuous() && y + 1 < in.rows; ++y)
        pixels(in.ptr<T>(y), across.first.data(), across.count.data(), across.fixed.data(), across.size, out.cols, between.ptr<T>(y));
    }
    for (; y < in.rows; ++y) along_row(in.ptr<T>(y), between.ptr<T>(y), across, out.cols, c);
  }
  if (in.rows == out.rows) {
    between.copyTo(out);
    return;
  }
  for (int y = 0; y < out.rows; ++y) along_column(between, out.ptr<T>(y), down, y, n);
}

}  // namespace

namespace vision {

Transform PillowResize(Size size, bool cubic_filter, LongEdge long_edge) {
  if (size.height < 1 || (size.width != -1 && size.width < 1) || size.height > 65536 || size.width > 65536)
    throw ValueError("Resize: a size is not from 1 to 65536");
  const auto target = [size, long_edge](const PixelDims& d) {
    if (size.width > 0) return PixelDims{size.height, size.width, d.channels};
    if (d.height < 1 || d.width < 1) return PixelDims{-1, -1, d.channels};
    const auto [h, w] = size_by_short_edge(d.height, d.width, size.height, long_edge);
    return PixelDims{h, w, d.channels};
  };
  return pixel_transform({.who = "Resize",
                          .parameters = fmt::format("({}, {}), {}, {}", size.height, size.width, cubic_filter ? "PILCUBIC" : "PILLINEAR",
                                                    long_edge == LongEdge::kRound ? "rounded" : "cut"),
                          .batches = true,
                          .size = target},
                         [cubic_filter](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           if (in.depth() == CV_8U) resize_as_pillow<uint8_t>(in, out, cubic_filter);
                           else resize_as_pillow<float>(in, out, cubic_filter);
                           return true;
                         });
}

}  // namespace vision
}  // namespace sindri::dataset
