// Packed matrix product of one tile (Goto and van de Geijn 2008): A in panels of kRows rows, B in panels of two vectors, so that
// the inner loop reads both in order and keeps its block of C in registers.
#include "src/device/cpu/gemm_simd.h"

#include <immintrin.h>

#include <utility>

namespace sindri::SINDRI_SIMD_NS {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 12;  // 24 of 32 registers hold C
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 6;  // 12 of 16
#else
constexpr int kVectorBytes = 16, kRows = 4;  // 8 of 16
#endif

template <class T> struct Vector;
template <> struct Vector<float> { typedef float type __attribute__((vector_size(kVectorBytes))); };
template <> struct Vector<double> { typedef double type __attribute__((vector_size(kVectorBytes))); };

template <class T> using V = typename Vector<T>::type;
template <class T> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T> constexpr int kCols = 2 * kLanes<T>;

template <class T> static inline __attribute__((always_inline)) V<T> load(const T* p) {
  V<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T> static inline __attribute__((always_inline)) void store(T* p, V<T> v) { __builtin_memcpy(p, &v, sizeof v); }

// Contraction is disabled for the whole build, so fused multiply-add is called explicitly.
static inline __attribute__((always_inline)) V<float> multiply_add(V<float> a, V<float> b, V<float> c) {
#if defined(__AVX512F__)
  return reinterpret_cast<V<float>>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<V<float>>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}
static inline __attribute__((always_inline)) V<double> multiply_add(V<double> a, V<double> b, V<double> c) {
#if defined(__AVX512F__)
  return reinterpret_cast<V<double>>(_mm512_fmadd_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<V<double>>(_mm256_fmadd_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(c)));
#else
  return a * b + c;
#endif
}

// Exchanges the off-diagonal blocks of side s of every 2s x 2s block; over s = 1, 2, 4, … that transposes.
template <class T, size_t s, size_t... lane> static inline __attribute__((always_inline)) void exchange(V<T> (&rows)[kLanes<T>], std::index_sequence<lane...>) {
  constexpr size_t n = kLanes<T>;
#pragma GCC unroll 16
  for (size_t i = 0; i < n; ++i) {
    if ((i & s) != 0) continue;
    const V<T> a = rows[i], b = rows[i + s];
    rows[i] = __builtin_shufflevector(a, b, ((lane & s) != 0 ? n + lane - s : lane)...);
    rows[i + s] = __builtin_shufflevector(a, b, ((lane & s) != 0 ? n + lane : lane + s)...);
  }
  if constexpr (2 * s < n) exchange<T, 2 * s>(rows, std::index_sequence<lane...>{});
}

// Packs a panel of `count` <= width lines that are contiguous along the depth, `line_stride` apart, one square of a
// vector's size at a time. If the panel's width is not a multiple of the vector, the last square writes past its row of
// the panel. It writes over data that is written later: the following rows, the next panel, or B after A. Lines from
// `count` on repeat the last one; their results are not written to C.
template <class T, int width> static inline __attribute__((always_inline)) void pack_transposed(const T* __restrict src, int64_t count, int64_t depth,
                                                                                                int64_t line_stride, T* __restrict out) {
  constexpr int lanes = kLanes<T>, last_square = (width - 1) / lanes * lanes;
  int64_t d = 0;
  for (; d + lanes <= depth; d += lanes) {
    for (int first = last_square; first >= 0; first -= lanes) {
      V<T> rows[lanes];
      for (int i = 0; i < lanes; ++i) rows[i] = load(src + (first + i < count ? first + i : count - 1) * line_stride + d);
      exchange<T, 1>(rows, std::make_index_sequence<lanes>{});
      for (int i = 0; i < lanes; ++i) store<T>(out + (d + i) * width + first, rows[i]);
    }
  }
  for (; d < depth; ++d)
    for (int i = 0; i < width; ++i) out[d * width + i] = src[(i < count ? i : count - 1) * line_stride + d];
}

// Packs panels of `width` lines of a strided matrix: out[panel][depth][width]. Lines missing from the last panel are undefined.
template <class T, int width> static inline __attribute__((always_inline)) void pack_panels(const T* __restrict src, int64_t lines, int64_t depth,
                                                                                            int64_t line_stride, int64_t depth_stride, T* __restrict out) {
  for (int64_t first = 0; first < lines; first += width, out += depth * width) {
    const T* from = src + first * line_stride;
    const int64_t count = lines - first < width ? lines - first : width;
    if (depth_stride == 1) {
      pack_transposed<T, width>(from, count, depth, line_stride, out);
    } else if (line_stride == 1 && count == width) {
      for (int64_t d = 0; d < depth; ++d)
        for (int i = 0; i < width; ++i) out[d * width + i] = from[d * depth_stride + i];
    } else {
      for (int64_t d = 0; d < depth; ++d)
        for (int64_t i = 0; i < width; ++i) out[d * width + i] = from[(i < count ? i : count - 1) * line_stride + d * depth_stride];
    }
  }
}

// block [kRows, kCols] = A panel [k, kRows] · B panel [k, kCols]
template <class T>
static inline __attribute__((always_inline)) void register_block(int64_t k, const T* __restrict a, const T* __restrict b, V<T> (&block)[kRows][2]) {
  for (int r = 0; r < kRows; ++r) block[r][0] = block[r][1] = V<T>{};
  for (int64_t d = 0; d < k; ++d) {
    const V<T> b0 = load(b + d * kCols<T>), b1 = load(b + d * kCols<T> + kLanes<T>);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V<T> x = a[d * kRows + r] - V<T>{};  // broadcast
      block[r][0] = multiply_add(x, b0, block[r][0]);
      block[r][1] = multiply_add(x, b1, block[r][1]);
    }
  }
}

template <class T>
static inline __attribute__((always_inline)) void write_block(const V<T> (&block)[kRows][2], int64_t rows, int64_t cols, T* c, int64_t ldc, bool accumulate) {
  if (cols == kCols<T>) {
    for (int r = 0; r < kRows; ++r) {
      if (r >= rows) break;
      T* p = c + r * ldc;
      store<T>(p, accumulate ? load(p) + block[r][0] : block[r][0]);
      store<T>(p + kLanes<T>, accumulate ? load(p + kLanes<T>) + block[r][1] : block[r][1]);
    }
    return;
  }
  T row[kCols<T>];
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows) break;
    store<T>(row, block[r][0]);
    store<T>(row + kLanes<T>, block[r][1]);
    for (int64_t j = 0; j < cols; ++j) c[r * ldc + j] = accumulate ? c[r * ldc + j] + row[j] : row[j];
  }
}

template <class T> static inline __attribute__((always_inline)) void tile(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                                                                          int64_t b_row, int64_t b_col, T* c, int64_t ldc, bool accumulate, T* pack) {
  T *packed_a = pack, *packed_b = pack + kGemmTileM * kGemmBlockK;
  // Equal pieces of the depth: a short last one would cost as much to write as a full one.
  const int64_t pieces = (k + kGemmBlockK - 1) / kGemmBlockK, piece = (k + pieces - 1) / pieces;
  for (int64_t k0 = 0; k0 < k; k0 += piece) {
    const int64_t depth = k - k0 < piece ? k - k0 : piece;
    pack_panels<T, kRows>(a + k0 * a_col, m, depth, a_row, a_col, packed_a);
    pack_panels<T, kCols<T>>(b + k0 * b_row, n, depth, b_col, b_row, packed_b);
    for (int64_t j = 0; j < n; j += kCols<T>)
      for (int64_t i = 0; i < m; i += kRows) {
        V<T> block[kRows][2];
        register_block<T>(depth, packed_a + i * depth, packed_b + j * depth, block);
        write_block<T>(block, m - i, n - j < kCols<T> ? n - j : kCols<T>, c + i * ldc + j, ldc, accumulate || k0 > 0);
      }
  }
}

// Computes `rows` rows of C by `vectors` vectors of columns, reading A and B in place, without packing.
template <int rows, int vectors> void block_in_place(int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, float* c) {
  V<float> block[rows][vectors] = {};
  for (int64_t d = 0; d < k; ++d) {
    V<float> line[vectors];
    for (int v = 0; v < vectors; ++v) line[v] = load(b + d * n + v * kLanes<float>);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const V<float> x = a[r * a_row + d * a_col] - V<float>{};  // broadcast
      for (int v = 0; v < vectors; ++v) block[r][v] = multiply_add(x, line[v], block[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) store<float>(c + r * n + v * kLanes<float>, block[r][v]);
}

// Computes the last rows, fewer than a full block.
template <int rows, int vectors> void rest_in_place(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, float* c) {
  if (m == rows) return block_in_place<rows, vectors>(n, k, a, a_row, a_col, b, c);
  if constexpr (rows > 1) rest_in_place<rows - 1, vectors>(m, n, k, a, a_row, a_col, b, c);
}

template <int vectors> void columns_in_place(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, float* c) {
  int64_t i = 0;
  for (; i + kRows <= m; i += kRows) block_in_place<kRows, vectors>(n, k, a + i * a_row, a_row, a_col, b, c + i * n);
  rest_in_place<kRows - 1, vectors>(m - i, n, k, a + i * a_row, a_row, a_col, b, c + i * n);
}

}  // namespace

void gemm_in_place_f32(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, float* c) {
  int64_t j = 0;
  for (; j + kCols<float> <= n; j += kCols<float>) columns_in_place<2>(m, n, k, a, a_row, a_col, b + j, c + j);
  for (; j < n; j += kLanes<float>) columns_in_place<1>(m, n, k, a, a_row, a_col, b + j, c + j);
}

void gemm_tile_f32(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, int64_t b_row, int64_t b_col, float* c,
                   int64_t ldc, bool accumulate, void* pack) {
  tile<float>(m, n, k, a, a_row, a_col, b, b_row, b_col, c, ldc, accumulate, static_cast<float*>(pack));
}
void gemm_tile_f64(int64_t m, int64_t n, int64_t k, const double* a, int64_t a_row, int64_t a_col, const double* b, int64_t b_row, int64_t b_col, double* c,
                   int64_t ldc, bool accumulate, void* pack) {
  tile<double>(m, n, k, a, a_row, a_col, b, b_row, b_col, c, ldc, accumulate, static_cast<double*>(pack));
}

}  // namespace sindri::SINDRI_SIMD_NS
