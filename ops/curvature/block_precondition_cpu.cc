// block_precondition on the CPU: block rows one by one, first multiplied by A⁻¹ into a workspace, then by G⁻¹.
#include <algorithm>
#include <vector>

#include "ops/curvature/blocks.h"
#include "src/device/cpu/gemm.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace curvature;

struct Sizes {
  Blocks a, g;  ///< without an inverse for G, `g` divides the rows into pieces that threads share
  int64_t groups;
  double scale;
  bool has_g;
};

constexpr int64_t kPieceRows = 128;

Sizes sizes_of(const KernelQuery& q) {
  const auto& attrs = q.attrs.as<BlockPreconditionAttrs>();
  const bool has_g = q.in.size() == 3;
  return {.a = Blocks::of(q.in[0].shape[1], q.in[1].shape[2]),
          .g = Blocks::of(q.in[0].shape[0] / attrs.groups, has_g ? q.in[2].shape[2] : kPieceRows),
          .groups = attrs.groups,
          .scale = attrs.scale,
          .has_g = has_g};
}

template <class T> void run_reference(const Sizes& s, const T* grad, const T* a_inv, const T* g_inv, T* u) {
  const int64_t n = s.a.d;
  std::vector<double> half(static_cast<size_t>(s.groups * s.g.d * n), 0.0);
  for (int64_t r = 0; r < s.groups * s.g.d; ++r) {
    const T* const inverse = a_inv + r / s.g.d * s.a.count() * s.a.b * s.a.b;
    for (int64_t c = 0; c < n; ++c) {
      const int64_t block = c / s.a.b, begin = s.a.begin(block);
      for (int64_t k = 0; k < s.a.width(block); ++k)
        half[static_cast<size_t>(r * n + c)] +=
            static_cast<double>(grad[r * n + begin + k]) * static_cast<double>(inverse[(block * s.a.b + k) * s.a.b + c - begin]);
    }
  }
  for (int64_t r = 0; r < s.groups * s.g.d; ++r) {
    const int64_t group = r / s.g.d, at = r % s.g.d, block = at / s.g.b, begin = s.g.begin(block);
    for (int64_t c = 0; c < n; ++c) {
      double sum = s.has_g ? 0 : half[static_cast<size_t>(r * n + c)];
      for (int64_t k = 0; s.has_g && k < s.g.width(block); ++k)
        sum += static_cast<double>(g_inv[((group * s.g.count() + block) * s.g.b + at - begin) * s.g.b + k]) *
            half[static_cast<size_t>((group * s.g.d + begin + k) * n + c)];
      u[r * n + c] = static_cast<T>(sum * s.scale);
    }
  }
}

template <class T> void run_products(const Sizes& s, T* work, const T* grad, const T* a_inv, const T* g_inv, T* u) {
  const int64_t n = s.a.d, tasks = s.groups * s.g.count();
  const auto one = [&](int64_t task) {
    const int64_t group = task / s.g.count(), i = task % s.g.count(), rows = s.g.width(i), at = (group * s.g.d + s.g.begin(i)) * n;
    T* const half = s.has_g ? work + at : u + at;
    for (int64_t j = 0; j < s.a.count(); ++j) {
      const int64_t begin = s.a.begin(j), width = s.a.width(j);
      const T* const inverse = a_inv + (group * s.a.count() + j) * s.a.b * s.a.b;
      gemm(rows, width, width, MatrixView<T>{grad + at + begin, n, 1}, MatrixView<T>{inverse, s.a.b, 1}, half + begin, n, false);
    }
    if (s.scale != 1) std::transform(half, half + rows * n, half, [scale = static_cast<T>(s.scale)](T v) { return v * scale; });
    if (s.has_g) gemm(rows, n, rows, MatrixView<T>{g_inv + task * s.g.b * s.g.b, s.g.b, 1}, MatrixView<T>{half, n, 1}, u + at, n, false);
  };
  // If there are few block rows, the products use threads themselves.
  if (tasks >= num_threads()) parallel_tasks(tasks, one);
  else
    for (int64_t t = 0; t < tasks; ++t) one(t);
}

template <bool kProducts> class Precondition final : public Kernel {
 public:
  explicit Precondition(const KernelQuery& q) : sizes_(sizes_of(q)), wide_(q.in[0].dtype == DType::kFloat64), size_(q.in[0].numel()) {}
  int64_t workspace_bytes() const override { return kProducts && sizes_.has_g ? size_ * (wide_ ? 8 : 4) : 0; }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    if (size_ == 0) return;
    if (wide_) run_as<double>(ctx, in, out);
    else run_as<float>(ctx, in, out);
  }

 private:
  template <class T> void run_as(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) const {
    const T* const g_inv = sizes_.has_g ? in[2].as<const T>() : nullptr;
    if constexpr (kProducts) run_products(sizes_, static_cast<T*>(ctx.workspace), in[0].as<const T>(), in[1].as<const T>(), g_inv, out[0].as<T>());
    else run_reference(sizes_, in[0].as<const T>(), in[1].as<const T>(), g_inv, out[0].as<T>());
  }
  Sizes sizes_;
  bool wide_;
  int64_t size_;
};

template <bool kProducts> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<Precondition<kProducts>>(q); }

const bool kGemm = register_kernel({.op = "block_precondition", .name = "gemm", .make = make<true>});
const bool kReference = register_kernel({.op = "block_precondition", .name = "reference", .priority = kReferencePriority, .make = make<false>});

}  // namespace
}  // namespace sindri
