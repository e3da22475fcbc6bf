// conv2d and its gradients as matrix products over columns (im2col.h), for types and shapes that oneDNN does not support:
//   y  [rows, O] = columns [rows, K] · w^T [K, O],   dcolumns = dy · w [O, K],   dw [O, K] = dy^T · columns,   K = KH·KW·C/groups.
// Row blocks depend on the shape alone and gemm's result does not depend on the number of threads, so these results do not either
// (strict mode included).
#include <algorithm>
#include <type_traits>

#include "ops/conv/im2col.h"
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

template <class T> class Im2col {
 public:
  Im2col(const ConvGeometry& g, int64_t block_rows) : g_(g), columns_(g), k_(columns_.k()), block_(block_rows) {}

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
        columns_.scatter(columns, row, count, group, dx);
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
  MatrixView<T> gather(const T* x, int64_t row, int64_t count, int64_t group, T* to) const {
    const T* from = columns_.gather(x, row, count, group, to);
    return {from, columns_.is_view() ? g_.c : columns_.k(), 1};
  }

  ConvGeometry g_;
  conv::Columns<T> columns_;
  int64_t k_, block_;
};

class Im2colConv final : public Kernel {
 public:
  explicit Im2colConv(const KernelQuery& q) : direction_(conv::direction_of(q)), g_(conv::geometry_of(q)), dtype_(q.in[0].dtype) {
    const int64_t size = dtype_ == DType::kFloat64 ? 8 : 4, k = g_.kh * g_.kw * g_.c_per_group(), rows = g_.n * g_.oh * g_.ow;
    constexpr int64_t kColumnBytes = 4 << 20;  // about the size of an L2 cache or a share of L3
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
  // 16-bit operands are converted into the workspace; others are used in place.
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
    const Im2col<A> product(g_, block_);
    A *columns = static_cast<A*>(workspace_at(workspace, columns_at_)), *weight = static_cast<A*>(workspace_at(workspace, weight_at_));
    if (direction_ == Direction::kForward) {
      const A* x = widened<T, A>(in[0], workspace, x_at_);
      A* y = result<T, A>(out[0], workspace, y_at_);
      conv::weight_to_rows(g_, in[1].as<const T>(), weight);
      product.forward(x, weight, y, columns);
      finish<T>(y, out[0]);
    } else if (direction_ == Direction::kInputGrad) {
      const A* dy = widened<T, A>(in[0], workspace, y_at_);
      A* dx = result<T, A>(out[0], workspace, x_at_);
      conv::weight_to_rows(g_, in[1].as<const T>(), weight);
      product.input_grad(dy, weight, dx, columns);
      finish<T>(dx, out[0]);
    } else {
      const A *dy = widened<T, A>(in[0], workspace, y_at_), *x = widened<T, A>(in[1], workspace, x_at_);
      product.weight_grad(dy, x, weight, columns);
      conv::rows_to_weight(g_, weight, out[0].as<T>());
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
