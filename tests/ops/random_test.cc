// Random ops beyond the common suite: distributions, and what the random numbers may depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"

namespace sindri::test {
namespace {

// Every test starts from its own state.
class Random : public ::testing::Test {
 protected:
  void SetUp() override { ops::reset_rng(1234); }
};

struct Moments {
  double mean, variance, skew, kurtosis, lowest, highest;
};
Moments moments(const Tensor& t) {
  const std::vector<double> v = t.to_vector<double>();
  const double n = static_cast<double>(v.size()), mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  double m2 = 0, m3 = 0, m4 = 0;
  for (double x : v) {
    const double d = x - mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2), *std::min_element(v.begin(), v.end()), *std::max_element(v.begin(), v.end())};
}

constexpr int64_t kDraws = 200000;  // bounds below are five standard errors

TEST_F(Random, UniformMoments) {
  for (DType t : {DType::kFloat32, DType::kFloat64}) {
    for (const Shape& shape : {Shape{kDraws}, Shape{1, kDraws}, Shape{100, kDraws / 100}}) {
      const Moments m = moments(ops::random_uniform(shape, -1, 3, t));
      EXPECT_NEAR(m.mean, 1, 5 * std::sqrt(16.0 / 12 / kDraws));
      EXPECT_NEAR(m.variance, 16.0 / 12, 0.02);
      EXPECT_NEAR(m.kurtosis, 1.8, 0.02);
      EXPECT_GE(m.lowest, -1);
      EXPECT_LT(m.highest, 3);
      EXPECT_GT(m.highest, 2.999);
    }
  }
}

TEST_F(Random, NormalMoments) {
  for (DType t : {DType::kFloat32, DType::kFloat64}) {
    const Tensor x = ops::random_normal({50, kDraws / 50}, 2, 3, t);
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, 2, 5 * 3 / std::sqrt(static_cast<double>(kDraws)));
    EXPECT_NEAR(m.variance, 9, 5 * 9 * std::sqrt(2.0 / kDraws));
    EXPECT_NEAR(m.skew, 0, 5 * std::sqrt(6.0 / kDraws));
    EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24.0 / kDraws));
    const std::vector<double> v = x.to_vector<double>();
    const auto beyond = std::count_if(v.begin(), v.end(), [](double z) { return std::abs(z - 2) > 6; });
    EXPECT_NEAR(static_cast<double>(beyond) / kDraws, 0.0455, 0.0024);
  }
}

TEST_F(Random, NeighboursAreNotCorrelated) {
  const std::vector<double> v = ops::random_normal({kDraws}).to_vector<double>(), w = ops::random_normal({1, kDraws}).to_vector<double>();
  for (const auto& x : {v, w}) {
    for (size_t lag : {1u, 2u, 3u, 4u}) {
      double sum = 0;
      for (size_t i = lag; i < x.size(); ++i) sum += x[i] * x[i - lag];
      EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(static_cast<double>(kDraws))) << "lag " << lag;
    }
  }
}

TEST_F(Random, TruncatedNormalStaysInside) {
  for (DType t : {DType::kFloat32, DType::kFloat64}) {
    const Moments m = moments(ops::random_truncated_normal({kDraws / 4}, 1, 0.5, t));
    EXPECT_NEAR(m.mean, 1, 0.01);
    EXPECT_NEAR(m.variance, 0.25 * 0.77374, 0.005);  // 1 - 4φ(2)/(2Φ(2) - 1)
    EXPECT_GE(m.lowest, 0);
    EXPECT_LE(m.highest, 2);
    EXPECT_GT(m.highest, 1.99);
  }
}

TEST_F(Random, BernoulliFrequency) {
  for (double p : {0.0, 0.1, 0.5, 1.0}) EXPECT_NEAR(moments(ops::random_bernoulli({kDraws}, p)).mean, p, 5 * std::sqrt(p * (1 - p) / kDraws));
}

TEST_F(Random, PermutationIsOneAndUniform) {
  std::vector<int64_t> p = ops::random_permutation(1000).to_vector<int64_t>();
  EXPECT_FALSE(std::is_sorted(p.begin(), p.end()));
  std::sort(p.begin(), p.end());
  for (size_t i = 0; i < p.size(); ++i) ASSERT_EQ(p[i], static_cast<int64_t>(i));
  std::vector<int> count(24);  // of each order of four elements
  for (int i = 0; i < 12000; ++i) {
    const std::vector<int64_t> q = ops::random_permutation(4).to_vector<int64_t>();
    int code = 0;
    for (size_t a = 0; a < 4; ++a) {
      int smaller = 0;
      for (size_t b = a + 1; b < 4; ++b) smaller += q[b] < q[a] ? 1 : 0;
      code = code * static_cast<int>(4 - a) + smaller;
    }
    ++count[static_cast<size_t>(code)];
  }
  double chi2 = 0;
  for (int c : count) chi2 += (c - 500.0) * (c - 500.0) / 500;
  EXPECT_LT(chi2, 60);  // 23 degrees of freedom: exceeded with probability 4e-5
}

TEST_F(Random, DropoutKeepsTheMean) {
  const Tensor y = ops::dropout(Tensor::full({100, kDraws / 100}, 1), 0.8);
  const std::vector<double> v = y.to_vector<double>();
  for (double x : v) ASSERT_TRUE(x == 0 || x == 1.25);
  EXPECT_NEAR(moments(y).mean, 1, 5 * 1.25 * std::sqrt(0.16 / kDraws));
}

TEST_F(Random, DropoutGradientMeetsTheSameMask) {
  const Tensor x = Tensor::full({7, 33}, 3, DType::kFloat64);
  Tape tape;
  Tensor y;
  {
    const TraceScope scope(tape);
    y = ops::dropout(x, 0.6);
  }
  const Tensor dx = tape.backward({y}, {}, {&x, 1}, {}).of_inputs[0];
  EXPECT_TRUE(same_bits(ops::mul(dx, 3.0), y));
}

TEST_F(Random, SecondDerivativeOfDropout) {
  const Tensor x = ops::random_normal({3, 9}, 0, 1, DType::kFloat64);
  ops::begin_rng_step();
  const auto f = [](Span<const Tensor> in) {
    ops::begin_rng_step();
    return TensorList{ops::dropout(ops::mul(in[0], in[0]), 0.5)};
  };
  ops::begin_rng_step();
  const Tensor mask = ops::dropout(Tensor::full({3, 9}, 1, DType::kFloat64), 0.5);
  const Tensor second = grad(grad(f))({&x, 1})[0];
  EXPECT_TRUE(same_bits(second, ops::mul(mask, 2.0)));
}

TEST_F(Random, NumbersDoNotDependOnThreads) {
  const int before = num_threads();
  TensorList first;
  for (int threads : {1, 2, 3, 4}) {
    set_num_threads(threads);
    ops::reset_rng(5);
    const TensorList all{ops::dropout(Tensor::full({9, 10000}, 1), 0.5), ops::random_uniform({40000}), ops::random_normal({3, 20001}),
                         ops::random_truncated_normal({9, 999}), ops::random_permutation(500)};
    if (first.empty()) first = all;
    for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same_bits(all[i], first[i])) << threads << " threads, op " << i;
  }
  set_num_threads(before);
}

TEST_F(Random, SameStateSameNumbersAndNothingElse) {
  const auto draw = [](int64_t seed, int64_t step, int skip) {
    ops::reset_rng(seed, step);
    for (int i = 0; i < skip; ++i) ops::random_uniform({1});
    return ops::random_uniform({16, 16});
  };
  const Tensor base = draw(7, 3, 1);
  EXPECT_TRUE(same_bits(draw(7, 3, 1), base));
  for (const Tensor& other : {draw(8, 3, 1), draw(7, 4, 1), draw(7, 3, 2)}) EXPECT_FALSE(same_bits(other, base));
}

TEST_F(Random, EagerCallsGiveFreshNumbers) {
  const Tensor x = Tensor::full({64}, 1);
  EXPECT_FALSE(same_bits(ops::dropout(x, 0.5), ops::dropout(x, 0.5)));
}

TEST_F(Random, RowsFollowTheirGlobalPosition) {
  const Tensor images = Tensor::full({10, 3, 5, 7}, 1), rows = Tensor::full({6, 3, 5, 7}, 1);
  const auto draw = [](int64_t offset, int64_t n, const Tensor& x) {
    ops::reset_rng(21, 9, offset);
    return TensorList{ops::dropout(x, 0.5),       ops::random_uniform({n, 13}),      ops::random_uniform({n, 13}, 0, 1, DType::kFloat64),
                      ops::random_normal({n, 5}), ops::random_truncated_normal({n}), ops::random_bernoulli({n, 2, 3})};
  };
  const TensorList all = draw(0, 10, images), tail = draw(4, 6, rows);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same_bits(ops::slice(all[i], {4}, {10}), tail[i])) << "op " << i;
}

TEST_F(Random, DropoutMaskFollowsTheLogicalElement) {
  const Tensor x = Tensor::full({3, 37, 11, 13}, 1);  // more elements per sample than one stretch
  ops::reset_rng(2);
  const Tensor plain = ops::dropout(x, 0.5);
  ops::reset_rng(2);
  const Tensor last = ops::dropout(convert_layout(x, Layout::kChannelsLast), 0.5);
  EXPECT_EQ(last.layout(), Layout::kChannelsLast);
  EXPECT_TRUE(same_bits(plain, last));
}

TEST_F(Random, EndOfStepAdvancesTheStep) {
  ops::reset_rng(3, 10, 5);
  ops::begin_rng_step();
  const Tensor a = ops::random_uniform({8});
  ops::end_rng_step();
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>(), (std::vector<int64_t>{3, 11, 5}));
  ops::begin_rng_step();
  const Tensor b = ops::random_uniform({8});
  EXPECT_FALSE(same_bits(a, b));
  ops::reset_rng(3, 11, 5);
  EXPECT_TRUE(same_bits(ops::random_uniform({8}), b));
}

// A compiled step draws new numbers at every call, the same as eager steps would.
TEST_F(Random, CompiledStepsDrawWhatEagerStepsDraw) {
  const Tensor x = Tensor::full({8, 32}, 1);
  const auto step = [](Span<const Tensor> in) {
    ops::begin_rng_step();
    TensorList out{ops::dropout(in[0], 0.5), ops::dropout(in[0], 0.5), ops::random_normal({5})};
    ops::end_rng_step();
    return out;
  };
  ops::reset_rng(17, 3);
  std::vector<TensorList> eager;
  for (int i = 0; i < 3; ++i) eager.push_back(step({&x, 1}));
  ops::reset_rng(17, 3);
  CompiledFn compiled = compile(step);
  for (const TensorList& expected : eager) {
    const TensorList out = compiled({&x, 1});
    for (size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(same_bits(out[i], expected[i])) << "output " << i;
    EXPECT_FALSE(same_bits(out[0], out[1])) << "two instances in one step";
  }
  EXPECT_FALSE(same_bits(eager[0][0], eager[1][0])) << "two steps";
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>()[1], 6);
}

// One graph serves a part of a step, whatever the number of random ops that precede the part in its step.
TEST_F(Random, PartsOfAStepDrawWhatTheirOpsWouldDraw) {
  const Tensor x = Tensor::full({8, 32}, 1);
  const auto part = [](Span<const Tensor> in) {
    return TensorList{ops::dropout(in[0], 0.5), ops::random_uniform({5}), ops::random_truncated_normal({3}), ops::random_permutation(9)};
  };
  CompiledFn compiled = compile([&](Span<const Tensor> in) {
    ops::set_rng_instance(0);
    return part(in);
  });
  const std::vector<int64_t> key{17, (int64_t{1} << 44) - 1, (int64_t{1} << 44) - 40};
  for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{1} << 20, (int64_t{1} << 33) + 7}) {
    ops::reset_rng(key[0], key[1], key[2]);
    ops::set_rng_instance(first);
    TensorList expected = part({&x, 1});
    expected.push_back(ops::random_uniform({4}));
    ops::set_rng_instance(first);
    TensorList out;
    {
      ops::RngPart numbers;
      out = compiled({&x, 1});
      numbers.end(4);
    }
    out.push_back(ops::random_uniform({4}));
    for (size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(same_bits(out[i], expected[i])) << "output " << i << " from instance " << first;
    EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>(), key);
  }
  EXPECT_EQ(compiled.info().segments, 1);
}

TEST_F(Random, APartThatThrowsOrSeedsLeavesTheStepInOrder) {
  ops::reset_rng(4, 2, 1);
  ops::set_rng_instance(3);
  { const ops::RngPart failed; }
  EXPECT_EQ(ops::rng_instance(), 3);
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>(), (std::vector<int64_t>{4, 2, 1}));
  {
    ops::RngPart seeds;
    ops::reset_rng(8);
    seeds.end(2);
  }
  EXPECT_EQ(ops::rng_instance(), 0);
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>(), (std::vector<int64_t>{8, 0, 0}));
}

TEST_F(Random, SetSeedReachesTheState) {
  set_seed(99);
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>()[0], 99);
  set_seed(98);
  const Tensor a = ops::random_uniform({8});
  ops::reset_rng(98);
  EXPECT_TRUE(same_bits(ops::random_uniform({8}), a));
}

// The stream is part of the contract: checkpoints and data-parallel ranks rely on it. Philox itself is checked against Random123's known answers.
TEST_F(Random, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}).v, (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}).v,
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  ops::reset_rng(7, 2, 3);
  const uint64_t key = hash_combine(7, 0);
  const auto block = philox4x32({1, 3 + 1, 2, 0}, {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}).v;
  EXPECT_EQ(ops::random_uniform({2, 8}).to_vector<float>()[8 + 6], u32_to_unit_float(block[2]));
}

TEST_F(Random, BadArguments) {
  const Tensor x = Tensor::full({4}, 1);
  for (double keep : {0.0, -0.5, 1.5, std::nan("")}) EXPECT_THROW(ops::dropout(x, keep), ValueError) << keep;
  EXPECT_THROW(ops::dropout(Tensor::full({4}, 1, DType::kInt32), 0.5), DTypeError);
  EXPECT_THROW(ops::random_uniform({-1}), ValueError);
  EXPECT_THROW(ops::random_uniform({int64_t{1} << 40, int64_t{1} << 40}), ValueError);
  EXPECT_THROW(ops::random_uniform({3}, 1, 0), ValueError);
  EXPECT_THROW(ops::random_uniform({3}, 0, 1, DType::kInt32), DTypeError);
  EXPECT_THROW(ops::random_normal({3}, 0, -1), ValueError);
  EXPECT_THROW(ops::random_truncated_normal({3}, std::nan(""), 1), ValueError);
  EXPECT_THROW(ops::random_bernoulli({3}, 1.01), ValueError);
  EXPECT_THROW(ops::random_permutation(-1), ValueError);
  EXPECT_THROW(ops::reset_rng(0, -1), ValueError);
  EXPECT_THROW(bind(find_op("dropout"), find_op("dropout").attrs.make({}), {x, Tensor::zeros({2}, DType::kInt64)}), ShapeError);
}

// Samples of few elements are drawn in parallel, also when their counters pass 32 bits.
TEST_F(Random, SmallSamplesAreThoseOfTheReference) {
  for (const Shape& shape : {Shape{5000}, Shape{77, 1}, Shape{700, 3}, Shape{130, 5}, Shape{130, 2, 16}, Shape{70, 33}, Shape{}, Shape{3, 0}}) {
    for (const int64_t offset : {int64_t{0}, (int64_t{1} << 32) - 21}) {
      for (const DType t : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
        const auto draw = [&](const char* kernel) {
          ops::reset_rng(4, 2, offset);
          const ForceKernel force(kernel);
          return TensorList{ops::random_uniform(shape, -1, 3, t), ops::random_normal(shape, 1, 2, t)};
        };
        const TensorList fast = draw("blocked"), expected = draw("reference");
        EXPECT_TRUE(same_bits(fast[0], expected[0])) << shape.str() << " " << dtype_name(t) << " offset " << offset;
        const double tolerance = t == DType::kFloat64 ? 1e-13 : t == DType::kFloat32 ? 1e-6 : 1e-2;
        EXPECT_TRUE(close(fast[1], expected[1], {tolerance, tolerance})) << shape.str() << " " << dtype_name(t) << " offset " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace sindri::test
