// gram and conv2d_gram on CUDA devices. A thread block multiplies 64 columns of a factor's block with 64 others over a piece of the rows, which it gathers from
// channels-last x as it loads them. A second kernel adds the pieces in order, mirrors them and puts elements into the weight's order. Sums are float32 (float64
// for float64) over runs of 256 rows; the runs are then added.
//
// Columns of a block are ordered by tap, then by channel, so that neighbours are adjacent in memory. x is read once for each 64 columns of a block.
#include "ops/curvature/blocks.h"
#include "ops/curvature/tiles_cuda.h"
#include "src/device/cuda/divisor.h"

namespace sindri::gram_cuda {
namespace {

using namespace curvature;

constexpr int64_t kRun = 256;  // rows that are summed separately

struct Plan {
  Window w;
  Blocks blocks;
  int64_t tiles, pairs;  // per block: number of tiles of columns, and number of tiles below or on the diagonal
  int64_t pieces, piece_rows;
  Divisor per_sample, per_row;  // output positions per sample, and per row of a sample
  int64_t rows, elements, d, channels, taps;
  bool vectors;  // whether four neighbouring channels may be read at once
};

// Column `at` of block i in the order of taps: a channel of the group and the offset of its tap, a one, or nothing.
struct Column {
  int64_t channel;
  int dy, dx;
  bool element, one;
};
SINDRI_DEVICE int64_t least_channel(int64_t k, int64_t tap, int64_t taps) { return k > tap ? (k - tap + taps - 1) / taps : 0; }
SINDRI_DEVICE int64_t width_of(const Plan& p, int64_t i) {
  const int64_t left = p.d - i * p.blocks.b;
  return left < p.blocks.b ? left : p.blocks.b;
}
SINDRI_DEVICE Column column_of(const Plan& p, int64_t i, int64_t at) {
  const int64_t begin = i * p.blocks.b, width = width_of(p, i), whole = begin + width > p.elements ? width - 1 : width;
  Column c{0, 0, 0, false, at == whole && at < width};
  if (at >= whole) return c;
  int64_t rest = at;
  for (int64_t t = 0; t < p.taps; ++t) {
    const int64_t first = least_channel(begin, t, p.taps), count = least_channel(begin + whole, t, p.taps) - first;
    if (rest >= count) {
      rest -= count;
      continue;
    }
    c.channel = first + rest;
    c.dy = static_cast<int>(t / p.w.kw * p.w.dilation_h - p.w.pad_top);
    c.dx = static_cast<int>(t % p.w.kw * p.w.dilation_w - p.w.pad_left);
    c.element = true;
    return c;
  }
  return c;
}
// Position in the order of taps of element `at` of block i in a weight's order.
SINDRI_DEVICE int64_t place_of(const Plan& p, int64_t i, int64_t at) {
  const int64_t begin = i * p.blocks.b, width = width_of(p, i), whole = begin + width > p.elements ? width - 1 : width;
  if (at >= whole) return at;
  const int64_t tap = (begin + at) % p.taps, channel = (begin + at) / p.taps;
  int64_t place = channel - least_channel(begin, tap, p.taps);
  for (int64_t t = 0; t < tap; ++t) place += least_channel(begin + whole, t, p.taps) - least_channel(begin, t, p.taps);
  return place;
}

// Four neighbouring columns of a block, read row by row.
struct Columns {
  Column c[4];
  bool neighbours;  // same tap, consecutive channels
};
SINDRI_DEVICE Columns columns_of(const Plan& p, int64_t i, int64_t at) {
  Columns s;
  for (int k = 0; k < 4; ++k) s.c[k] = column_of(p, i, at + k);
  s.neighbours = s.c[0].element && s.c[3].element && s.c[0].dy == s.c[3].dy && s.c[0].dx == s.c[3].dx && s.c[3].channel == s.c[0].channel + 3;
  return s;
}

template <class E, class T> SINDRI_DEVICE Four<T> read_row(const Plan& p, const Columns& s, const E* x, int64_t group, int64_t row) {
  const int64_t sample = p.per_sample.quotient(row), position = row - sample * p.per_sample.value, i = p.per_row.quotient(position),
                j = position - i * p.per_row.value;
  const int64_t top = i * p.w.stride_h, left = j * p.w.stride_w;
  struct alignas(4 * sizeof(E) < 16 ? 4 * sizeof(E) : 16) FourElements {
    E e[4];
  };
  Four<T> out{};
  const E* const base = x + sample * p.w.h * p.w.w * p.w.c + group * p.channels;
  if (s.neighbours) {
    const int64_t h = top + s.c[0].dy, w = left + s.c[0].dx;
    if (h < 0 || h >= p.w.h || w < 0 || w >= p.w.w) return out;
    const E* const from = base + (h * p.w.w + w) * p.w.c + s.c[0].channel;
    if (p.vectors && s.c[0].channel % 4 == 0) {
      const FourElements v = *reinterpret_cast<const FourElements*>(from);
      for (int k = 0; k < 4; ++k) out.e[k] = load(v.e[k]);
    } else {
      for (int k = 0; k < 4; ++k) out.e[k] = load(from[k]);
    }
    return out;
  }
  for (int k = 0; k < 4; ++k) {
    const int64_t h = top + s.c[k].dy, w = left + s.c[k].dx;
    if (s.c[k].one) out.e[k] = T(1);
    else if (s.c[k].element && h >= 0 && h < p.w.h && w >= 0 && w < p.w.w) out.e[k] = load(base[(h * p.w.w + w) * p.w.c + s.c[k].channel]);
  }
  return out;
}

// Tile pair (i >= j) with the given number.
SINDRI_DEVICE void tile_pair(int64_t pair, int64_t* i, int64_t* j) {
  int64_t row = 0;
  while ((row + 1) * (row + 2) / 2 <= pair) ++row;
  *i = row;
  *j = pair - row * (row + 1) / 2;
}

/// sums: [factor][piece][pair][64][64].
template <class E, class T> __global__ void __launch_bounds__(kTileThreads) multiply(Plan p, const E* x, T* sums) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  const int64_t block = blockIdx.x, pair = block % p.pairs, piece = block / p.pairs % p.pieces, factor = block / p.pairs / p.pieces;
  const int64_t count = p.blocks.b == 0 ? 1 : (p.d + p.blocks.b - 1) / p.blocks.b, group = factor / count, at = factor % count;
  int64_t i, j;
  tile_pair(pair, &i, &j);
  const Columns left = columns_of(p, at, i * kTile + 4 * (threadIdx.x % 16)), right = columns_of(p, at, j * kTile + 4 * (threadIdx.x % 16));
  T total[4][4] = {};
  const int64_t begin = piece * p.piece_rows, end = begin + p.piece_rows < p.rows ? begin + p.piece_rows : p.rows;
  for (int64_t run = begin; run < end; run += kRun) {
    T sum[4][4] = {};
    multiply_tile<Along::kEdge, Along::kEdge>(
        a, b, run, run + kRun < end ? run + kRun : end, [&](int64_t, int64_t row) { return read_row<E, T>(p, left, x, group, row); },
        [&](int64_t, int64_t row) { return read_row<E, T>(p, right, x, group, row); }, sum);
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 4; ++c) total[r][c] += sum[r][c];
  }
  T* const to = sums + block * kTile * kTile + threadIdx.x / 16 * 4 * kTile + threadIdx.x % 16 * 4;
  for (int r = 0; r < 4; ++r) *reinterpret_cast<Four<T>*>(to + r * kTile) = {total[r][0], total[r][1], total[r][2], total[r][3]};
}

template <class T> __global__ void gather(Plan p, const T* sums, T* y, int64_t n) {
  const int64_t b = p.blocks.b, count = (p.d + b - 1) / b;
  for (int64_t e = global_thread(); e < n; e += global_threads()) {
    const int64_t factor = e / (b * b), row = e / b % b, column = e % b, at = factor % count, width = width_of(p, at);
    T sum = 0;
    if (row < width && column < width) {
      int64_t i = place_of(p, at, row), j = place_of(p, at, column);
      if (i < j) {
        const int64_t other = i;
        i = j;
        j = other;
      }
      const int64_t tile = i / kTile, pair = tile * (tile + 1) / 2 + j / kTile, in_tile = i % kTile * kTile + j % kTile;
      for (int64_t piece = 0; piece < p.pieces; ++piece) sum += sums[((factor * p.pieces + piece) * p.pairs + pair) * kTile * kTile + in_tile];
    }
    y[e] = sum;
  }
}

Plan plan_of(const KernelQuery& q) {
  const TensorMeta& x = q.in[0];
  const bool matrix = x.shape.rank() == 2;
  Plan p{};
  p.w = matrix ? window_of_matrix(x, q.attrs.as<GramAttrs>().ones) : window_of(q.attrs.as<Conv2dGramAttrs>(), x);
  p.d = p.w.d(), p.elements = p.w.elements(), p.channels = p.w.channels(), p.rows = p.w.rows(), p.taps = p.w.kh * p.w.kw;
  p.blocks = Blocks::of(p.d, matrix ? q.attrs.as<GramAttrs>().block : q.attrs.as<Conv2dGramAttrs>().block);
  p.tiles = ceil_div(p.blocks.b, kTile);
  p.pairs = p.tiles * (p.tiles + 1) / 2;
  // Enough pieces for four blocks per multiprocessor of an H100, each of at least 1,024 rows. Their number depends on the shapes alone.
  const int64_t work = std::max<int64_t>(1, p.w.groups * p.blocks.count() * p.pairs);
  p.pieces = std::clamp<int64_t>(ceil_div(4 * 132, work), 1, std::max<int64_t>(1, p.rows / 1024));
  p.piece_rows = ceil_div(ceil_div(p.rows, p.pieces), kRun) * kRun;
  p.per_sample = Divisor(p.w.oh * p.w.ow, p.rows);
  p.per_row = Divisor(p.w.ow, p.rows);
  return p;
}
int64_t factors(const Plan& p) { return p.w.groups * p.blocks.count(); }
int64_t workspace(const KernelQuery& q) {
  const Plan p = plan_of(q);
  return factors(p) * p.pieces * p.pairs * kTile * kTile * (q.in[0].dtype == DType::kFloat64 ? 8 : 4);
}

void run(const Call& call) {
  Plan p = plan_of(call.query);
  const int64_t n = call.out[0].meta->numel();
  if (n == 0) return;
  dispatch_floating_element(call.in[0].meta->dtype, [&]<class E>() {
    using T = Number<E>;
    // A vector of four elements must be aligned to its size.
    const auto bytes = static_cast<uintptr_t>(std::min<size_t>(4 * sizeof(E), 16));
    p.vectors = p.w.c % 4 == 0 && p.channels % 4 == 0 && reinterpret_cast<uintptr_t>(call.in[0].data) % bytes == 0;
    auto* const sums = static_cast<T*>(call.workspace);
    launch(call, {dim3(static_cast<unsigned>(factors(p) * p.pieces * p.pairs)), dim3(kTileThreads), 0}, multiply<E, T>, p, call.input<E>(0), sums);
    launch(call, grid_for(n), gather<T>, p, sums, call.output<T>(0), n);
  });
}

const bool kGram = register_cuda_kernel({.op = "gram", .run = run, .workspace = workspace});
const bool kConv = register_cuda_kernel({.op = "conv2d_gram", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::gram_cuda
