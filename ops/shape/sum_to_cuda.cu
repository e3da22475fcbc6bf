// sum_to on CUDA devices. A block sums some neighbouring results: its threads are columns (results) times rows (elements to sum), and neighbours in memory are
// neighbouring threads whichever dimension is the fastest. Long sums are cut into chunks whose number depends on the shape alone; a second launch of the kernel
// adds their partial sums. So the order is fixed, and each element is read once.
#include <algorithm>
#include <bit>

#include "ops/shape/fill_cuda.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"
#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

// Elements that a thread sums before it adds their sum to its total: two levels halve the growth of rounding errors, and loads within a group do not
// wait for each other.
constexpr int kGroup = 16;
constexpr int64_t kMostBlocks = 132 * 8;

template <class A> SINDRI_DEVICE A read(const void* p, DType t, int64_t i) {
  switch (t) {
    case DType::kUInt8: return static_cast<A>(static_cast<const uint8_t*>(p)[i]);
    case DType::kInt32: return static_cast<A>(static_cast<const int32_t*>(p)[i]);
    case DType::kInt64: return static_cast<A>(static_cast<const int64_t*>(p)[i]);
    case DType::kFloat16: return static_cast<A>(widen(static_cast<const Half*>(p)[i]));
    case DType::kBFloat16: return static_cast<A>(widen(static_cast<const Bf16*>(p)[i]));
    case DType::kFloat32: return static_cast<A>(static_cast<const float*>(p)[i]);
    default: return static_cast<A>(static_cast<const double*>(p)[i]);
  }
}
template <class A> SINDRI_DEVICE void write(void* p, DType t, int64_t i, A v) {
  switch (t) {
    case DType::kUInt8: static_cast<uint8_t*>(p)[i] = static_cast<uint8_t>(v); break;
    case DType::kInt32: static_cast<int32_t*>(p)[i] = static_cast<int32_t>(v); break;
    case DType::kInt64: static_cast<int64_t*>(p)[i] = static_cast<int64_t>(v); break;
    case DType::kFloat16: static_cast<Half*>(p)[i] = to_half(static_cast<float>(v)); break;
    case DType::kBFloat16: static_cast<Bf16*>(p)[i] = to_bf16(static_cast<float>(v)); break;
    case DType::kFloat32: static_cast<float*>(p)[i] = static_cast<float>(v); break;
    default: static_cast<double*>(p)[i] = static_cast<double>(v);
  }
}

// Maps a linear index to two offsets.
struct Walk {
  int64_t n = 1;
  int rank = 0;
  Divisor size[Shape::kMaxRank];
  int64_t x[Shape::kMaxRank] = {}, y[Shape::kMaxRank] = {};
};
SINDRI_DEVICE int64_t offset_in(const Walk& w, const int64_t (&strides)[Shape::kMaxRank], int64_t i) {
  int64_t at = 0;
  for (int d = w.rank - 1; d > 0; --d) {
    const int64_t q = w.size[d].quotient(i);
    at += (i - q * w.size[d].value) * strides[d];
    i = q;
  }
  return w.rank > 0 ? at + i * strides[0] : 0;
}

struct Sums {
  Walk kept, summed;
  int cols = 1, rows = kThreads;  // powers of two, cols·rows = kThreads
  bool rows_side_by_side = false;  // neighbouring threads are neighbouring rows
  int64_t chunks = 1, chunk = 0;  // elements of a chunk
  Divisor col_blocks;  // blocks per chunk
  bool partial = false;  // results go to [chunks, kept.n], not to y
  DType in = DType::kFloat32, out = DType::kFloat32;
};

// A: float, double, or uint64_t, in which integers are summed modulo 2^64.
template <class A> __global__ void sum_blocks(Sums s, const void* x, void* y) {
  SINDRI_SHARED(A, sums, kThreads);
  const auto t = static_cast<int>(threadIdx.x);
  const int row = s.rows_side_by_side ? t % s.rows : t / s.cols, col = s.rows_side_by_side ? t / s.rows : t % s.cols;
  const int64_t blocks = s.chunks * s.col_blocks.value;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t chunk = s.col_blocks.quotient(b), k = (b - chunk * s.col_blocks.value) * s.cols + col;
    const bool used = k < s.kept.n;
    A total = 0;
    if (used) {
      const int64_t base = offset_in(s.kept, s.kept.x, k), end = min((chunk + 1) * s.chunk, s.summed.n);
      for (int64_t r = chunk * s.chunk + row; r < end; r += int64_t{kGroup} * s.rows) {
        A group = 0;
        for (int g = 0; g < kGroup; ++g)
          if (const int64_t at = r + int64_t{g} * s.rows; at < end) group += read<A>(x, s.in, base + offset_in(s.summed, s.summed.x, at));
        total += group;
      }
    }
    sums[row * s.cols + col] = total;
    __syncthreads();
    for (int half = s.rows / 2; half > 0; half /= 2) {
      if (row < half) sums[row * s.cols + col] = static_cast<A>(sums[row * s.cols + col]) + static_cast<A>(sums[(row + half) * s.cols + col]);
      __syncthreads();
    }
    if (used && row == 0) write<A>(y, s.out, s.partial ? chunk * s.kept.n + k : offset_in(s.kept, s.kept.y, k), sums[col]);
    __syncthreads();
  }
}

// ----- host code -----

// Dimensions of x in its physical order, without sizes of 1 and with neighbours of one kind joined if y allows.
void split_dimensions(const TensorMeta& x, const TensorMeta& y, Walk* kept, Walk* summed, bool* last_is_summed) {
  constexpr int kChannelsLastOrder[] = {0, 2, 3, 1};
  const Shape from = physical_strides(x), to = repeated_strides(y, x.shape);
  std::array<int64_t, Shape::kMaxRank> kept_size{}, summed_size{};
  int before = -1;  // 1: the dimension before was summed
  for (int i = 0; i < x.shape.rank(); ++i) {
    const int d = x.layout == Layout::kChannelsLast ? kChannelsLastOrder[i] : i;
    if (x.shape[d] == 1) continue;
    const bool sums = to[d] == 0;
    Walk& w = sums ? *summed : *kept;
    auto& size = sums ? summed_size : kept_size;
    w.n *= x.shape[d];
    const bool joins = before == static_cast<int>(sums) && (sums || w.y[w.rank - 1] == to[d] * x.shape[d]);
    if (!joins) ++w.rank;
    const auto at = static_cast<size_t>(w.rank - 1);
    size[at] = joins ? size[at] * x.shape[d] : x.shape[d];
    w.x[at] = from[d];
    w.y[at] = to[d];
    before = static_cast<int>(sums);
  }
  *last_is_summed = before == 1;
  for (int d = 0; d < kept->rank; ++d) kept->size[d] = Divisor(kept_size[static_cast<size_t>(d)], kept->n);
  for (int d = 0; d < summed->rank; ++d) summed->size[d] = Divisor(summed_size[static_cast<size_t>(d)], summed->n);
}

void arrange(Sums* s, bool rows_side_by_side) {
  s->rows_side_by_side = rows_side_by_side;
  const auto up = [](int64_t v, int64_t most) {
    return static_cast<int>(std::min<int64_t>(most, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(v)))));
  };
  if (rows_side_by_side) s->cols = kThreads / up(s->summed.n, kThreads);
  else s->cols = up(s->kept.n, s->summed.n >= 64 ? 32 : kThreads);
  s->rows = kThreads / s->cols;
  const int64_t col_blocks = ceil_div(s->kept.n, s->cols), wanted = std::max<int64_t>(1, kMostBlocks / col_blocks);
  // A chunk needs at least one group per thread.
  s->chunk = std::max<int64_t>(ceil_div(s->summed.n, wanted), int64_t{kGroup} * s->rows);
  s->chunks = ceil_div(s->summed.n, s->chunk);
  s->col_blocks = Divisor(col_blocks, s->chunks * col_blocks);
}

Sums plan(const TensorMeta& x, const TensorMeta& y) {
  Sums s;
  bool last_is_summed = false;
  split_dimensions(x, y, &s.kept, &s.summed, &last_is_summed);
  arrange(&s, last_is_summed);
  s.in = x.dtype;
  s.out = y.dtype;
  s.partial = s.chunks > 1;
  return s;
}

constexpr int64_t sum_size(DType t) { return t == DType::kFloat64 || !is_floating(t) ? 8 : 4; }

int64_t workspace(const KernelQuery& q) {
  if (q.in[0].numel() == 0) return 0;
  const Sums s = plan(q.in[0], q.out[0]);
  return s.partial ? s.chunks * s.kept.n * sum_size(q.in[0].dtype) : 0;
}

template <class A> void run_as(const Call& call, Sums s, DType own) {
  const auto grid = [](const Sums& sums) {
    return Grid{dim3(static_cast<unsigned>(std::min<int64_t>(sums.chunks * sums.col_blocks.value, 132 * 16))), dim3(kThreads), 0};
  };
  if (!s.partial) return launch(call, grid(s), sum_blocks<A>, s, call.in[0].data, call.out[0].data);
  const DType out = std::exchange(s.out, own);
  launch(call, grid(s), sum_blocks<A>, s, call.in[0].data, call.workspace);
  Sums second;  // adds up the partial sums [chunks, kept]
  second.kept = s.kept;
  second.summed.n = s.chunks;
  second.summed.rank = 1;
  second.summed.size[0] = Divisor(s.chunks, s.chunks);
  second.summed.x[0] = s.kept.n;
  // Partial sums are in the order of `kept`.
  int64_t stride = 1;
  for (int d = s.kept.rank - 1; d >= 0; stride *= s.kept.size[d--].value) second.kept.x[d] = stride;
  second.in = own;
  second.out = out;
  arrange(&second, false);
  second.chunk = second.summed.n;
  second.chunks = 1;
  second.col_blocks = Divisor(ceil_div(second.kept.n, second.cols), ceil_div(second.kept.n, second.cols));
  launch(call, grid(second), sum_blocks<A>, second, call.workspace, call.out[0].data);
}

void run(const Call& call) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  if (x.numel() == 0) return fill(call, call.out[0], 0);
  const Sums s = plan(x, y);
  if (!is_floating(x.dtype)) run_as<uint64_t>(call, s, DType::kInt64);
  else if (x.dtype == DType::kFloat64) run_as<double>(call, s, DType::kFloat64);
  else run_as<float>(call, s, DType::kFloat32);
}

const bool kSumTo = register_cuda_kernel({.op = "sum_to", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::cuda
