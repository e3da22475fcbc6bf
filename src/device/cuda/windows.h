// Windows over images [N, C, H, W] on CUDA devices: geometry by formula instead of tables, element positions in either layout.
#pragma once

#include "sindri/core/tensor.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Windows along one axis: fixed windows, or with `adaptive` those of adaptive pooling.
struct AxisRule {
  int64_t in = 0, out = 0, kernel = 1, stride = 1, before = 0;
  int64_t padded_end = 0;  // in + padding after it; include_pad counts up to here
  bool adaptive = false, include_pad = false;
  Divisor by_stride = {};  // for the dividends in windows_over
};
/// `out` windows of `kernel` elements over `in` elements, with `before` and `after` elements of padding.
inline AxisRule fixed_rule(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t before, int64_t after, bool include_pad) {
  return {in, out, kernel, stride, before, in + after, false, include_pad, Divisor(stride, in + before + stride)};
}
/// Elements of one dimension, [begin, end).
struct WindowRange {
  int64_t begin, end;
};
/// Returns the start of window o before it is clipped to the input.
SINDRI_DEVICE int64_t window_start(const AxisRule& a, int64_t o) { return a.adaptive ? o * a.in / a.out : o * a.stride - a.before; }
/// Returns the part of window o inside the input.
SINDRI_DEVICE WindowRange window_at(const AxisRule& a, int64_t o) {
  if (a.adaptive) return {o * a.in / a.out, ((o + 1) * a.in + a.out - 1) / a.out};
  const int64_t start = o * a.stride - a.before;
  return {max(start, int64_t{0}), min(start + a.kernel, a.in)};
}
/// Returns the axis' factor of an average's divisor.
SINDRI_DEVICE int64_t window_divisor(const AxisRule& a, int64_t o) {
  const WindowRange w = window_at(a, o);
  if (!a.include_pad) return w.end - w.begin;
  const int64_t start = o * a.stride - a.before;
  return min(start + a.kernel, a.padded_end) - start;
}
/// Returns the windows that contain input position i.
SINDRI_DEVICE WindowRange windows_over(const AxisRule& a, int64_t i) {
  if (a.adaptive) return {i * a.out / a.in, ((i + 1) * a.out + a.in - 1) / a.in};
  const int64_t last = a.by_stride.quotient(i + a.before) + 1, short_of = i + a.before - a.kernel + 1;
  return {short_of <= 0 ? 0 : a.by_stride.quotient(short_of + a.stride - 1), min(last, a.out)};
}

/// [N, C, H, W] in either layout.
struct DeviceImage {
  int64_t stride_n = 0, stride_c = 0, stride_h = 0, stride_w = 0;
};
inline DeviceImage device_image(const TensorMeta& m) {
  const int64_t c = m.shape[1], h = m.shape[2], w = m.shape[3];
  if (m.layout == Layout::kChannelsLast) return {h * w * c, 1, w * c, c};
  return {c * h * w, h * w, w, 1};
}
SINDRI_DEVICE int64_t place_in(const DeviceImage& m, int64_t n, int64_t c, int64_t h, int64_t w) {
  return n * m.stride_n + c * m.stride_c + h * m.stride_h + w * m.stride_w;
}

/// A tensor's elements in its physical order; channels-last tensors are divided into groups of adjacent channels.
struct Elements {
  int64_t n = 0;
  Divisor a, b, c;  // sizes of the second, third and fourth dimension in that order
  bool channels_last = false;
};
/// An element's position in [N, C, H, W].
struct Position {
  int64_t n, c, h, w;
};
inline Elements elements_of(const TensorMeta& m, int group) {
  Elements e;
  e.channels_last = m.layout == Layout::kChannelsLast;
  const int64_t c = m.shape[1] / group, h = m.shape[2], w = m.shape[3];
  e.n = m.shape[0] * c * h * w;
  e.a = Divisor(e.channels_last ? h : c, e.n);
  e.b = Divisor(e.channels_last ? w : h, e.n);
  e.c = Divisor(e.channels_last ? c : w, e.n);
  return e;
}
SINDRI_DEVICE Position position_of(const Elements& e, int64_t i, int group) {
  const int64_t q2 = e.c.quotient(i), p2 = i - q2 * e.c.value, q1 = e.b.quotient(q2), p1 = q2 - q1 * e.b.value, n = e.a.quotient(q1), p0 = q1 - n * e.a.value;
  return e.channels_last ? Position{n, p2 * group, p0, p1} : Position{n, p0, p1, p2};
}

/// V adjacent elements.
template <class E, int V> struct alignas(sizeof(E) * V > 16 ? 16 : sizeof(E) * V) Group { E e[V]; };
template <int V, class E> SINDRI_DEVICE Group<E, V> load_group(const E* p) { return *reinterpret_cast<const Group<E, V>*>(p); }
template <int V, class E> SINDRI_DEVICE void store_group(E* p, const Group<E, V>& g) { *reinterpret_cast<Group<E, V>*>(p) = g; }

}  // namespace sindri::cuda
