// The columns of a convolution as a matrix product (im2col). Row (n, oh, ow) holds the inputs of this output pixel for one group, in the order
// (kh, kw, c), so that channels-last runs are copied whole. Private to ops/conv/.
#pragma once

#include <algorithm>
#include <type_traits>

#include "ops/conv/conv_geometry.h"
#include "src/device/cpu/parallel.h"

namespace sindri::conv {

// Calls f(offset of x[n, h, w, first channel of the group], offset in the row) for the kernel positions inside the image, and
// skip(offset in the row) for those in the padding.
template <class F, class Skip> void for_each_tap(const ConvGeometry& g, int64_t row, int64_t group, F&& f, Skip&& skip) {
  const int64_t n = row / (g.oh * g.ow), i = row / g.ow % g.oh, j = row % g.ow, cg = g.c_per_group();
  int64_t at = 0;
  for (int64_t p = 0; p < g.kh; ++p) {
    const int64_t h = i * g.stride_h + p * g.dilation_h - g.pad_top;
    for (int64_t q = 0; q < g.kw; ++q, at += cg) {
      const int64_t w = j * g.stride_w + q * g.dilation_w - g.pad_left;
      if (h < 0 || h >= g.h || w < 0 || w >= g.w) skip(at);
      else f(((n * g.h + h) * g.w + w) * g.c + group * cg, at);
    }
  }
}

/// The columns of a geometry, some rows at a time; x and dx are channels-last.
template <class T> class Columns {
 public:
  explicit Columns(const ConvGeometry& g) : g_(g), k_(g.kh * g.kw * g.c_per_group()) {}

  /// Elements in a row.
  int64_t k() const { return k_; }
  /// Whether the columns are x itself, with c elements between rows.
  bool is_view() const {
    return g_.kh == 1 && g_.kw == 1 && g_.stride_h == 1 && g_.stride_w == 1 && g_.pad_top + g_.pad_bottom + g_.pad_left + g_.pad_right == 0;
  }

  /// Writes rows [row, row + count) unless they are a view. Returns their address.
  const T* gather(const T* x, int64_t row, int64_t count, int64_t group, T* columns) const {
    const int64_t cg = g_.c_per_group();
    if (is_view()) return x + row * g_.c + group * cg;
    parallel_for(count, std::max<int64_t>(1, 16384 / k_), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* to = columns + r * k_;
        for_each_tap(
            g_, row + r, group, [&](int64_t from, int64_t at) { std::copy_n(x + from, cg, to + at); }, [&](int64_t at) { std::fill_n(to + at, cg, T(0)); });
      }
    });
    return columns;
  }

  /// Adds rows into dx. Rows of different images write different parts of it, and one image's rows are added in order.
  void scatter(const T* columns, int64_t row, int64_t count, int64_t group, T* dx) const {
    const int64_t cg = g_.c_per_group(), per_image = g_.oh * g_.ow;
    const int64_t first = row / per_image, last = (row + count - 1) / per_image;
    parallel_for(last - first + 1, 1, [&](int64_t begin, int64_t end) {
      const int64_t from_row = std::max(row, (first + begin) * per_image), to_row = std::min(row + count, (first + end) * per_image);
      for (int64_t r = from_row; r < to_row; ++r) {
        const T* from = columns + (r - row) * k_;
        for_each_tap(
            g_, r, group,
            [&](int64_t to, int64_t at) {
              for (int64_t c = 0; c < cg; ++c) dx[to + c] += from[at + c];
            },
            [](int64_t) {});
      }
    });
  }

 private:
  ConvGeometry g_;
  int64_t k_;
};

/// [O, C/groups, KH, KW] <-> [O, KH, KW, C/groups]
template <class T, class U> void weight_to_rows(const ConvGeometry& g, const T* oihw, U* rows) {
  const int64_t cg = g.c_per_group(), taps = g.kh * g.kw;
  parallel_for(g.o, std::max<int64_t>(1, 16384 / (cg * taps)), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t c = 0; c < cg; ++c)
        for (int64_t t = 0; t < taps; ++t) rows[(o * taps + t) * cg + c] = static_cast<U>(oihw[(o * cg + c) * taps + t]);
  });
}
template <class T, class U> void rows_to_weight(const ConvGeometry& g, const T* rows, U* oihw) {
  const int64_t cg = g.c_per_group(), taps = g.kh * g.kw;
  parallel_for(g.o, std::max<int64_t>(1, 16384 / (cg * taps)), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t c = 0; c < cg; ++c)
        for (int64_t t = 0; t < taps; ++t) oihw[(o * cg + c) * taps + t] = static_cast<U>(rows[(o * taps + t) * cg + c]);
  });
}

}  // namespace sindri::conv
