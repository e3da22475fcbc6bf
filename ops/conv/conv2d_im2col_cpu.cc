// conv2d and its gradients as matrix products (im2col), for the types and shapes oneDNN declines. A row is one output position
// (n, oh, ow), its columns are the input values under the kernel, ordered (kh, kw, c) so that channels-last runs are copied whole:
//   y  [rows, O] = columns [rows, K] · w^T [K, O],   dcolumns = dy · w [O, K],   dw [O, K] = dy^T · columns,   K = KH·KW·C/groups.
// Row blocks depend on the shape alone and gemm does not depend on threads, so results never do (strict mode included).
#include <algorithm>
#include <type_traits>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/context.h"
#include "src/device/cpu/gemm.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;

template <class From, class To> void convert(const From* from, To* to, int64_t n) {
  parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  });
}

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

template <class T> class Im2col {
 public:
  Im2col(const ConvGeometry& g, int64_t block_rows) : g_(g), k_(g.kh * g.kw * g.c_per_group()), block_(block_rows) {}

  void forward(const T* x, const T* weight, T* y, T* columns) const {
    const int64_t rows = g_.n * g_.oh * g_.ow;
    for (int64_t row = 0; row < rows; row += block_) {
      const int64_t count = std::min(block_, rows - row);
      for (int64_t group = 0; group < g_.groups; ++group) {
        const MatrixView<T> a = gather(x, row, count, group, columns), b{weight + group * g_.o_per_group() * k_, 1, k_};
        gemm(count, g_.o_per_group(), k_, a, b, y + row * g_.o + group * g_.o_per_group(), g_.o, false);
      }
    }
  }

  void input_grad(const T* dy, const T* weight, T* dx, T* columns) const {
    const int64_t rows_per_image = g_.oh * g_.ow, rows = g_.n * rows_per_image, image = g_.h * g_.w * g_.c;
    std::fill_n(dx, g_.n * image, T(0));
    for (int64_t row = 0; row < rows; row += block_) {
      const int64_t count = std::min(block_, rows - row);
      for (int64_t group = 0; group < g_.groups; ++group) {
        const MatrixView<T> a{dy + row * g_.o + group * g_.o_per_group(), g_.o, 1}, b{weight + group * g_.o_per_group() * k_, k_, 1};
        gemm(count, k_, g_.o_per_group(), a, b, columns, k_, false);
        scatter(columns, row, count, group, dx);
      }
    }
  }

  void weight_grad(const T* dy, const T* x, T* dw, T* columns) const {
    const int64_t rows = g_.n * g_.oh * g_.ow;
    for (int64_t row = 0; row < rows; row += block_) {
      const int64_t count = std::min(block_, rows - row);
      for (int64_t group = 0; group < g_.groups; ++group) {
        const MatrixView<T> a{dy + row * g_.o + group * g_.o_per_group(), 1, g_.o}, b = gather(x, row, count, group, columns);
        gemm(g_.o_per_group(), k_, count, a, b, dw + group * g_.o_per_group() * k_, k_, row > 0);
      }
    }
  }

 private:
  bool is_view() const {
    return g_.kh == 1 && g_.kw == 1 && g_.stride_h == 1 && g_.stride_w == 1 && g_.pad_top + g_.pad_bottom + g_.pad_left + g_.pad_right == 0;
  }

  // Columns of rows [row, row + count). A 1x1 convolution reads x itself.
  MatrixView<T> gather(const T* x, int64_t row, int64_t count, int64_t group, T* columns) const {
    const int64_t cg = g_.c_per_group();
    if (is_view()) return {x + row * g_.c + group * cg, g_.c, 1};
    parallel_for(count, std::max<int64_t>(1, 16384 / k_), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* to = columns + r * k_;
        for_each_tap(
            g_, row + r, group, [&](int64_t from, int64_t at) { std::copy_n(x + from, cg, to + at); }, [&](int64_t at) { std::fill_n(to + at, cg, T(0)); });
      }
    });
    return {columns, k_, 1};
  }

  // Adds columns into dx. Rows of different images touch different parts of it, and one image's rows are added in order.
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

  ConvGeometry g_;
  int64_t k_, block_;
};

// [O, C/groups, KH, KW] <-> [O, KH, KW, C/groups]
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

class Im2colConv final : public Kernel {
 public:
  explicit Im2colConv(const KernelQuery& q) : direction_(conv::direction_of(q)), g_(conv::geometry_of(q)), dtype_(q.in[0].dtype) {
    const int64_t size = dtype_ == DType::kFloat64 ? 8 : 4, k = g_.kh * g_.kw * g_.c_per_group(), rows = g_.n * g_.oh * g_.ow;
    constexpr int64_t kColumnBytes = 4 << 20;  // about what an L2 or a share of L3 holds
    block_ = std::clamp<int64_t>(kColumnBytes / (k * size), 64, std::max<int64_t>(64, rows));
    WorkspaceLayout layout;
    columns_at_ = layout.add(std::min(block_, rows) * k * size);
    weight_at_ = layout.add(g_.weight_numel() * size);
    if (is_half(dtype_)) x_at_ = layout.add(g_.x_shape().numel() * size), y_at_ = layout.add(g_.y_shape().numel() * size);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    switch (dtype_) {
      case DType::kFloat16: return run_as<float16, float>(ctx.workspace, in, out);
      case DType::kBFloat16: return run_as<bfloat16, float>(ctx.workspace, in, out);
      case DType::kFloat32: return run_as<float, float>(ctx.workspace, in, out);
      default: return run_as<double, double>(ctx.workspace, in, out);
    }
  }

 private:
  // 16-bit operands are widened into the workspace; others are used where they are.
  template <class T, class A> const A* widened(const Buffer& b, void* workspace, int64_t at) const {
    if constexpr (std::is_same_v<T, A>) return b.as<const A>();
    A* to = static_cast<A*>(workspace_at(workspace, at));
    convert(b.as<const T>(), to, b.meta->numel());
    return to;
  }
  template <class T, class A> A* result(const Buffer& b, void* workspace, int64_t at) const {
    if constexpr (std::is_same_v<T, A>) return b.as<A>();
    return static_cast<A*>(workspace_at(workspace, at));
  }
  template <class T, class A> void finish(const A* from, const Buffer& b) const {
    if constexpr (!std::is_same_v<T, A>) convert(from, b.as<T>(), b.meta->numel());
  }

  template <class T, class A> void run_as(void* workspace, Span<const Buffer> in, Span<const Buffer> out) {
    const Im2col<A> conv(g_, block_);
    A *columns = static_cast<A*>(workspace_at(workspace, columns_at_)), *weight = static_cast<A*>(workspace_at(workspace, weight_at_));
    if (direction_ == Direction::kForward) {
      const A* x = widened<T, A>(in[0], workspace, x_at_);
      A* y = result<T, A>(out[0], workspace, y_at_);
      weight_to_rows(g_, in[1].as<const T>(), weight);
      conv.forward(x, weight, y, columns);
      finish<T>(y, out[0]);
    } else if (direction_ == Direction::kInputGrad) {
      const A* dy = widened<T, A>(in[0], workspace, y_at_);
      A* dx = result<T, A>(out[0], workspace, x_at_);
      weight_to_rows(g_, in[1].as<const T>(), weight);
      conv.input_grad(dy, weight, dx, columns);
      finish<T>(dx, out[0]);
    } else {
      const A *dy = widened<T, A>(in[0], workspace, y_at_), *x = widened<T, A>(in[1], workspace, x_at_);
      conv.weight_grad(dy, x, weight, columns);
      rows_to_weight(g_, weight, out[0].as<T>());
    }
  }

  Direction direction_;
  ConvGeometry g_;
  DType dtype_;
  int64_t block_ = 0, columns_at_ = 0, weight_at_ = 0, x_at_ = 0, y_at_ = 0, workspace_ = 0;
};

std::string reject(const KernelQuery& q) { return conv::geometry_of(q).empty() ? "an operand has no elements" : ""; }
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<Im2colConv>(q); }

const bool kForward = register_kernel({.op = "conv2d", .name = "im2col", .reject = reject, .make = make});
const bool kInputGrad = register_kernel({.op = "conv2d_input_grad", .name = "im2col", .reject = reject, .make = make});
const bool kWeightGrad = register_kernel({.op = "conv2d_weight_grad", .name = "im2col", .reject = reject, .make = make});

}  // namespace
}  // namespace sindri
