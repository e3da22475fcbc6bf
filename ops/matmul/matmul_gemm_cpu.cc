// matmul and batch_matmul by Sindri's own product: every floating type (16-bit types through float) and every size, with results that are
// bitwise identical for any number of threads. "in_place" computes small products, "gemm" packs its operands, and "packed" is the same kernel
// as a measured alternative to oneDNN's (see sindri/op/kernel_choice.h).
#include <algorithm>
#include <string>
#include <type_traits>

#include "ops/matmul/matmul_problem.h"
#include "src/device/cpu/gemm.h"
#include "src/device/cpu/gemm_simd.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using matmul::Problem;

template <class From, class To> void convert(const From* from, To* to, int64_t n) {
  parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  });
}

template <class T> void multiply(const Problem& p, const T* a, const T* b, T* c) {
  const auto one = [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    gemm(p.m, p.n, p.k, MatrixView<T>{a + p.a_offset[at], p.a_row, p.a_col}, MatrixView<T>{b + p.b_offset[at], p.b_row, p.b_col}, c + i * p.m * p.n, p.n,
         false);
  };
  // Many small matrices: each thread computes whole ones. gemm itself splits a few large ones into tiles.
  const int64_t work = 2 * p.m * p.n * std::max<int64_t>(1, p.k);
  if (p.matrices() == 1) return one(0);
  parallel_for(p.matrices(), std::max<int64_t>(1, 200'000 / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) one(i);
  });
}

class GemmMatmul final : public Kernel {
 public:
  explicit GemmMatmul(const KernelQuery& q)
      : problem_(matmul::problem_of(q)), dtype_(q.in[0].dtype), a_size_(q.in[0].numel()), b_size_(q.in[1].numel()), c_size_(q.out[0].numel()) {}
  int64_t workspace_bytes() const override { return is_half(dtype_) ? (a_size_ + b_size_ + c_size_) * static_cast<int64_t>(sizeof(float)) : 0; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    switch (dtype_) {
      case DType::kFloat16: return run_half<float16>(ctx, in, out);
      case DType::kBFloat16: return run_half<bfloat16>(ctx, in, out);
      case DType::kFloat32: return multiply(problem_, in[0].as<const float>(), in[1].as<const float>(), out[0].as<float>());
      default: return multiply(problem_, in[0].as<const double>(), in[1].as<const double>(), out[0].as<double>());
    }
  }

 private:
  template <class T> void run_half(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) {
    float *a = static_cast<float*>(ctx.workspace), *b = a + a_size_, *c = b + b_size_;
    convert(in[0].as<const T>(), a, a_size_);
    convert(in[1].as<const T>(), b, b_size_);
    multiply(problem_, a, b, c);
    convert(c, out[0].as<T>(), c_size_);
  }

  Problem problem_;
  DType dtype_;
  int64_t a_size_, b_size_, c_size_;
};

// Small products with contiguous rows of B, on one thread and without packing.
class InPlaceMatmul final : public Kernel {
 public:
  explicit InPlaceMatmul(const KernelQuery& q) : problem_(matmul::problem_of(q)) {}
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    const Problem& p = problem_;
    SINDRI_SIMD_CALL(gemm_in_place_f32)(p.m, p.n, p.k, in[0].as<const float>(), p.a_row, p.a_col, in[1].as<const float>(), out[0].as<float>());
  }

 private:
  Problem problem_;
};

// With more multiplications, a second thread or packed operands pay off.
constexpr int64_t kInPlaceWork = 1 << 19, kInPlaceDepth = 256;

std::string reject_in_place(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "not float32";
  const Problem p = matmul::problem_of(q);
  if (p.empty()) return "an operand has no elements";
  if (p.b_col != 1) return "the rows of b are not contiguous";
  if (p.n % kGemmInPlaceColumns != 0) return "the number of columns is not a multiple of " + std::to_string(kGemmInPlaceColumns);
  if (p.k > kInPlaceDepth || p.m * p.n * p.k > kInPlaceWork) return "the product is large";
  return "";
}

// The range in which "packed" may be faster. Smaller products are too fast to be worth measuring; for larger ones oneDNN is faster.
constexpr int64_t kPackedLeastWork = 1 << 22, kPackedMostWork = 1 << 26;

std::string reject_packed(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "not float32";
  const Problem p = matmul::problem_of(q);
  const int64_t work = p.m * p.n * p.k;
  if (work < kPackedLeastWork) return "the product is small";
  if (work > kPackedMostWork) return "the product is large";
  return "";
}

std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<GemmMatmul>(q); }
std::unique_ptr<Kernel> make_in_place(const KernelQuery& q) { return std::make_unique<InPlaceMatmul>(q); }

const bool kMatmul = register_kernel({.op = "matmul", .name = "gemm", .make = make});
const bool kPacked = register_kernel({.op = "matmul", .name = "packed", .priority = 20, .reject = reject_packed, .make = make});
const bool kInPlace = register_kernel({.op = "matmul", .name = "in_place", .priority = 30, .reject = reject_in_place, .make = make_in_place});
const bool kBatchMatmul = register_kernel({.op = "batch_matmul", .name = "gemm", .make = make});

}  // namespace
}  // namespace sindri
