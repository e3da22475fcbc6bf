// See src/device/cuda/product.h. A block of 256 threads computes 64 x 64 elements of C, each thread 4 x 4 of them, from tiles of 64 x 16 of A and B in shared
// memory. The elements of the next tiles are loaded while the present ones are multiplied. Sums are in float (double for double).
//
// Memory: an element of A is read cols/64 times, one of B rows/64 times, mostly from L2, because consecutive blocks share their rows of A. The inner loop reads
// 8 elements of shared memory for 16 multiplications, so it reaches at most half of the arithmetic rate outside the tensor cores. Products that have to be fast
// use cuBLASLt and cuDNN.
//
// A product of few tiles over a great depth (weight gradients) is split along its depth, and a second kernel adds the parts in order. The number of parts
// depends on the sizes alone, so results do not depend on a GPU's number of multiprocessors.
#include "src/device/cuda/product.h"

#include <limits>
#include <vector>

namespace sindri::cuda {
namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;
constexpr int kPitch = kTile + 1;  // so that neighbouring depths are in different banks
constexpr int kBlock = kSide * kSide;
static_assert(kBlock == kThreads && kDepth == kSide);

SINDRI_DEVICE int64_t place(const Split& s, int64_t i) {
  if (s.by.value == 1) return i * s.outer;
  const int64_t q = s.by.quotient(i);
  return q * s.outer + (i - q * s.by.value) * s.inner;
}

// A line or a depth of an operand: its contribution to the element's offset and to the position in the image.
struct Position {
  int64_t at;
  int32_t h, w;
};

SINDRI_DEVICE Position pixel_position(const Window& v, int64_t i) {
  const int64_t n = v.plane.quotient(i), rest = i - n * v.plane.value, y = v.row.quotient(rest);
  return {n * v.stride_n, static_cast<int32_t>(y) * v.pixel_h + v.first_h, static_cast<int32_t>(rest - y * v.row.value) * v.pixel_w + v.first_w};
}
SINDRI_DEVICE Position tap_position(const Window& v, int64_t i) {
  const int64_t position = v.channels.quotient(i), r = v.width.quotient(position);
  return {(i - position * v.channels.value) * v.stride_c, static_cast<int32_t>(r) * v.tap_h, static_cast<int32_t>(position - r * v.width.value) * v.tap_w};
}
SINDRI_DEVICE Position line_position(const GatheredMatrix& m, int64_t i) {
  if (!m.windowed) return {place(m.line, i), 0, 0};
  return m.lines_are_pixels ? pixel_position(m.window, i) : tap_position(m.window, i);
}
SINDRI_DEVICE Position depth_position(const GatheredMatrix& m, int64_t i) {
  if (!m.windowed) return {place(m.depth, i), 0, 0};
  return m.lines_are_pixels ? tap_position(m.window, i) : pixel_position(m.window, i);
}

// Positions in a padded image are 32-bit integers (checked by the host), so no 64-bit division is needed.
SINDRI_DEVICE int32_t quotient32(const Divisor& d, int32_t n) {
  const auto u = static_cast<uint32_t>(n);
  return static_cast<int32_t>((static_cast<uint64_t>(__umulhi(u, d.multiplier)) + u) >> d.shift);
}
// Divides h by the stride. Returns whether the result is a position of the image.
SINDRI_DEVICE bool is_position(int32_t* h, const Divisor& every, int32_t size) {
  if (*h < 0) return false;
  if (every.value > 1) {
    const int32_t q = quotient32(every, *h);
    if (q * static_cast<int32_t>(every.value) != *h) return false;
    *h = q;
  }
  return *h < size;
}

template <class E> SINDRI_DEVICE Sum<E> element(const GatheredMatrix& m, const E* base, const Position& line, const Position& depth) {
  const int64_t at = line.at + depth.at;
  if (!m.windowed) return load(base[at]);
  const Window& v = m.window;
  int32_t h = line.h + depth.h, w = line.w + depth.w;
  if (!is_position(&h, v.every_h, v.h) || !is_position(&w, v.every_w, v.w)) return 0;
  return load(base[at + h * v.stride_h + w * v.stride_w]);
}

// A thread's share of an operand's tiles: kEach lines of one depth. Neighbouring threads load neighbouring depths or lines, whichever are contiguous.
template <class E> struct Loader {
  const GatheredMatrix& matrix;
  const E* base;
  int line, depth;  // position in the tile of the thread's first element
  bool there[kEach];  // whether the line is inside the matrix
  Position lines[kEach];
  Sum<E> next[kEach];

  SINDRI_DEVICE Loader(const GatheredMatrix& m, const E* base_, int64_t first_line, int64_t count) : matrix(m), base(base_), line(0), depth(0) {
    const int slow = static_cast<int>(threadIdx.x) / kSide, fast = static_cast<int>(threadIdx.x) % kSide;
    line = m.depth_is_dense ? slow : fast;
    depth = m.depth_is_dense ? fast : slow;
    SINDRI_UNROLL
    for (int e = 0; e < kEach; ++e) {
      const int64_t i = first_line + line + e * kSide;
      there[e] = i < count;
      lines[e] = there[e] ? line_position(m, i) : Position{0, 0, 0};
      next[e] = 0;
    }
  }
  // Loads the tile's elements from depth `first` on; those from `last` on are zero.
  SINDRI_DEVICE void fetch(int64_t first, int64_t last) {
    const bool inside = first + depth < last;
    const Position at = inside ? depth_position(matrix, first + depth) : Position{0, 0, 0};
    SINDRI_UNROLL
    for (int e = 0; e < kEach; ++e) next[e] = inside && there[e] ? element(matrix, base, lines[e], at) : Sum<E>(0);
  }
  template <class View> SINDRI_DEVICE void put(View&& tile) const {
    SINDRI_UNROLL
    for (int e = 0; e < kEach; ++e) tile[depth * kPitch + line + e * kSide] = next[e];
  }
};

template <class E> SINDRI_DEVICE void store(const Product& p, int64_t z, int64_t row, int64_t col, Sum<E> v) {
  const ProductResult& c = p.c;
  const int64_t at = z * c.batch + place(c.row, row) + place(c.col, col);
  if (c.bias != nullptr) {
    const int64_t i = z * p.cols + col;
    v += c.bias_is_wide ? static_cast<const Sum<E>*>(c.bias)[i] : load(static_cast<const E*>(c.bias)[i]);
  }
  if (c.residual != nullptr) v += load(static_cast<const E*>(c.residual)[at]);
  if (c.relu && v < 0) v = 0;
  static_cast<E*>(c.data)[at] = store_as<E>(v);
}

// A job is one tile of one product over one part of its depth; the tiles of a row are consecutive jobs.
template <class E> __global__ void multiply(Product p) {
  using S = Sum<E>;
  SINDRI_SHARED(S, a_tile, kDepth * kPitch);
  SINDRI_SHARED(S, b_tile, kDepth * kPitch);
  const int tx = static_cast<int>(threadIdx.x) % kSide, ty = static_cast<int>(threadIdx.x) / kSide;
  for (int64_t job = blockIdx.x; job < p.jobs; job += gridDim.x) {
    const int64_t row_of_tiles = p.col_tiles.quotient(job), above = p.row_tiles.quotient(row_of_tiles), part = p.products.quotient(above);
    const int64_t z = above - part * p.products.value;
    const int64_t row0 = (row_of_tiles - above * p.row_tiles.value) * kTile, col0 = (job - row_of_tiles * p.col_tiles.value) * kTile;
    int64_t at_a = 0, at_b = 0;
    for (int64_t d = p.batch.rank - 1, i = z; d >= 0; --d) {
      const int64_t q = p.batch.size[d].quotient(i), index = i - q * p.batch.size[d].value;
      at_a += index * p.batch.a[d];
      at_b += index * p.batch.b[d];
      i = q;
    }
    Loader<E> a(p.a, static_cast<const E*>(p.a.data) + at_a, row0, p.rows), b(p.b, static_cast<const E*>(p.b.data) + at_b, col0, p.cols);
    const int64_t first = part * p.part_depth, last = min(p.depth, first + p.part_depth);
    const bool works = row0 + ty < p.rows && col0 + tx < p.cols;
    S sum[kEach][kEach] = {};
    // Each round issues the loads of the next tiles, multiplies the present ones, and then replaces them.
    for (int64_t k = first - kDepth; k < last; k += kDepth) {
      if (k + kDepth < last) {
        a.fetch(k + kDepth, last);
        b.fetch(k + kDepth, last);
      }
      const int depth = k < first ? 0 : last - k < kDepth ? static_cast<int>(last - k) : kDepth;
      for (int d = 0; works && d < depth; ++d) {
        S left[kEach], right[kEach];
        SINDRI_UNROLL
        for (int e = 0; e < kEach; ++e) left[e] = a_tile[d * kPitch + ty + e * kSide];
        SINDRI_UNROLL
        for (int e = 0; e < kEach; ++e) right[e] = b_tile[d * kPitch + tx + e * kSide];
        SINDRI_UNROLL
        for (int i = 0; i < kEach; ++i) SINDRI_UNROLL
        for (int j = 0; j < kEach; ++j) sum[i][j] += left[i] * right[j];
      }
      __syncthreads();
      if (k + kDepth >= last) continue;
      a.put(a_tile);
      b.put(b_tile);
      __syncthreads();
    }
    SINDRI_UNROLL
    for (int i = 0; i < kEach; ++i) {
      SINDRI_UNROLL
      for (int j = 0; j < kEach; ++j) {
        const int64_t row = row0 + ty + i * kSide, col = col0 + tx + j * kSide;
        if (row >= p.rows || col >= p.cols) continue;
        if (p.parts == 1) store<E>(p, z, row, col, sum[i][j]);
        else static_cast<S*>(p.partial)[((part * p.count + z) * p.rows + row) * p.cols + col] = sum[i][j];
      }
    }
  }
}

template <class E> __global__ void add_parts(Product p) {
  const int64_t matrix = p.rows * p.cols, n = p.count * matrix;
  const auto* const partial = static_cast<const Sum<E>*>(p.partial);
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    Sum<E> sum = 0;
    for (int64_t part = 0; part < p.parts; ++part) sum += partial[part * n + i];
    const int64_t z = i / matrix, at = i - z * matrix, row = at / p.cols;
    store<E>(p, z, row, at - row * p.cols, sum);
  }
}

// ----- the host's side -----

constexpr int64_t kBusy = 512;  // jobs that keep a GPU of some 100 multiprocessors at work
constexpr int64_t kLeastPart = 512;  // depth of a part that is worth adding up once more
constexpr int64_t kMostPartialBytes = int64_t{64} << 20;

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const KernelQuery& q, const Product& product, const ProductOperands& operands)
      : product_(product), operands_(operands), dtype_(q.out[0].dtype), op_(q.op), attrs_(q.attrs) {
    in_.assign(q.in.begin(), q.in.end());
    out_.assign(q.out.begin(), q.out.end());
    Product& p = product_;
    const int64_t row_tiles = ceil_div(p.rows, kTile), col_tiles = ceil_div(p.cols, kTile), tiles = row_tiles * col_tiles * p.count;
    if (tiles == 0) return;
    const int64_t result_bytes = p.count * p.rows * p.cols * static_cast<int64_t>(dtype_ == DType::kFloat64 ? sizeof(double) : sizeof(float));
    const int64_t wanted = std::min({ceil_div(kBusy, tiles), p.depth / kLeastPart, kMostPartialBytes / result_bytes});
    p.part_depth = ceil_div(ceil_div(p.depth, std::max<int64_t>(1, wanted)), kDepth) * kDepth;
    p.parts = std::max<int64_t>(1, p.depth == 0 ? 1 : ceil_div(p.depth, p.part_depth));
    p.jobs = tiles * p.parts;
    p.col_tiles = Divisor(col_tiles, p.jobs);
    p.row_tiles = Divisor(row_tiles, p.jobs);
    p.products = Divisor(p.count, p.jobs);
    if (p.parts > 1) workspace_ = p.parts * result_bytes;
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    if (product_.jobs == 0) return;
    CudaStream& stream = cuda_stream(ctx);
    const OnDevice on(stream.device().index);
    Product p = product_;
    const auto address = [&](int i) -> const void* { return i < 0 ? nullptr : in[static_cast<size_t>(i)].data; };
    p.a.data = address(operands_.a);
    p.b.data = address(operands_.b);
    p.c.bias = address(operands_.bias);
    p.c.residual = address(operands_.residual);
    p.c.data = out[0].data;
    p.partial = ctx.workspace;
    const KernelQuery query{op_, attrs_, in_, out_};
    const Call call{query, in, out, ctx.workspace, stream};
    dispatch_floating_element(dtype_, [&]<class E>() {
      const int64_t most = std::numeric_limits<int32_t>::max();
      launch(call, {dim3(static_cast<unsigned>(std::min(p.jobs, most))), dim3(kBlock), 0}, multiply<E>, p);
      if (p.parts > 1) launch(call, grid_for(p.count * p.rows * p.cols), add_parts<E>, p);
    });
  }

 private:
  Product product_;
  ProductOperands operands_;
  DType dtype_;
  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
  int64_t workspace_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_product_kernel(const KernelQuery& query, const Product& product, const ProductOperands& operands) {
  return std::make_unique<ProductKernel>(query, product, operands);
}

}  // namespace sindri::cuda
