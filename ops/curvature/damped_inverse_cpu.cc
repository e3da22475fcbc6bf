// damped_inverse on the CPU: M + damping·I = L·Lᵀ, X = L⁻¹, M⁻¹ = Xᵀ·X. "panels" computes it in panels of columns with matrix products. One thread
// processes a block, unless there are fewer blocks than threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "ops/curvature/blocks.h"
#include "src/device/cpu/gemm.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace curvature;

template <class F> void with_type(DType t, F&& f) {
  if (t == DType::kFloat32) f(0.0f);
  else f(0.0);
}

// Replaces the lower triangle of the n x n matrix at a, rows lda apart, by L, and x (rows ldx apart) by L⁻¹ with zeros above the diagonal. Sums in
// double. Returns false if a pivot is not positive or not finite.
template <class T> bool factor_small(T* a, int64_t lda, T* x, int64_t ldx, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      double s = static_cast<double>(a[i * lda + j]);
      for (int64_t k = 0; k < j; ++k) s -= static_cast<double>(a[i * lda + k]) * static_cast<double>(a[j * lda + k]);
      if (i == j && !(s > 0 && std::isfinite(s))) return false;
      a[i * lda + j] = static_cast<T>(i == j ? std::sqrt(s) : s / static_cast<double>(a[j * lda + j]));
    }
    if (!(a[j * lda + j] > 0)) return false;  // the pivot underflows in float
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double s = i == j ? 1 : 0;
      for (int64_t k = j; k < i; ++k) s -= static_cast<double>(a[i * lda + k]) * static_cast<double>(x[k * ldx + j]);
      x[i * ldx + j] = static_cast<T>(s / static_cast<double>(a[i * lda + i]));
    }
    std::fill(x + i * ldx + i + 1, x + i * ldx + n, T(0));
  }
  return true;
}

// Whether the diagonal is finite. It holds sums of squares of X's columns, so any element of X that is not finite shows there.
template <class T> bool finite_diagonal(const T* y, int64_t n, int64_t stride) {
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(y[i * stride + i])) return false;
  return true;
}

// Inverts the [n, n] matrix at m, rows `stride` apart, plus damping, to y with the same stride. Plain: one panel.
template <class T> bool invert_plain(const T* m, T* y, int64_t n, int64_t stride, T damping, T* work) {
  T *a = work, *x = work + n * n;
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(m + i * stride, n, a + i * n);
    a[i * n + i] += damping;
  }
  if (!factor_small(a, n, x, n, n)) return false;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double s = 0;
      for (int64_t k = i; k < n; ++k) s += static_cast<double>(x[k * n + i]) * static_cast<double>(x[k * n + j]);
      y[i * stride + j] = y[j * stride + i] = static_cast<T>(s);
    }
  }
  return true;
}

constexpr int64_t kPanel = 32;

// Left-looking, panel by panel: a[j.., j] -= L[j.., ..j]·L[j, ..j]ᵀ, then its diagonal part is factored and the rest multiplied by (L_jj)⁻ᵀ. minus
// holds -L, since the product only adds. Then the rows of X below: X[i, ..i] = -L_ii⁻¹·(L[i, ..i]·X[..i, ..i]).
template <class T> bool invert_panels(const T* m, T* y, int64_t n, int64_t stride, T damping, T* work) {
  T *a = work, *minus = a + n * n, *x = minus + n * n, *row = x + n * n;
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(m + i * stride, i + 1, a + i * n);
    a[i * n + i] += damping;
    std::fill_n(x + i * n, n, T(0));
  }
  for (int64_t j = 0; j < n; j += kPanel) {
    const int64_t w = std::min(kPanel, n - j), below = n - j - w;
    if (j > 0) gemm(n - j, w, j, MatrixView<T>{minus + j * n, n, 1}, MatrixView<T>{a + j * n, 1, n}, a + j * n + j, n, true);
    T* const diagonal = x + j * n + j;
    if (!factor_small(a + j * n + j, n, diagonal, n, w)) return false;
    if (below > 0) {
      T* const panel = a + (j + w) * n + j;
      for (int64_t i = 0; i < below; ++i) std::copy_n(panel + i * n, w, row + i * w);
      gemm(below, w, w, MatrixView<T>{row, w, 1}, MatrixView<T>{diagonal, 1, n}, panel, n, false);
    }
    for (int64_t i = j; i < n; ++i)
      for (int64_t k = j; k < j + w; ++k) minus[i * n + k] = k <= i ? -a[i * n + k] : T(0);
    if (j == 0) continue;
    gemm(w, j, j, MatrixView<T>{minus + j * n, n, 1}, MatrixView<T>{x, n, 1}, row, j, false);
    gemm(w, j, w, MatrixView<T>{diagonal, n, 1}, MatrixView<T>{row, j, 1}, x + j * n, n, false);
  }
  for (int64_t i = 0; i < n; i += kPanel) {  // Xᵀ·X: rows above panel i contribute nothing to its rows
    const int64_t w = std::min(kPanel, n - i);
    gemm(w, i + w, n - i, MatrixView<T>{x + i * n + i, 1, n}, MatrixView<T>{x + i * n, n, 1}, y + i * stride, stride, false);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) y[j * stride + i] = y[i * stride + j];
  return true;
}

template <class T, bool kPanels>
void invert_all(const KernelQuery& q, T* work, const T* m, const T* damping, const T* previous, const T* mine, T* y, T* failed) {
  const Shape& s = q.in[0].shape;
  const int64_t b = s[2], total = s[0];
  const Blocks blocks = Blocks::of(q.attrs.as<DampedInverseAttrs>().d, b);
  std::atomic<bool> ok{true};
  const auto one = [&](int64_t i, T* own) {
    const int64_t n = blocks.width(i % blocks.count());
    const bool left_out = mine != nullptr && mine[i] == T(0);
    if (n < b || left_out) std::fill_n(y + i * b * b, b * b, T(0));
    if (left_out) return;
    const bool good = (kPanels ? invert_panels<T> : invert_plain<T>)(m + i * b * b, y + i * b * b, n, b, *damping, own);
    if (!good || !finite_diagonal(y + i * b * b, n, b)) ok = false;
  };
  const int64_t lanes = std::min<int64_t>(total, num_threads()), size = 4 * b * b;
  const auto lane = [&](int64_t l) {
    for (int64_t i = l; i < total; i += lanes) one(i, work + l * size);
  };
  if (lanes >= num_threads()) parallel_tasks(lanes, lane);
  else
    for (int64_t l = 0; l < lanes; ++l) lane(l);
  if (!ok) std::copy_n(previous, total * b * b, y);
  *failed = ok ? T(0) : T(1);
}

template <bool kPanels> class Inverse final : public Kernel {
 public:
  explicit Inverse(const KernelQuery& q) : def_(q.op), attrs_(q.attrs), in_(q.in.begin(), q.in.end()), out_(q.out.begin(), q.out.end()) {}
  int64_t workspace_bytes() const override {
    const Shape& s = in_[0].shape;
    return std::min<int64_t>(s[0], num_threads()) * 4 * s[2] * s[2] * (in_[0].dtype == DType::kFloat64 ? 8 : 4);
  }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const KernelQuery q{def_, attrs_, in_, out_};
    with_type(in_[0].dtype, [&](auto type) {
      using T = decltype(type);
      invert_all<T, kPanels>(q, static_cast<T*>(ctx.workspace), in[0].as<const T>(), in[1].as<const T>(), in[2].as<const T>(),
                             in.size() > 3 ? in[3].as<const T>() : nullptr, out[0].as<T>(), out[1].as<T>());
    });
  }

 private:
  const OpDef& def_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
};

template <bool kPanels> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<Inverse<kPanels>>(q); }

const bool kPanelsKernel = register_kernel({.op = "damped_inverse", .name = "panels", .make = make<true>});
const bool kReference = register_kernel({.op = "damped_inverse", .name = "reference", .priority = kReferencePriority, .make = make<false>});

}  // namespace
}  // namespace sindri
