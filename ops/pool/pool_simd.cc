// See pool_simd.h.
#include "ops/pool/pool_simd.h"

#include "src/device/cpu/simd_math.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors wider than the registers are passed between functions that are always inlined

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

template <class T> struct Compute { using type = float; };
template <> struct Compute<double> { using type = double; };

constexpr int64_t kBlock = 64;  // channels whose running values stay in registers

// Processes the channels of one position. BODY sees c0 and n, SHORT sees c0 and kLanes: blocks of 64 channels, then, if USE_SHORT, SHORT for
// one vector, because gcc does not vectorise loops this short. The last SHORT may extend beyond the channels within `room` elements from the
// position's first. Values read there are ignored; values written there belong to the position that the same loop computes next.
#define SINDRI_FOR_BLOCKS(A, USE_SHORT, channels, room, SHORT, BODY) \
  { \
    int64_t c0 = 0; \
    for (; c0 + kBlock <= (channels); c0 += kBlock) { \
      constexpr int64_t n = kBlock; \
      BODY \
    } \
    while (c0 < (channels)) { \
      if constexpr (USE_SHORT) { \
        if (kHalf<A> != 0 && (channels)-c0 <= kHalf<A> && c0 + kHalf<A> <= (room)) { \
          constexpr int kLanes = kHalf<A> != 0 ? kHalf<A> : kFull<A>; \
          SHORT; \
          c0 += kLanes; \
          continue; \
        } \
        if (c0 + kFull<A> <= (room)) { \
          constexpr int kLanes = kFull<A>; \
          SHORT; \
          c0 += kLanes; \
          continue; \
        } \
      } \
      const int64_t n = (channels)-c0; \
      BODY break; \
    } \
  }

// Positions in windows of more than 256 elements are rare and have no vector code, which would take as long to compile as all other code.
template <class I> constexpr bool kVectors = sizeof(I) == 1;

// Lanes of the widest registers, and of half of them if the instruction set has them.
#if defined(__AVX512F__)
template <class A> constexpr int kFull = 64 / static_cast<int>(sizeof(A));
template <class A> constexpr int kHalf = kFull<A> / 2;
#elif defined(__AVX2__)
template <class A> constexpr int kFull = 32 / static_cast<int>(sizeof(A));
template <class A> constexpr int kHalf = kFull<A> / 2;
#else
template <class A> constexpr int kFull = 16 / static_cast<int>(sizeof(A));
template <class A> constexpr int kHalf = 0;
#endif

template <class A> struct IndexOf { using type = int32_t; };
template <> struct IndexOf<double> { using type = int64_t; };

// kLanes values as vectors: A computes, Index holds positions and comparison results.
template <class A, int kLanes> struct Lanes {
  using I = typename IndexOf<A>::type;
  typedef A Value __attribute__((vector_size(kLanes * sizeof(A))));
  typedef I Index __attribute__((vector_size(kLanes * sizeof(A))));

  template <class T> static SINDRI_SIMD_MEMBER Value load(const T* p) {
    Value v{};
    if constexpr (sizeof(T) == sizeof(A)) {
      __builtin_memcpy(&v, p, sizeof v);
    } else {
      for (int i = 0; i < kLanes; ++i) v[i] = widen(p[i]);
    }
    return v;
  }
  template <class T> static SINDRI_SIMD_MEMBER void store(Value v, T* p) {
    if constexpr (sizeof(T) == sizeof(A)) {
      __builtin_memcpy(p, &v, sizeof v);
    } else {
      for (int i = 0; i < kLanes; ++i) narrow(v[i], &p[i]);
    }
  }
  template <class S> static SINDRI_SIMD_MEMBER Index load_index(const S* p) {
    typedef S Stored __attribute__((vector_size(kLanes * sizeof(S))));
    Stored s;
    __builtin_memcpy(&s, p, sizeof s);
    return __builtin_convertvector(s, Index);
  }
  template <class S> static SINDRI_SIMD_MEMBER void store_index(Index v, S* p) {
    typedef S Stored __attribute__((vector_size(kLanes * sizeof(S))));
    const Stored s = __builtin_convertvector(v, Stored);
    __builtin_memcpy(p, &s, sizeof s);
  }
};

SINDRI_SIMD_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Elements from a position of x (or of y) to the end of the image, for the last position of the block [0, h_end) x [0, w_end).
SINDRI_SIMD_INLINE int64_t room_in_x(const PoolImage& p, int64_t h_end, int64_t w_end) {
  return (p.rows.in * p.cols.in - ((h_end - 1) * p.cols.in + w_end - 1)) * p.channels;
}
SINDRI_SIMD_INLINE int64_t room_in_y(const PoolImage& p, int64_t oh_end, int64_t ow_end) {
  return (p.rows.out * p.cols.out - ((oh_end - 1) * p.cols.out + ow_end - 1)) * p.channels;
}

// A window clipped to the image, read once per position: tables would be read again after every byte store, which may alias them.
struct Window {
  int64_t h0, h1, w0, w1, place;  // place: position of (h0, w0) in the unclipped window
};
SINDRI_SIMD_INLINE Window window_of(const PoolImage& p, int64_t oh, int64_t ow) {
  const int64_t h = p.rows.begin[oh], w = p.cols.begin[ow];
  return {h, p.rows.end[oh], w, p.cols.end[ow], (h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]};
}

// kRows, kCols: size of the window, 0 for any.
template <int kLanes, int kRows, int kCols, class T, class I>
SINDRI_SIMD_INLINE void max_lanes_of(const PoolImage& p, const Window& o, const T* __restrict x, T* __restrict y, I* __restrict argmax) {
  using A = typename Compute<T>::type;
  using L = Lanes<A, kLanes>;
  const int64_t rows = kRows != 0 ? kRows : o.h1 - o.h0, cols = kCols != 0 ? kCols : o.w1 - o.w0, C = p.channels, width = p.cols.in;
  const T* row = x + (o.h0 * width + o.w0) * C;
  typename L::Value best = L::load(row);
  typename L::Index place = static_cast<typename L::I>(o.place) + typename L::Index{};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i == 0 ? 1 : 0; j < cols; ++j) {
      const typename L::Value a = L::load(row + (i * width + j) * C);
      const typename L::Index take = (a > best) | (a != a);
      best = take ? a : best;
      place = take ? static_cast<typename L::I>(o.place + i * p.kernel_w + j) + typename L::Index{} : place;
    }
  L::store(best, y);
  L::store_index(place, argmax);
}
template <int kLanes, class T, class I>
SINDRI_SIMD_INLINE void max_lanes(const PoolImage& p, const Window& o, const T* __restrict x, T* __restrict y, I* __restrict argmax) {
  if (o.h1 - o.h0 == 2 && o.w1 - o.w0 == 2) return max_lanes_of<kLanes, 2, 2>(p, o, x, y, argmax);
  max_lanes_of<kLanes, 0, 0>(p, o, x, y, argmax);
}

// Computes the outputs of a row of adjacent windows whose channels fit one vector, as far as x can be read in whole vectors. Returns their number. Only the
// maxima are left to compute in its loop. Small images need this, since they have few channels and many positions.
template <int kLanes, class T, class I>
SINDRI_SIMD_INLINE int64_t max_row_of_vectors(const PoolImage& p, const T* __restrict x, int64_t oh, T* __restrict y, I* __restrict argmax) {
  const int64_t C = p.channels, kh = p.rows.end[0], kw = p.kernel_w;
  int64_t count = p.cols.out;
  while (count > 0 && room_in_x(p, (oh + 1) * kh, count * kw) < kLanes) --count;
  Window o = {oh * kh, oh * kh + kh, 0, kw, 0};
  for (int64_t ow = 0; ow < count; ++ow) {
    if ((p.cols.out - ow) * C >= kLanes) {
      max_lanes<kLanes>(p, o, x, y + ow * C, argmax + ow * C);
    } else {
      T last_y[kLanes];
      I last_argmax[kLanes];
      max_lanes<kLanes>(p, o, x, last_y, last_argmax);
      __builtin_memcpy(y + ow * C, last_y, static_cast<size_t>(C) * sizeof(T));
      __builtin_memcpy(argmax + ow * C, last_argmax, static_cast<size_t>(C) * sizeof(I));
    }
    o.w0 += kw, o.w1 += kw;
  }
  return count;
}

template <class T, class I> SINDRI_SIMD_INLINE void max_row(const PoolImage& p, const T* __restrict x, int64_t oh, T* __restrict y, I* __restrict argmax) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  int64_t first = 0;
  if constexpr (kVectors<I>) {
    if (p.separate && kHalf<A> != 0 && C <= kHalf<A>) first = max_row_of_vectors < kHalf<A> != 0 ? kHalf<A> : kFull < A >> (p, x, oh, y, argmax);
    else if (p.separate && C <= kFull<A>) first = max_row_of_vectors<kFull<A>>(p, x, oh, y, argmax);
  }
  for (int64_t ow = first; ow < p.cols.out; ++ow) {
    const Window window = window_of(p, oh, ow);
    const int64_t room = smaller((p.cols.out - ow) * C, room_in_x(p, window.h1, window.w1));
    SINDRI_FOR_BLOCKS(A, kVectors<I>, C, room, (max_lanes<kLanes>(p, window, x + c0, y + ow * C + c0, argmax + ow * C + c0)), {
      A best[kBlock];
      int32_t place[kBlock];
      for (int64_t c = 0; c < n; ++c) {
        best[c] = -static_cast<A>(__builtin_inff());
        place[c] = -1;
      }
      for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h)
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) {
          const T* __restrict v = x + (h * p.cols.in + w) * C + c0;
          const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]);
          for (int64_t c = 0; c < n; ++c) {
            const A a = widen(v[c]);
            const bool take = (a > best[c]) | (a != a) | (place[c] < 0);
            best[c] = take ? a : best[c];
            place[c] = take ? k : place[c];
          }
        }
      for (int64_t c = 0; c < n; ++c) narrow(best[c], &y[ow * C + c0 + c]);
      for (int64_t c = 0; c < n; ++c) argmax[ow * C + c0 + c] = static_cast<I>(place[c]);
    })
  }
}

template <int kLanes, class T, class I>
SINDRI_SIMD_INLINE void max_grad_lanes(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t h, int64_t w, T* __restrict dx) {
  using A = typename Compute<T>::type;
  using L = Lanes<A, kLanes>;
  typename L::Value sum = {};
  for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
    for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
      const int64_t at = (oh * p.cols.out + ow) * p.channels;
      const auto k = static_cast<typename L::I>((h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]);
      const typename L::Index here = L::load_index(argmax + at) == k;
      sum += here ? L::load(dy + at) : typename L::Value{};
    }
  L::store(sum, dx);
}

// Adds one dy to the kRows x kCols positions of its window (0: p's kernel). kEdge: only `room` elements of each row may be written.
template <int kLanes, int kRows, int kCols, bool kEdge, class T, class I>
SINDRI_SIMD_INLINE void max_grad_window(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t room, T* __restrict dx) {
  using L = Lanes<typename Compute<T>::type, kLanes>;
  const int64_t rows = kRows != 0 ? kRows : p.rows.end[0], cols = kCols != 0 ? kCols : p.kernel_w, C = p.channels, width = p.cols.in;
  const typename L::Value g = typename L::Value{} + L::load(dy);
  const typename L::Index place = L::load_index(argmax);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      const typename L::Index here = place == static_cast<typename L::I>(i * cols + j);
      const typename L::Value v = here ? g : typename L::Value{};
      T* to = dx + (i * width + j) * C;
      if (!kEdge || room - j * C >= kLanes) {
        L::store(v, to);
      } else {
        T last[kLanes];
        L::store(v, last);
        __builtin_memcpy(to, last, static_cast<size_t>(C) * sizeof(T));
      }
    }
}

// Like max_row_of_vectors, for the first windows of row oh.
template <int kLanes, class T, class I>
SINDRI_SIMD_INLINE int64_t max_grad_of_vectors(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t oh, T* __restrict dx) {
  const int64_t C = p.channels, kh = p.rows.end[0], kw = p.kernel_w, outs = p.cols.out;
  int64_t count = outs;
  while (count > 0 && room_in_y(p, oh + 1, count) < kLanes) --count;
  T* to = dx + oh * kh * p.cols.in * C;
  for (int64_t ow = 0; ow < count; ++ow) {
    const int64_t at = (oh * outs + ow) * C, room = (outs - ow) * kw * C;
    T* window = to + ow * kw * C;
    if (room - (kw - 1) * C < kLanes) max_grad_window<kLanes, 0, 0, true>(p, dy + at, argmax + at, room, window);
    else if (kh == 2 && kw == 2) max_grad_window<kLanes, 2, 2, false>(p, dy + at, argmax + at, room, window);
    else max_grad_window<kLanes, 0, 0, false>(p, dy + at, argmax + at, room, window);
  }
  return count;
}

// For adjacent windows (stride = kernel, no padding). Each input is in at most one of them, so row oh of dy fills kernel_h rows of dx.
template <class T, class I>
SINDRI_SIMD_INLINE void max_grad_separate(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t oh, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels, width = p.cols.in, kh = p.rows.end[0], kw = p.kernel_w, outs = p.cols.out, used = outs * kw;
  const int64_t last = oh + 1 == p.rows.out ? p.rows.in : (oh + 1) * kh;  // rows not covered by any window follow the last one
  for (int64_t h = oh * kh; h < last; ++h) {
    T* row = dx + h * width * C;
    const int64_t from = h < (oh + 1) * kh ? used : 0;
    for (int64_t i = from * C; i < width * C; ++i) narrow(static_cast<A>(0), &row[i]);
  }
  int64_t first = 0;
  if constexpr (kVectors<I>) {
    if (kHalf<A> != 0 && C <= kHalf<A>) first = max_grad_of_vectors < kHalf<A> != 0 ? kHalf<A> : kFull < A >> (p, dy, argmax, oh, dx);
    else if (C <= kFull<A>) first = max_grad_of_vectors<kFull<A>>(p, dy, argmax, oh, dx);
  }
  for (int64_t ow = first; ow < outs; ++ow) {
    const T* g = dy + (oh * outs + ow) * C;
    const I* place = argmax + (oh * outs + ow) * C;
    for (int64_t i = 0; i < kh; ++i)
      for (int64_t j = 0; j < kw; ++j) {
        T* __restrict to = dx + ((oh * kh + i) * width + ow * kw + j) * C;
        const auto k = static_cast<int32_t>(i * kw + j);
        for (int64_t c = 0; c < C; ++c) narrow(static_cast<A>(0) + (static_cast<int32_t>(place[c]) == k ? widen(g[c]) : 0), &to[c]);
      }
  }
}

template <class T, class I>
SINDRI_SIMD_INLINE void max_grad_row(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t h, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t w = 0; w < p.cols.in; ++w) {
    const int64_t room = smaller((p.cols.in - w) * C, room_in_y(p, p.rows.to[h], p.cols.to[w]));
    SINDRI_FOR_BLOCKS(A, kVectors<I>, C, room, (max_grad_lanes<kLanes>(p, dy + c0, argmax + c0, h, w, dx + w * C + c0)), {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
        for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
          const int64_t at = (oh * p.cols.out + ow) * C + c0;
          const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]);
          for (int64_t c = 0; c < n; ++c) sum[c] += static_cast<int32_t>(argmax[at + c]) == k ? widen(dy[at + c]) : 0;
        }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c], &dx[w * C + c0 + c]);
    })
  }
}

template <int kLanes, class T> SINDRI_SIMD_INLINE void avg_lanes(const PoolImage& p, const T* __restrict x, int64_t oh, int64_t ow, T* __restrict y) {
  using A = typename Compute<T>::type;
  using L = Lanes<A, kLanes>;
  typename L::Value sum = {};
  for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h) {
    typename L::Value part = {};
    for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) part += L::load(x + (h * p.cols.in + w) * p.channels);
    sum += part;
  }
  L::store(sum / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]), y);
}

template <class T> SINDRI_SIMD_INLINE void avg_row(const PoolImage& p, const T* __restrict x, int64_t oh, T* __restrict y) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t ow = 0; ow < p.cols.out; ++ow) {
    const A divisor = static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]);
    const int64_t room = smaller((p.cols.out - ow) * C, room_in_x(p, p.rows.end[oh], p.cols.end[ow]));
    SINDRI_FOR_BLOCKS(A, true, C, room, (avg_lanes<kLanes>(p, x + c0, oh, ow, y + ow * C + c0)), {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h) {
        A part[kBlock];
        for (int64_t c = 0; c < n; ++c) part[c] = 0;
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) {
          const T* __restrict v = x + (h * p.cols.in + w) * C + c0;
          for (int64_t c = 0; c < n; ++c) part[c] += widen(v[c]);
        }
        for (int64_t c = 0; c < n; ++c) sum[c] += part[c];
      }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c] / divisor, &y[ow * C + c0 + c]);
    })
  }
}

template <int kLanes, class T> SINDRI_SIMD_INLINE void avg_grad_lanes(const PoolImage& p, const T* __restrict dy, int64_t h, int64_t w, T* __restrict dx) {
  using A = typename Compute<T>::type;
  using L = Lanes<A, kLanes>;
  typename L::Value sum = {};
  for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
    for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
      const A share = static_cast<A>(1) / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]);
      sum += L::load(dy + (oh * p.cols.out + ow) * p.channels) * share;
    }
  L::store(sum, dx);
}

template <class T> SINDRI_SIMD_INLINE void avg_grad_row(const PoolImage& p, const T* __restrict dy, int64_t h, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t w = 0; w < p.cols.in; ++w) {
    const int64_t room = smaller((p.cols.in - w) * C, room_in_y(p, p.rows.to[h], p.cols.to[w]));
    SINDRI_FOR_BLOCKS(A, true, C, room, (avg_grad_lanes<kLanes>(p, dy + c0, h, w, dx + w * C + c0)), {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
        for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
          const T* __restrict g = dy + (oh * p.cols.out + ow) * C + c0;
          const A share = static_cast<A>(1) / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]);
          for (int64_t c = 0; c < n; ++c) sum[c] += widen(g[c]) * share;
        }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c], &dx[w * C + c0 + c]);
    })
  }
}

// Finds the outputs [lo, hi) whose window has an input under its column kw. They form one range of ow, since begin and end in the condition begin <= start + kw
// < end both grow with ow.
SINDRI_SIMD_INLINE void covered(const PoolTable& cols, int64_t kw, int64_t stride, int64_t* lo, int64_t* hi) {
  const int64_t first = cols.start[0] + kw;
  *lo = first >= 0 ? 0 : (-first + stride - 1) / stride;
  *hi = cols.out;
  while (*hi > *lo && first + (*hi - 1) * stride >= cols.in) --*hi;
}

constexpr int64_t kKeptColumns = 16;  // kernels up to this wide compute their ranges once per plane

struct CoveredColumns {
  int64_t lo[kKeptColumns], hi[kKeptColumns];
};
SINDRI_SIMD_INLINE void find_covered(const PoolImage& p, CoveredColumns* c) {
  for (int64_t kw = 0; kw < p.kernel_w && kw < kKeptColumns; ++kw) covered(p.cols, kw, p.stride_w, &c->lo[kw], &c->hi[kw]);
}
SINDRI_SIMD_INLINE void covered_columns(const PoolImage& p, const CoveredColumns& c, int64_t kw, int64_t* lo, int64_t* hi) {
  if (kw >= kKeptColumns) return covered(p.cols, kw, p.stride_w, lo, hi);
  *lo = c.lo[kw], *hi = c.hi[kw];
}

// Folds column kw of one input row into the running maxima of a row of windows. kStride 0: any stride.
template <int64_t kStride, class T, class A>
SINDRI_SIMD_INLINE void max_column(const T* __restrict row, int64_t any_stride, int64_t n, int32_t k, A* __restrict best, int32_t* __restrict place) {
  const int64_t stride = kStride != 0 ? kStride : any_stride;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const A a = widen(row[i * stride]);
    const bool take = (a > best[i]) | (a != a) | (place[i] < 0);
    best[i] = take ? a : best[i];
    place[i] = take ? k : place[i];
  }
}

template <class T, class I> SINDRI_SIMD_INLINE void max_plane(const PoolImage& p, const T* __restrict x, T* __restrict y, I* __restrict argmax) {
  using A = typename Compute<T>::type;
  const int64_t ow = p.cols.out, s = p.stride_w;
  A best[kMaxPoolWidth];
  int32_t place[kMaxPoolWidth];
  CoveredColumns columns;
  find_covered(p, &columns);
  for (int64_t oh = 0; oh < p.rows.out; ++oh) {
    for (int64_t i = 0; i < ow; ++i) {
      best[i] = -static_cast<A>(__builtin_inff());
      place[i] = -1;
    }
    for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h)
      for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
        int64_t lo = 0, hi = 0;
        covered_columns(p, columns, kw, &lo, &hi);
        if (lo >= hi) continue;
        const T* row = x + h * p.cols.in + p.cols.start[0] + kw + lo * s;
        const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + kw);
        if (s == 1) max_column<1>(row, s, hi - lo, k, best + lo, place + lo);
        else if (s == 2) max_column<2>(row, s, hi - lo, k, best + lo, place + lo);
        else max_column<0>(row, s, hi - lo, k, best + lo, place + lo);
      }
    for (int64_t i = 0; i < ow; ++i) narrow(best[i], &y[oh * ow + i]);
    for (int64_t i = 0; i < ow; ++i) argmax[oh * ow + i] = static_cast<I>(place[i]);
  }
}

template <int64_t kStride, class T, class I, class A>
SINDRI_SIMD_INLINE void max_grad_column(const T* __restrict dy, const I* __restrict argmax, int64_t any_stride, int64_t n, int32_t k, A* __restrict sum) {
  const int64_t stride = kStride != 0 ? kStride : any_stride;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i * stride] += static_cast<int32_t>(argmax[i]) == k ? widen(dy[i]) : 0;
}

template <class T, class I> SINDRI_SIMD_INLINE void max_grad_plane(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t ow = p.cols.out, width = p.cols.in, s = p.stride_w;
  A sum[kMaxPoolWidth];
  CoveredColumns columns;
  find_covered(p, &columns);
  for (int64_t h = 0; h < p.rows.in; ++h) {
    for (int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
      for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
        int64_t lo = 0, hi = 0;
        covered_columns(p, columns, kw, &lo, &hi);
        if (lo >= hi) continue;
        A* to = sum + p.cols.start[0] + kw + lo * s;
        const int64_t at = oh * ow + lo;
        const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + kw);
        if (s == 1) max_grad_column<1>(dy + at, argmax + at, s, hi - lo, k, to);
        else if (s == 2) max_grad_column<2>(dy + at, argmax + at, s, hi - lo, k, to);
        else max_grad_column<0>(dy + at, argmax + at, s, hi - lo, k, to);
      }
    for (int64_t i = 0; i < width; ++i) narrow(sum[i], &dx[h * width + i]);
  }
}

constexpr int64_t kRun = 1024;

// Sum of at most kRun elements in 16 lanes that are added pairwise, so that wide windows vectorise and rounding errors stay small.
template <class A, class T> SINDRI_SIMD_INLINE A run_sum(const T* __restrict x, int64_t n) {
  constexpr int64_t kLanes = 16;
  A tail = 0;
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) tail += widen(x[i]);
    return tail;
  }
  A lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += widen(x[i + l]);
  for (; i < n; ++i) tail += widen(x[i]);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0] + tail;
}

// Sum of any number of elements: runs are added in double, since lanes over a whole plane would lose precision.
template <class A, class T> SINDRI_SIMD_INLINE double long_sum(const T* __restrict x, int64_t n) {
  double total = 0;
  for (int64_t start = 0; start < n; start += kRun) total += static_cast<double>(run_sum<A>(x + start, smaller(kRun, n - start)));
  return total;
}

template <class T> SINDRI_SIMD_INLINE void avg_plane(const PoolImage& p, const T* __restrict x, T* __restrict y) {
  using A = typename Compute<T>::type;
  for (int64_t oh = 0; oh < p.rows.out; ++oh)
    for (int64_t ow = 0; ow < p.cols.out; ++ow) {
      const int64_t w = p.cols.begin[ow], n = p.cols.end[ow] - w, h0 = p.rows.begin[oh], h1 = p.rows.end[oh], count = n * (h1 - h0);
      A sum = 0;
      if (n == p.cols.in) {  // whole rows are contiguous
        sum = count <= kRun ? run_sum<A>(x + h0 * n, count) : static_cast<A>(long_sum<A>(x + h0 * n, count));
      } else if (count > kRun) {
        double total = 0;
        for (int64_t h = h0; h < h1; ++h) total += long_sum<A>(x + h * p.cols.in + w, n);
        sum = static_cast<A>(total);
      } else {
        for (int64_t h = h0; h < h1; ++h) sum += run_sum<A>(x + h * p.cols.in + w, n);
      }
      narrow(sum / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]), &y[oh * p.cols.out + ow]);
    }
}

template <class T> SINDRI_SIMD_INLINE void avg_grad_plane(const PoolImage& p, const T* __restrict dy, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t width = p.cols.in;
  A sum[kMaxPoolWidth];
  for (int64_t h = 0; h < p.rows.in; ++h) {
    for (int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
      for (int64_t ow = 0; ow < p.cols.out; ++ow) {
        const A g = widen(dy[oh * p.cols.out + ow]) * (static_cast<A>(1) / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]));
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) sum[w] += g;
      }
    for (int64_t i = 0; i < width; ++i) narrow(sum[i], &dx[h * width + i]);
  }
}

}  // namespace

#define SINDRI_EACH_TYPE(CALL) \
  switch (t) { \
    case DType::kBFloat16: { \
      using T = Bf16; \
      CALL; \
      return; \
    } \
    case DType::kFloat16: { \
      using T = F16; \
      CALL; \
      return; \
    } \
    case DType::kFloat32: { \
      using T = float; \
      CALL; \
      return; \
    } \
    default: { \
      using T = double; \
      CALL; \
    } \
  }

void max_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y, void* argmax) {
  SINDRI_EACH_TYPE(p.wide_index ? max_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y), static_cast<int32_t*>(argmax))
                                : max_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y), static_cast<uint8_t*>(argmax)))
}
void max_pool_grad_row(DType t, const PoolImage& p, const void* dy, const void* argmax, int64_t h, void* dx) {
  SINDRI_EACH_TYPE(p.wide_index ? max_grad_row(p, static_cast<const T*>(dy), static_cast<const int32_t*>(argmax), h, static_cast<T*>(dx))
                                : max_grad_row(p, static_cast<const T*>(dy), static_cast<const uint8_t*>(argmax), h, static_cast<T*>(dx)))
}
void max_pool_grad_separate(DType t, const PoolImage& p, const void* dy, const void* argmax, int64_t oh, void* dx) {
  SINDRI_EACH_TYPE(p.wide_index ? max_grad_separate(p, static_cast<const T*>(dy), static_cast<const int32_t*>(argmax), oh, static_cast<T*>(dx))
                                : max_grad_separate(p, static_cast<const T*>(dy), static_cast<const uint8_t*>(argmax), oh, static_cast<T*>(dx)))
}
void avg_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y) {
  SINDRI_EACH_TYPE(avg_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y)))
}
void avg_pool_grad_row(DType t, const PoolImage& p, const void* dy, int64_t h, void* dx) {
  SINDRI_EACH_TYPE(avg_grad_row(p, static_cast<const T*>(dy), h, static_cast<T*>(dx)))
}
void max_pool_plane(DType t, const PoolImage& p, const void* x, void* y, void* argmax) {
  SINDRI_EACH_TYPE(p.wide_index ? max_plane(p, static_cast<const T*>(x), static_cast<T*>(y), static_cast<int32_t*>(argmax))
                                : max_plane(p, static_cast<const T*>(x), static_cast<T*>(y), static_cast<uint8_t*>(argmax)))
}
void max_pool_grad_plane(DType t, const PoolImage& p, const void* dy, const void* argmax, void* dx) {
  SINDRI_EACH_TYPE(p.wide_index ? max_grad_plane(p, static_cast<const T*>(dy), static_cast<const int32_t*>(argmax), static_cast<T*>(dx))
                                : max_grad_plane(p, static_cast<const T*>(dy), static_cast<const uint8_t*>(argmax), static_cast<T*>(dx)))
}
void avg_pool_plane(DType t, const PoolImage& p, const void* x, void* y) { SINDRI_EACH_TYPE(avg_plane(p, static_cast<const T*>(x), static_cast<T*>(y))) }
void avg_pool_grad_plane(DType t, const PoolImage& p, const void* dy, void* dx) {
  SINDRI_EACH_TYPE(avg_grad_plane(p, static_cast<const T*>(dy), static_cast<T*>(dx)))
}

}  // namespace sindri::SINDRI_SIMD_NS
