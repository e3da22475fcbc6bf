// See winograd_simd.h.
//
//        | 1  0 -1  0 |        | 1    0    0  |         | 1  1  1  0 |
//   Bᵀ = | 0  1  1  0 |    G = | 1/2  1/2 1/2 |    Aᵀ = | 0  1 -1 -1 |
//        | 0 -1  1  0 |        | 1/2 -1/2 1/2 |
//        | 0  1  0 -1 |        | 0    0    1  |
#include "ops/conv/winograd_simd.h"

#include "src/device/cpu/simd_vector.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

constexpr int kPanel = 2 * kVecFloats;  // the panel width of panel_simd.h

// One vector of channels or one channel, so that the transforms are written once. (Loops marked `omp simd` stay scalar, because
// of their arrays of intermediate values.)
struct Wide {
  typedef Vec T;
  static constexpr int64_t kSize = kVecFloats;
  SINDRI_SIMD_MEMBER static Vec get(const float* p) { return load(p); }
  SINDRI_SIMD_MEMBER static void put(float* p, Vec v) { store(p, v); }
};
struct Single {
  typedef float T;
  static constexpr int64_t kSize = 1;
  SINDRI_SIMD_MEMBER static float get(const float* p) { return *p; }
  SINDRI_SIMD_MEMBER static void put(float* p, float v) { *p = v; }
};
// Calls f(Wide or Single, c) for all channels.
template <class F> SINDRI_SIMD_INLINE void over_channels(int64_t channels, F&& f) {
  int64_t c = 0;
  for (; c + kVecFloats <= channels; c += kVecFloats) f(Wide{}, c);
  for (; c < channels; ++c) f(Single{}, c);
}

// 1-D transforms of four (three, two) values.
template <class T> SINDRI_SIMD_INLINE void input4(T a, T b, T c, T d, T* r) {
  r[0] = a - c;
  r[1] = b + c;
  r[2] = c - b;
  r[3] = b - d;
}
template <class T> SINDRI_SIMD_INLINE void output4(T a, T b, T c, T d, T* r) {
  r[0] = (a + b) + c;
  r[1] = (b - c) - d;
}
template <class T> SINDRI_SIMD_INLINE void output_grad2(T a, T b, T* r) {
  r[0] = a;
  r[1] = a + b;
  r[2] = a - b;
  r[3] = -b;
}
template <class T> SINDRI_SIMD_INLINE void weight3(T a, T b, T c, T* r) {
  const T s = (a + c) * 0.5f, h = b * 0.5f;
  r[0] = a;
  r[1] = s + h;
  r[2] = s - h;
  r[3] = c;
}
template <class T> SINDRI_SIMD_INLINE void weight_grad4(T a, T b, T c, T d, T* r) {
  const T s = (b + c) * 0.5f;
  r[0] = a + s;
  r[1] = (b - c) * 0.5f;
  r[2] = s + d;
}

// Aᵀ m A at channel c into four values.
template <class S> SINDRI_SIMD_INLINE void output_tile(const float* m, int64_t stride, typename S::T* r) {
  typename S::T t[4][2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const float* p = m + 4 * i * stride;
    output4(S::get(p), S::get(p + stride), S::get(p + 2 * stride), S::get(p + 3 * stride), t[i]);
  }
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    typename S::T column[2];
    output4(t[0][j], t[1][j], t[2][j], t[3][j], column);
    r[j] = column[0];
    r[2 + j] = column[1];
  }
}

}  // namespace

void winograd_input(const float* const* d, int64_t channels, float* v, int64_t stride) {
  over_channels(channels, [&]<class S>(S, int64_t c) {
    typename S::T t[4][4], column[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) input4(S::get(d[4 * i] + c), S::get(d[4 * i + 1] + c), S::get(d[4 * i + 2] + c), S::get(d[4 * i + 3] + c), t[i]);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      input4(t[0][j], t[1][j], t[2][j], t[3][j], column);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) S::put(v + (4 * i + j) * stride + c, column[i]);
    }
  });
}

void winograd_output(const float* m, int64_t stride, int64_t channels, float* const* y) {
  over_channels(channels, [&]<class S>(S, int64_t c) {
    typename S::T r[4];
    output_tile<S>(m + c, stride, r);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      if (y[i] != nullptr) S::put(y[i] + c, r[i]);
  });
}

void winograd_output_act(const float* m, int64_t stride, int64_t channels, float* const* y, const float* bias, const float* const* residual, bool relu) {
  over_channels(channels, [&]<class S>(S, int64_t c) {
    using T = typename S::T;
    T r[4];
    output_tile<S>(m + c, stride, r);
    const T b = S::get(bias + c);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (y[i] == nullptr) continue;
      T s = r[i] + b;
      if (residual != nullptr) s = s + S::get(residual[i] + c);
      S::put(y[i] + c, relu ? (s < T{} ? T{} : s) : s);
    }
  });
}

void winograd_output_grad(const float* const* dy, int64_t channels, float* w, int64_t stride) {
  over_channels(channels, [&]<class S>(S, int64_t c) {
    typename S::T t[2][4], column[4];
    output_grad2(S::get(dy[0] + c), S::get(dy[1] + c), t[0]);
    output_grad2(S::get(dy[2] + c), S::get(dy[3] + c), t[1]);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      output_grad2(t[0][j], t[1][j], column);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) S::put(w + (4 * i + j) * stride + c, column[i]);
    }
  });
}

void winograd_weights(const float* w, int64_t c_first, int64_t c_last, int64_t channels, int64_t outputs, int64_t c_stride, int64_t o_stride, bool rotated,
                      float* u) {
  const int64_t panels = (outputs + kPanel - 1) / kPanel, per_position = panels * channels * kPanel;
  for (int64_t c = c_first; c < c_last; ++c) {
    for (int64_t panel = 0; panel < panels; ++panel) {
      float g[9][kPanel] = {};
      const int64_t first = panel * kPanel, count = outputs - first < kPanel ? outputs - first : kPanel;
      for (int64_t o = 0; o < count; ++o) {
        const float* from = w + c * c_stride + (first + o) * o_stride;
        for (int i = 0; i < 9; ++i) g[i][o] = from[rotated ? 8 - i : i];
      }
      float* to = u + (panel * channels + c) * kPanel;
      for (int64_t o = 0; o < kPanel; o += kVecFloats) {
        Vec t[3][4], column[4];
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) weight3(load(g[3 * i] + o), load(g[3 * i + 1] + o), load(g[3 * i + 2] + o), t[i]);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          weight3(t[0][j], t[1][j], t[2][j], column);
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) store(to + (4 * i + j) * per_position + o, column[i]);
        }
      }
    }
  }
}

void winograd_weight_grad(const float* s, int64_t stride, int64_t first, int64_t last, int64_t channels, float* dw) {
  s += first * channels;
  dw += 9 * first * channels;
  over_channels((last - first) * channels, [&]<class S>(S, int64_t c) {
    typename S::T t[4][3], column[3];
    float r[9][S::kSize];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const float* p = s + 4 * k * stride + c;
      weight_grad4(S::get(p), S::get(p + stride), S::get(p + 2 * stride), S::get(p + 3 * stride), t[k]);
    }
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      weight_grad4(t[0][j], t[1][j], t[2][j], t[3][j], column);
#pragma GCC unroll 3
      for (int k = 0; k < 3; ++k) S::put(r[3 * k + j], column[k]);
    }
    for (int64_t lane = 0; lane < S::kSize; ++lane)
      for (int k = 0; k < 9; ++k) dw[9 * (c + lane) + k] = r[k][lane];
  });
}

}  // namespace sindri::SINDRI_SIMD_NS
