// Pooling on the CPU. A gradient gathers: each input element sums the windows that cover it, in order. So threads never
// write the same element, and the sums do not depend on how the work is split.
#include <algorithm>

#include "ops/pool/pool_common.h"
#include "ops/pool/pool_simd.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri::ops {
namespace {

constexpr int64_t kGrain = 16384;  // minimum elements per thread

const char* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
char* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

// PoolAxis and its inverse: outputs [from, to) cover an input.
struct Axis {
  PoolAxis axis;
  std::vector<int64_t> from, to;

  explicit Axis(PoolAxis a) : axis(std::move(a)) {
    for (int64_t i = 0; i < axis.in; ++i) {
      from.push_back(std::upper_bound(axis.end.begin(), axis.end.end(), i) - axis.end.begin());
      to.push_back(std::upper_bound(axis.begin.begin(), axis.begin.end(), i) - axis.begin.begin());
    }
  }
  PoolTable table() const { return {axis.in, axis.out, axis.start.data(), axis.begin.data(), axis.end.data(), axis.divisor.data(), from.data(), to.data()}; }
};

class PoolKernel : public Kernel {
 public:
  // x: the unpooled meta, which determines the layout of all operands.
  PoolKernel(const TensorMeta& x, PoolAxis rows, PoolAxis cols) : x_(image_view(x)), type_(x.dtype), rows_(std::move(rows)), cols_(std::move(cols)) {
    image_ = {.rows = rows_.table(), .cols = cols_.table(), .channels = x_.c, .kernel_w = 0, .stride_w = 0, .wide_index = false, .separate = false};
  }

 protected:
  int64_t x_plane() const { return x_.h * x_.w; }
  int64_t y_plane() const { return rows_.axis.out * cols_.axis.out; }
  int64_t y_image() const { return y_plane() * x_.c; }

  // Calls f(image, row) for each of `rows` rows of each image.
  template <class F> void for_rows(int64_t rows, F&& f) const {
    const int64_t per_row = std::max<int64_t>(1, x_plane() * x_.c / std::max<int64_t>(1, rows));
    parallel_for(x_.n * rows, std::max<int64_t>(1, kGrain / per_row), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) f(i / rows, i % rows);
    });
  }
  template <class F> void for_planes(F&& f) const {
    parallel_for(x_.n * x_.c, std::max<int64_t>(1, kGrain / x_plane()), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) f(i);
    });
  }

  ImageView x_;
  DType type_;
  Axis rows_, cols_;
  PoolImage image_;
};

class MaxPoolKernel : public PoolKernel {
 public:
  MaxPoolKernel(const TensorMeta& x, const Pool2dAttrs& a) : PoolKernel(x, pool_axis(a, 0, x.shape[2]), pool_axis(a, 1, x.shape[3])) {
    image_.kernel_w = a.kernel[1];
    image_.stride_w = a.stride[1];
    image_.wide_index = argmax_dtype(a) == DType::kInt32;
    image_.separate = side_by_side(rows_.axis, a.kernel[0], a.stride[0]) && side_by_side(cols_.axis, a.kernel[1], a.stride[1]);
  }

 private:
  static bool side_by_side(const PoolAxis& axis, int64_t kernel, int64_t stride) {
    return kernel == stride && axis.start.front() == 0 && axis.out * stride <= axis.in;
  }
};

class MaxPool final : public MaxPoolKernel {
 public:
  explicit MaxPool(const KernelQuery& q) : MaxPoolKernel(q.in[0], q.attrs.as<Pool2dAttrs>()) {}
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (x_.channels_last) {
      for_rows(rows_.axis.out, [&](int64_t n, int64_t oh) {
        const int64_t y = n * y_image() + oh * cols_.axis.out * x_.c;
        SINDRI_SIMD_CALL(max_pool_row)(type_, image_, at(in[0], n * x_.stride_n), oh, at_mutable(out[0], y), at_mutable(out[1], y));
      });
      return;
    }
    for_planes([&](int64_t i) {
      SINDRI_SIMD_CALL(max_pool_plane)(type_, image_, at(in[0], i * x_plane()), at_mutable(out[0], i * y_plane()), at_mutable(out[1], i * y_plane()));
    });
  }
};

class MaxPoolGrad final : public MaxPoolKernel {
 public:
  explicit MaxPoolGrad(const KernelQuery& q) : MaxPoolKernel(q.out[0], q.attrs.as<Pool2dGradAttrs>().forward()) {}
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (x_.channels_last && image_.separate) {
      for_rows(rows_.axis.out, [&](int64_t n, int64_t oh) {
        SINDRI_SIMD_CALL(max_pool_grad_separate)
        (type_, image_, at(in[0], n * y_image()), at(in[1], n * y_image()), oh, at_mutable(out[0], n * x_.stride_n));
      });
      return;
    }
    if (x_.channels_last) {
      for_rows(x_.h, [&](int64_t n, int64_t h) {
        SINDRI_SIMD_CALL(max_pool_grad_row)(type_, image_, at(in[0], n * y_image()), at(in[1], n * y_image()), h, at_mutable(out[0], x_.at(n, 0, h, 0)));
      });
      return;
    }
    for_planes([&](int64_t i) {
      SINDRI_SIMD_CALL(max_pool_grad_plane)(type_, image_, at(in[0], i * y_plane()), at(in[1], i * y_plane()), at_mutable(out[0], i * x_plane()));
    });
  }
};

class Average final : public PoolKernel {
 public:
  using PoolKernel::PoolKernel;
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (x_.channels_last) {
      for_rows(rows_.axis.out, [&](int64_t n, int64_t oh) {
        SINDRI_SIMD_CALL(avg_pool_row)(type_, image_, at(in[0], n * x_.stride_n), oh, at_mutable(out[0], n * y_image() + oh * cols_.axis.out * x_.c));
      });
      return;
    }
    for_planes([&](int64_t i) { SINDRI_SIMD_CALL(avg_pool_plane)(type_, image_, at(in[0], i * x_plane()), at_mutable(out[0], i * y_plane())); });
  }
};

class AverageGrad final : public PoolKernel {
 public:
  using PoolKernel::PoolKernel;
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (x_.channels_last) {
      for_rows(x_.h, [&](int64_t n, int64_t h) {
        SINDRI_SIMD_CALL(avg_pool_grad_row)(type_, image_, at(in[0], n * y_image()), h, at_mutable(out[0], x_.at(n, 0, h, 0)));
      });
      return;
    }
    for_planes([&](int64_t i) { SINDRI_SIMD_CALL(avg_pool_grad_plane)(type_, image_, at(in[0], i * y_plane()), at_mutable(out[0], i * x_plane())); });
  }
};

// Contiguous kernels keep one row of x (or of y) on the stack.
std::string reject(const KernelQuery& q) {
  const auto too_wide = [](const TensorMeta& m) { return m.layout != Layout::kChannelsLast && m.shape[3] > kMaxPoolWidth; };
  return too_wide(q.in[0]) || too_wide(q.out[0]) ? "a contiguous image is wider than " + std::to_string(kMaxPoolWidth) : "";
}

// The graph compiler creates gradients with an addend or a second dy on devices only.
std::string reject_sum(const KernelQuery& q) { return q.in.size() > 2 ? "a second gradient" : reject(q); }
std::string reject_addend(const KernelQuery& q) { return q.in.size() > 1 ? "an addend" : reject(q); }

std::unique_ptr<Kernel> make_avg(const KernelQuery& q) {
  const auto& a = q.attrs.as<Pool2dAttrs>();
  const Shape& x = q.in[0].shape;
  return std::make_unique<Average>(q.in[0], pool_axis(a, 0, x[2]), pool_axis(a, 1, x[3]));
}
std::unique_ptr<Kernel> make_avg_grad(const KernelQuery& q) {
  const Pool2dAttrs a = q.attrs.as<Pool2dGradAttrs>().forward();
  const Shape& x = q.out[0].shape;
  return std::make_unique<AverageGrad>(q.out[0], pool_axis(a, 0, x[2]), pool_axis(a, 1, x[3]));
}
std::unique_ptr<Kernel> make_adaptive(const KernelQuery& q) {
  const Shape &x = q.in[0].shape, &y = q.out[0].shape;
  return std::make_unique<Average>(q.in[0], adaptive_pool_axis(x[2], y[2]), adaptive_pool_axis(x[3], y[3]));
}
std::unique_ptr<Kernel> make_adaptive_grad(const KernelQuery& q) {
  const Shape &x = q.out[0].shape, &y = q.in[0].shape;
  return std::make_unique<AverageGrad>(q.out[0], adaptive_pool_axis(x[2], y[2]), adaptive_pool_axis(x[3], y[3]));
}
template <class K> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<K>(q); }

const bool kMax = register_kernel({.op = "max_pool2d", .name = "simd", .reject = reject, .make = make<MaxPool>});
const bool kMaxGrad = register_kernel({.op = "max_pool2d_grad", .name = "simd", .reject = reject_sum, .make = make<MaxPoolGrad>});
const bool kAvg = register_kernel({.op = "avg_pool2d", .name = "simd", .reject = reject, .make = make_avg});
const bool kAvgGrad = register_kernel({.op = "avg_pool2d_grad", .name = "simd", .reject = reject, .make = make_avg_grad});
const bool kAdaptive = register_kernel({.op = "adaptive_avg_pool2d", .name = "simd", .reject = reject, .make = make_adaptive});
const bool kAdaptiveGrad = register_kernel({.op = "adaptive_avg_pool2d_grad", .name = "simd", .reject = reject_addend, .make = make_adaptive_grad});

}  // namespace
}  // namespace sindri::ops
