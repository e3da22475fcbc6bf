// Initial values: distributions, structure, determinism, errors.
#include "sindri/nn/initializer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sindri/core/error.h"

namespace sindri::nn {
namespace {

struct Stats {
  double mean, std, min, max;
};
Stats stats(const Tensor& t) {
  const std::vector<double> v = t.to_vector<double>();
  const auto n = static_cast<double>(v.size());
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  double var = 0;
  for (double x : v) var += (x - mean) * (x - mean);
  return {mean, std::sqrt(var / n), *std::min_element(v.begin(), v.end()), *std::max_element(v.begin(), v.end())};
}

// 64·32·3·3 = 18,432 draws: the standard error of the mean is std/136, that of std about std/190. Bounds are five of them.
const Shape kConv = {64, 32, 3, 3};
constexpr double kFanIn = 32 * 9, kFanOut = 64 * 9;

void expect_distribution(const Init& init, double mean, double std) {
  set_seed(7);
  const Stats s = stats(initializer(init, kConv));
  EXPECT_NEAR(s.mean, mean, 5 * std / 136) << init.describe();
  EXPECT_NEAR(s.std, std, 5 * std / 190) << init.describe();
}

TEST(Initializer, MeansAndDeviations) {
  const double uniform = 1 / std::sqrt(3.0), truncated = 0.87962566103423978;
  expect_distribution("normal", 0, 0.01);
  expect_distribution(Normal(2, 5), 5, 2);
  expect_distribution(TruncatedNormal(0.5), 0, 0.5 * truncated);
  expect_distribution(Uniform(0.3), 0, 0.3 * uniform);
  expect_distribution(XavierUniform(2), 0, 2 * std::sqrt(2 / (kFanIn + kFanOut)));
  expect_distribution(XavierNormal(), 0, std::sqrt(2 / (kFanIn + kFanOut)));
  expect_distribution(HeUniform(), 0, std::sqrt(2 / kFanIn));
  expect_distribution(HeUniform(std::sqrt(5.0)), 0, std::sqrt(2 / (6 * kFanIn)));
  expect_distribution(HeNormal(0, "fan_out", "relu"), 0, std::sqrt(2 / kFanOut));
  expect_distribution(VarianceScaling(3, "fan_avg", "uniform"), 0, std::sqrt(3 / (0.5 * (kFanIn + kFanOut))));
  expect_distribution(VarianceScaling(), 0, std::sqrt(1 / kFanIn));
  expect_distribution(VarianceScaling(1, "fan_out", "untruncated_normal"), 0, std::sqrt(1 / kFanOut));
}

TEST(Initializer, Bounds) {
  const Stats u = stats(initializer(HeUniform(), kConv)), t = stats(initializer(TruncatedNormal(0.1), kConv));
  const double b = std::sqrt(6 / kFanIn);
  EXPECT_GE(u.min, -b);
  EXPECT_LE(u.max, b);
  EXPECT_GT(u.max, 0.99 * b);
  EXPECT_GE(t.min, -0.2000001);
  EXPECT_LE(t.max, 0.2000001);
  EXPECT_GT(t.max, 0.19);
}

TEST(Initializer, ConstantsAndIdentity) {
  EXPECT_EQ(initializer("Zeros", {3}).to_vector<double>(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(initializer("one", {2}).to_vector<double>(), (std::vector<double>{1, 1}));
  EXPECT_EQ(initializer(2.5, {2}).to_vector<double>(), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(initializer(3, {1}, DType::kInt32).to_vector<int32_t>(), (std::vector<int32_t>{3}));
  EXPECT_EQ(initializer("identity", {2, 3}).to_vector<double>(), (std::vector<double>{1, 0, 0, 0, 1, 0}));
  const Tensor given = Tensor::from_values({2}, {4, 5});
  EXPECT_EQ(initializer(given, {2}).to_vector<double>(), (std::vector<double>{4, 5}));
}

void expect_orthonormal(const Shape& shape, double gain) {
  const std::vector<double> m = initializer(Orthogonal(gain), shape, DType::kFloat64).to_vector<double>();
  const int64_t rows = shape[0], cols = shape.numel() / rows, n = std::min(rows, cols);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double dot = 0;
      for (int64_t k = 0; k < std::max(rows, cols); ++k) {
        dot += rows <= cols ? m[static_cast<size_t>(i * cols + k)] * m[static_cast<size_t>(j * cols + k)]
                            : m[static_cast<size_t>(k * cols + i)] * m[static_cast<size_t>(k * cols + j)];
      }
      EXPECT_NEAR(dot, i == j ? gain * gain : 0, 1e-12);
    }
  }
}

TEST(Initializer, Orthogonal) {
  expect_orthonormal({8, 20}, 1);
  expect_orthonormal({20, 8}, 2);
  expect_orthonormal({6, 2, 3, 3}, 1);
}

TEST(Initializer, DiracPassesChannelsThrough) {
  const std::vector<double> w = initializer(Dirac(2), {4, 2, 3, 3}).to_vector<double>();
  EXPECT_EQ(std::accumulate(w.begin(), w.end(), 0.0), 4);
  for (size_t out = 0; out < 4; ++out) EXPECT_EQ(w[(out * 2 + out % 2) * 9 + 4], 1) << out;
}

TEST(Initializer, SparseZeroesAShareOfEveryColumn) {
  const std::vector<double> w = initializer(Sparse(0.25, 1), {10, 7}).to_vector<double>();
  for (size_t c = 0; c < 7; ++c) {
    int zeros = 0;
    for (size_t r = 0; r < 10; ++r) zeros += w[r * 7 + c] == 0;
    EXPECT_EQ(zeros, 3);  // ceil(0.25·10)
  }
}

TEST(Initializer, SameSeedSameValuesAndEachDrawItsOwn) {
  set_seed(1);
  const auto a = initializer("normal", {5}).to_vector<float>(), b = initializer("normal", {5}).to_vector<float>();
  set_seed(1);
  EXPECT_EQ(initializer("normal", {5}).to_vector<float>(), a);
  EXPECT_EQ(initializer("normal", {5}).to_vector<float>(), b);
  EXPECT_NE(a, b);
  set_seed(2);
  EXPECT_NE(initializer("normal", {5}).to_vector<float>(), a);
}

TEST(Initializer, AliasesInAnyCase) {
  for (const char* name : {"XavierUniform", "xavier_uniform", "HeNormal", "he_normal", "TruncatedNormal", "Orthogonal", "varianceScaling", "dirac", "ONES"})
    EXPECT_NO_THROW(Init{name}) << name;
  try {
    Init{"xavieruniforn"};
    FAIL();
  } catch (const ValueError& e) { EXPECT_NE(e.fix().find("'xavieruniform'"), std::string::npos) << e.what(); }
}

TEST(Initializer, Errors) {
  EXPECT_THROW(initializer("normal", {0}), ValueError);
  EXPECT_THROW(initializer("normal", {2, -1}), ValueError);
  EXPECT_THROW(initializer(Tensor::zeros({2}), {3}), ShapeError);
  EXPECT_THROW(initializer("he_uniform", {3}), ValueError);
  EXPECT_THROW(initializer("identity", {3}), ValueError);
  EXPECT_THROW(initializer("dirac", {3, 3}), ValueError);
  EXPECT_THROW(initializer(Dirac(3), {4, 2, 3, 3}), ValueError);
  EXPECT_THROW(initializer(Sparse(0.5), {3}), ValueError);
  EXPECT_THROW(Sparse(1.5), ValueError);
  EXPECT_THROW(Normal(-1), ValueError);
  EXPECT_THROW(TruncatedNormal(1, 0, 2, 2), ValueError);
  EXPECT_THROW(HeUniform(0, "fan_avg"), ValueError);
  EXPECT_THROW(HeUniform(0, "fan_in", "swish"), ValueError);
  EXPECT_THROW(VarianceScaling(0), ValueError);
  EXPECT_THROW(VarianceScaling(1, "fan_in", "cauchy"), ValueError);
}

}  // namespace
}  // namespace sindri::nn
