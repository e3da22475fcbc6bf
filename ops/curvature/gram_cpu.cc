// gram and conv2d_gram on the CPU. "panels" gathers some rows of one block's columns at a time and multiplies them with themselves; rows of a matrix
// and channels of a 1x1 window are read in place. Pieces of rows have a fixed size and are added in order, so the result is bitwise identical for
// any number of threads.
#include <algorithm>
#include <vector>

#include "ops/curvature/blocks.h"
#include "src/device/cpu/gemm.h"
#include "src/device/cpu/half_convert.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace curvature;

template <class F> void with_type(DType t, F&& f) {
  switch (t) {
    case DType::kFloat16: return f(static_cast<const float16*>(nullptr), 0.0f);
    case DType::kBFloat16: return f(static_cast<const bfloat16*>(nullptr), 0.0f);
    case DType::kFloat32: return f(static_cast<const float*>(nullptr), 0.0f);
    default: return f(static_cast<const double*>(nullptr), 0.0);
  }
}

Window window_of(const KernelQuery& q) {
  const TensorMeta& x = q.in[0];
  return x.shape.rank() == 2 ? window_of_matrix(x, q.attrs.as<GramAttrs>().ones) : curvature::window_of(q.attrs.as<Conv2dGramAttrs>(), x);
}
int64_t block_of(const KernelQuery& q) { return q.in[0].shape.rank() == 2 ? q.attrs.as<GramAttrs>().block : q.attrs.as<Conv2dGramAttrs>().block; }

// Element k of row r of a group is channel k/(kh·kw) at tap k%(kh·kw). Returns its offset in channels-last x, kZero in the padding, or kOne after the
// last element.
constexpr int64_t kZero = -1, kOne = -2;
int64_t element(const Window& w, int64_t row, int64_t group, int64_t k) {
  if (k == w.elements()) return kOne;
  const int64_t taps = w.kh * w.kw, c = group * w.channels() + k / taps, p = k % taps / w.kw, q = k % taps % w.kw;
  const int64_t n = row / (w.oh * w.ow), i = row / w.ow % w.oh, j = row % w.ow;
  const int64_t h = i * w.stride_h + p * w.dilation_h - w.pad_top, col = j * w.stride_w + q * w.dilation_w - w.pad_left;
  if (h < 0 || h >= w.h || col < 0 || col >= w.w) return kZero;
  return ((n * w.h + h) * w.w + col) * w.c + c;
}

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Window w = window_of(q);
  const Blocks blocks = Blocks::of(w.d(), block_of(q));
  with_type(q.in[0].dtype, [&](auto* type, auto sum_type) {
    using T = std::remove_pointer_t<decltype(type)>;
    using Out = decltype(sum_type);
    const T* x = in[0].as<T>();
    Out* y = out[0].as<Out>();
    std::fill_n(y, q.out[0].numel(), Out(0));
    std::vector<double> row(static_cast<size_t>(blocks.b)), sum(static_cast<size_t>(blocks.b * blocks.b));
    for (int64_t at = 0; at < w.groups * blocks.count(); ++at) {
      const int64_t group = at / blocks.count(), begin = blocks.begin(at % blocks.count()), width = blocks.width(at % blocks.count());
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t r = 0; r < w.rows(); ++r) {
        for (int64_t k = 0; k < width; ++k) {
          const int64_t from = element(w, r, group, begin + k);
          row[static_cast<size_t>(k)] = from == kOne ? 1 : from == kZero ? 0 : static_cast<double>(x[from]);
        }
        for (int64_t i = 0; i < width; ++i)
          for (int64_t j = 0; j < width; ++j) sum[static_cast<size_t>(i * blocks.b + j)] += row[static_cast<size_t>(i)] * row[static_cast<size_t>(j)];
      }
      std::transform(sum.begin(), sum.end(), y + at * blocks.b * blocks.b, [](double v) { return static_cast<Out>(v); });
    }
  });
}

// Channels [begin, end) at one tap, adjacent in memory, and their position in a gathered row.
struct Run {
  int64_t p, q, begin, count, at;
};

// One block's columns ordered by tap, then channel, so that copies are as long as possible. order[i]: the element of the block in column i.
struct Columns {
  std::vector<Run> runs;
  std::vector<int64_t> order;
  bool ones;  ///< the last column is all ones
  Columns(const Window& w, int64_t begin, int64_t whole) : ones(begin + whole > w.elements()) {
    const int64_t taps = w.kh * w.kw, width = whole - (ones ? 1 : 0);
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t first = (begin - t + taps - 1) / taps, last = (begin + width - t + taps - 1) / taps;  // least c with c·taps + t >= begin, begin + width
      if (last > first) runs.push_back({t / w.kw, t % w.kw, first, last - first, static_cast<int64_t>(order.size())});
      for (int64_t c = first; c < last; ++c) order.push_back(c * taps + t - begin);
    }
    if (ones) order.push_back(width);
  }
};

template <class T, class Out> void gather(const Window& w, const Columns& columns, const T* x, int64_t group, int64_t row, int64_t count, Out* to) {
  const auto width = static_cast<int64_t>(columns.order.size());
  const T* const base = x + group * w.channels();
  int64_t n = row / (w.oh * w.ow), i = row / w.ow % w.oh, j = row % w.ow;
  for (int64_t r = 0; r < count; ++r, to += width) {
    if (columns.ones) to[width - 1] = Out(1);
    for (const Run& run : columns.runs) {
      const int64_t h = i * w.stride_h + run.p * w.dilation_h - w.pad_top, col = j * w.stride_w + run.q * w.dilation_w - w.pad_left;
      if (h < 0 || h >= w.h || col < 0 || col >= w.w) {
        std::fill_n(to + run.at, run.count, Out(0));
        continue;
      }
      const T* const from = base + ((n * w.h + h) * w.w + col) * w.c + run.begin;
      for (int64_t c = 0; c < run.count; ++c) to[run.at + c] = static_cast<Out>(from[c]);
    }
    if (++j == w.ow) {
      j = 0;
      if (++i == w.oh) i = 0, ++n;
    }
  }
}

// y [width, width] += colsᵀ·cols, rows of cols `stride` apart. Off-diagonal halves of a wide block are computed once (symmetric_end mirrors them).
constexpr int64_t kPart = 64;
template <class Out> void add_products(const Out* cols, int64_t stride, int64_t rows, int64_t width, Out* y, int64_t ldy) {
  for (int64_t i = 0; i < width; i += kPart) {
    const int64_t m = std::min(kPart, width - i);
    gemm(m, i + m, rows, MatrixView<Out>{cols + i, 1, stride}, MatrixView<Out>{cols, stride, 1}, y + i * ldy, ldy, true);
  }
}

constexpr int64_t kPieceRows = 8192, kPanelRows = 512;

class Panels final : public Kernel {
 public:
  explicit Panels(const KernelQuery& q)
      : w_(window_of(q)), blocks_(Blocks::of(w_.d(), block_of(q))), dtype_(q.in[0].dtype), pieces_(std::max<int64_t>(1, fixed_chunks(w_.rows(), kPieceRows))) {
    for (int64_t i = 0; i < blocks_.count(); ++i) columns_.emplace_back(w_, blocks_.begin(i), blocks_.width(i));
    in_place_ = w_.is_x() && !is_half(dtype_);
    lanes_ = std::min<int64_t>(tasks(), num_threads());
  }
  // A sum for every task and a gathered panel for every lane.
  int64_t workspace_bytes() const override { return (tasks() * sum_size() + lanes_ * panel_size()) * (dtype_ == DType::kFloat64 ? 8 : 4); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    with_type(dtype_, [&](auto* type, auto sum_type) {
      using T = std::remove_pointer_t<decltype(type)>;
      using Out = decltype(sum_type);
      run_as<T, Out>(static_cast<Out*>(ctx.workspace), in[0].as<T>(), out[0].as<Out>());
    });
  }

 private:
  int64_t factors() const { return w_.groups * blocks_.count(); }
  int64_t tasks() const { return factors() * pieces_; }
  int64_t sum_size() const { return blocks_.b * blocks_.b; }
  int64_t panel_size() const { return in_place_ ? 0 : kPanelRows * blocks_.b; }

  template <class T, class Out> void run_as(Out* work, const T* x, Out* y) const {
    const auto lane = [&](int64_t l) {
      for (int64_t t = l; t < tasks(); t += lanes_) sum_piece<T, Out>(x, t, work + t * sum_size(), work + tasks() * sum_size() + l * panel_size());
    };
    // For a wide factor in few pieces the product uses threads itself.
    if (lanes_ >= num_threads()) parallel_tasks(lanes_, lane);
    else
      for (int64_t l = 0; l < lanes_; ++l) lane(l);
    parallel_for(factors(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) finish(work + f * pieces_ * sum_size(), f % blocks_.count(), y + f * sum_size());
    });
  }

  template <class T, class Out> void sum_piece(const T* x, int64_t task, Out* sum, Out* panel) const {
    const int64_t factor = task / pieces_, piece = task % pieces_, group = factor / blocks_.count(), i = factor % blocks_.count(), width = blocks_.width(i);
    const int64_t begin = piece * kPieceRows, end = std::min(w_.rows(), begin + kPieceRows);
    std::fill_n(sum, sum_size(), Out(0));
    if constexpr (std::is_same_v<T, const Out>) {
      if (in_place_) return add_products<Out>(x + begin * w_.c + group * w_.channels() + blocks_.begin(i), w_.c, end - begin, width, sum, blocks_.b);
    }
    for (int64_t row = begin; row < end; row += kPanelRows) {
      const int64_t rows = std::min(kPanelRows, end - row);
      gather(w_, columns_[static_cast<size_t>(i)], x, group, row, rows, panel);
      add_products<Out>(panel, width, rows, width, sum, blocks_.b);
    }
  }

  // Adds the pieces' sums in order, mirrors the triangle, and puts elements into the op's order.
  template <class Out> void finish(Out* sums, int64_t block, Out* y) const {
    const int64_t b = blocks_.b, width = blocks_.width(block);
    const std::vector<int64_t>& order = columns_[static_cast<size_t>(block)].order;
    for (int64_t p = 1; p < pieces_; ++p)
      for (int64_t i = 0; i < width; ++i)
        for (int64_t j = 0; j <= i; ++j) sums[i * b + j] += sums[p * sum_size() + i * b + j];
    std::fill_n(y, sum_size(), Out(0));
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        const int64_t r = in_place_ ? i : order[static_cast<size_t>(i)], c = in_place_ ? j : order[static_cast<size_t>(j)];
        y[r * b + c] = y[c * b + r] = sums[i * b + j];
      }
    }
  }

  Window w_;
  Blocks blocks_;
  DType dtype_;
  int64_t pieces_;
  std::vector<Columns> columns_;
  int64_t lanes_ = 1;  ///< number of tasks that run at once
  bool in_place_ = false;
};

std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<Panels>(q); }

const bool kGram = register_kernel({.op = "gram", .name = "panels", .make = make});
const bool kGramReference = register_kernel({.op = "gram", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kConv = register_kernel({.op = "conv2d_gram", .name = "panels", .make = make});
const bool kConvReference = register_kernel({.op = "conv2d_gram", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
