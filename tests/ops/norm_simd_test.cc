// The loops of batch normalisation over rows, on every instruction set of this processor: bitwise identical to each other and to the steps rounded one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ops/norm/batch_norm_simd.h"
#include "sindri/core/context.h"
#include "sindri/core/dtype.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

constexpr int64_t kRows = 19, kChannels = 37;  // 16 rows and 3, vectors of 16, 8 or 4 and a remainder

struct Loops {
  decltype(&simd_scalar::bn_stats_rows) stats;
  decltype(&simd_scalar::bn_apply_rows) apply;
  decltype(&simd_scalar::bn_grad_sums_rows) sums;
  decltype(&simd_scalar::bn_grad_rows) grad;
};

std::vector<Loops> loops() {
  std::vector<Loops> all = {{simd_scalar::bn_stats_rows, simd_scalar::bn_apply_rows, simd_scalar::bn_grad_sums_rows, simd_scalar::bn_grad_rows}};
  if (cpu_isa() >= CpuIsa::kAvx2) all.push_back({simd_avx2::bn_stats_rows, simd_avx2::bn_apply_rows, simd_avx2::bn_grad_sums_rows, simd_avx2::bn_grad_rows});
  if (cpu_isa() >= CpuIsa::kAvx512)
    all.push_back({simd_avx512::bn_stats_rows, simd_avx512::bn_apply_rows, simd_avx512::bn_grad_sums_rows, simd_avx512::bn_grad_rows});
  return all;
}

// Values of every magnitude, among them some whose results round to zero, or lie halfway between two values of T.
template <class T> std::vector<T> numbers(int key) {
  const float sizes[] = {1.0f, 0.0f, 1e-3f, 0x1p-133f, 0x1p-134f, 0x1p-135f, 0x1p-24f, 0x1p-25f, 0x1p-26f, 300.0f};
  std::vector<T> v(static_cast<size_t>(kRows * kChannels));
  const UnitValues uniform("norm_simd_test", key);
  for (size_t i = 0; i < v.size(); ++i) {
    const double u = 2 * uniform(i) - 1;
    v[i] = static_cast<T>(static_cast<float>(i % 3 == 0 ? u : u < 0 ? -1 : 1) * sizes[i % 10]);
  }
  return v;
}

template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) { return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0; }

template <class T> class NormLoops : public testing::Test {};
using Types = testing::Types<bfloat16, float16, float, double>;
TYPED_TEST_SUITE(NormLoops, Types);

TYPED_TEST(NormLoops, ApplyRoundsEachStep) {
  using T = TypeParam;
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::vector<T> x = numbers<T>(0), residual = numbers<T>(1);
  // Some channels leave x unchanged: a result that rounds to zero there was already zero.
  std::vector<A> mean(kChannels), scale(kChannels), beta(kChannels);
  for (size_t c = 0; c < kChannels; ++c) mean[c] = c % 2 == 0 ? A(0) : A(0.125), scale[c] = c % 3 == 0 ? A(1) : A(0.25), beta[c] = c % 2 == 0 ? A(0) : A(0.5);
  for (const bool relu : {false, true})
    for (const bool adds : {false, relu}) {
      std::vector<T> expected(x.size()), y(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = i % kChannels;
        const A v = (static_cast<A>(x[i]) - mean[c]) * scale[c] + beta[c];
        T t = static_cast<T>(v);
        if (adds) t = static_cast<T>(static_cast<A>(t) + static_cast<A>(residual[i]));
        expected[i] = relu && static_cast<A>(t) < 0 ? T(0) : t;
      }
      for (const Loops& l : loops()) {
        l.apply({dtype_of<T>, x.data(), adds ? residual.data() : nullptr, y.data(), mean.data(), scale.data(), beta.data(), relu}, kRows, kChannels);
        EXPECT_TRUE(same(y, expected)) << "relu " << relu << ", residual " << adds;
      }
    }
}

TYPED_TEST(NormLoops, SumsAndGradientsAreTheSame) {
  using T = TypeParam;
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::vector<T> dy = numbers<T>(2), dy2 = numbers<T>(3), x = numbers<T>(4), y = numbers<T>(5);
  const std::vector<A> mean(kChannels, A(0)), scale(kChannels, A(1)), beta(kChannels, A(0)), a(kChannels, A(0.5)), b(kChannels, A(0.25)),
      k(kChannels, A(0.125));
  const std::vector<double> shift(kChannels, 0.25);
  for (const BnMask mask : {BnMask::kNone, BnMask::kInput, BnMask::kOutput})
    for (const bool adds : {false, mask != BnMask::kNone}) {
      const bool stores = adds || mask == BnMask::kOutput;
      std::vector<T> expected(x.size());
      std::vector<double> total(kChannels), dots(kChannels);
      for (size_t i = 0; i < x.size(); ++i) {
        const T g = adds ? static_cast<T>(static_cast<A>(dy[i]) + static_cast<A>(dy2[i])) : dy[i];
        const bool off = (mask == BnMask::kInput && static_cast<A>(x[i]) <= 0) || (mask == BnMask::kOutput && static_cast<A>(y[i]) <= 0);
        expected[i] = off ? T(0) : g;
        total[i % kChannels] += static_cast<double>(static_cast<A>(expected[i]));
        dots[i % kChannels] += static_cast<double>(static_cast<A>(expected[i])) * static_cast<double>(static_cast<A>(x[i]));
      }
      std::vector<T> first;
      std::vector<double> first_sum, first_square;
      for (const Loops& l : loops()) {
        std::vector<T> g(x.size()), dx(x.size());
        std::vector<double> sum(kChannels), dot(kChannels), square(kChannels);
        const BnGrad operands{dtype_of<T>, mask, dy.data(), adds ? dy2.data() : nullptr, x.data(), y.data(), g.data(), mean.data(), scale.data(), beta.data()};
        l.sums(operands, kRows, kChannels, sum.data(), dot.data());
        EXPECT_TRUE(!stores || same(g, expected)) << static_cast<int>(mask) << adds;
        for (size_t c = 0; c < kChannels; ++c) {
          EXPECT_NEAR(sum[c], total[c], 1e-6 * 300) << c;
          EXPECT_NEAR(dot[c], dots[c], 1e-6 * 300 * 300) << c;
        }
        if (mask != BnMask::kOutput) {
          BnGrad second = operands;
          second.dy2 = nullptr;
          l.grad(second, dx.data(), kRows, kChannels, a.data(), b.data(), k.data());
        }
        std::vector<double> deviations(kChannels);
        l.stats(dtype_of<T>, x.data(), kRows, kChannels, shift.data(), deviations.data(), square.data());
        sum.insert(sum.end(), deviations.begin(), deviations.end());
        sum.insert(sum.end(), dot.begin(), dot.end());
        if (first.empty()) first = dx, first_sum = sum, first_square = square;
        EXPECT_TRUE(same(dx, first) && same(sum, first_sum) && same(square, first_square));
      }
    }
}

}  // namespace
}  // namespace sindri::test
