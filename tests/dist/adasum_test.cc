// Adasum between ranks: exact values, the tree, any split of the tensors, groups of several ranks, a number of groups that is not a power of two; and as part
// of a training step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <random>

#include "sindri/core/error.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "tests/dist/training.h"

namespace sindri::dist_test {
namespace {

using Vector = std::vector<double>;

Vector pair_of(const Vector& a, const Vector& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  Vector out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = (aa == 0 ? 1 : 1 - ab / (2 * aa)) * a[i] + (bb == 0 ? 1 : 1 - ab / (2 * bb)) * b[i];
  return out;
}
// Combines neighbours first; the number of vectors is a power of two.
Vector tree_of(std::vector<Vector> v) {
  while (v.size() > 1) {
    std::vector<Vector> next;
    for (size_t i = 0; i < v.size(); i += 2) next.push_back(pair_of(v[i], v[i + 1]));
    v = std::move(next);
  }
  return v[0];
}

// tensors[group][tensor]: the result that every rank must get, bitwise identical.
std::vector<Vector> summed(const std::vector<std::vector<Vector>>& tensors, int64_t members, bool fold, DType dtype, Vector* norms = nullptr) {
  const int ranks = static_cast<int>(tensors.size()) * static_cast<int>(members);
  std::vector<std::vector<Vector>> all(static_cast<size_t>(ranks));
  std::mutex mutex;
  comm::run_ranks(ranks, [&](int rank) {
    TensorList in;
    for (const Vector& v : tensors[static_cast<size_t>(rank / members)]) in.push_back(Tensor::from_values({static_cast<int64_t>(v.size())}, v, dtype));
    TensorList sums = ops::adaptive_sum(in, members, fold);
    const std::lock_guard lock(mutex);
    if (norms != nullptr) *norms = sums.back().to_vector<double>();
    sums.pop_back();
    for (const Tensor& t : sums) all[static_cast<size_t>(rank)].push_back(t.to_vector<double>());
  });
  const auto same = [](const Vector& a, const Vector& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0; };
  for (const auto& of_rank : all)
    for (size_t t = 0; t < of_rank.size(); ++t) EXPECT_TRUE(same(of_rank[t], all[0][t])) << t;
  return all[0];
}
Vector one(const std::vector<Vector>& v, DType dtype = DType::kFloat64) {
  std::vector<std::vector<Vector>> tensors;
  for (const Vector& x : v) tensors.push_back({x});
  return summed(tensors, 1, false, dtype)[0];
}
void expect_near(const Vector& got, const Vector& want, double tolerance = 1e-9, double size = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (const double w : want) size = std::max(size, std::abs(w));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance * size) << i;
}

TEST(Adasum, PairsOfVectors) {
  const std::pair<std::pair<Vector, Vector>, Vector> cases[] = {
      {{{3, 0}, {0, 4}}, {3, 4}},  {{{1, 2}, {1, 2}}, {1, 2}},    {{{2, 0}, {1, 0}}, {1.5, 0}},     {{{3, 0}, {1, 0}}, {2, 0}},
      {{{1, 0}, {-1, 0}}, {0, 0}}, {{{2, 0}, {-1, 0}}, {0.5, 0}}, {{{1, 0}, {1, 1}}, {1.25, 0.75}}, {{{1, 0}, {-1, 1}}, {0.25, 1.25}},
      {{{1, 2}, {0, 0}}, {1, 2}},  {{{0, 0}, {0, 0}}, {0, 0}}};
  for (const auto& [in, want] : cases) {
    EXPECT_EQ(one({in.first, in.second}), want);
    EXPECT_EQ(one({in.second, in.first}), want);
  }
  // The size of the vectors does not matter, however small: no additive epsilon.
  for (const double c : {1e-20, 1e-7, 1e12}) EXPECT_EQ(one({{c, 0}, {0, c}}, DType::kFloat32), one({{c, 0}, {0, c}}, DType::kFloat32));
  expect_near(one({{1e-7, 0}, {0, 1e-7}}, DType::kFloat32), {1e-7, 1e-7}, 1e-6);
  expect_near(one({{1, 2, 0}, {2, -1, 3}}), {3, 1, 3});  // |s|² = 19
}

TEST(Adasum, FourVectors) {
  expect_near(one({{1, 0}, {1, 1}, {0, 1}, {1, -1}}), {1.3122171946, 0.5565610860});
  expect_near(one({{1, 0}, {0, 1}, {1, 1}, {1, -1}}), {2, 0.5});  // another tree
  EXPECT_EQ(one({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}), (Vector{1, 1, 1, 1}));
  EXPECT_EQ(one({{3, 4}, {3, 4}, {3, 4}, {3, 4}}), (Vector{3, 4}));
  EXPECT_EQ(one({{1}, {2}, {3}, {6}}), (Vector{3}));
}

// Each tensor separately, whatever lies next to it in the buffer.
TEST(Adasum, TensorsDoNotMix) {
  Vector norms;
  const auto sum = summed({{{1, 0}, {2}}, {{0, 1}, {2}}}, 1, false, DType::kFloat64, &norms);
  EXPECT_EQ(sum[0], (Vector{1, 1}));
  EXPECT_EQ(sum[1], (Vector{2}));
  EXPECT_EQ(norms, (Vector{2, 2, 4, 8}));
}

std::vector<std::vector<Vector>> drawn(size_t groups, const std::vector<size_t>& sizes, uint32_t seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<Vector>> out(groups);
  for (auto& tensors : out)
    for (const size_t n : sizes) {
      Vector v(n);
      for (double& x : v) x = static_cast<double>(static_cast<float>(normal(draw) + 0.3));
      tensors.push_back(v);
    }
  return out;
}

TEST(Adasum, AnyWorldGroupsAndSizesAreTheTree) {
  const std::vector<size_t> sizes = {1, 2, 3, 5, 64, 65, 0, 1, 10007};
  for (const size_t groups : {2u, 4u, 8u, 16u}) {
    for (const int64_t members : {1, 2, 3, 4}) {
      if (static_cast<int64_t>(groups) * members > 16) continue;
      const auto v = drawn(groups, sizes, static_cast<uint32_t>(groups + 100 * static_cast<size_t>(members)));
      const auto sum = summed(v, members, false, DType::kFloat32);
      for (size_t t = 0; t < sizes.size(); ++t) {
        std::vector<Vector> of_tensor;
        for (const auto& tensors : v) of_tensor.push_back(tensors[t]);
        expect_near(sum[t], tree_of(of_tensor), 1e-6, 1);
      }
    }
  }
}

TEST(Adasum, NumbersThatAreNoPowerOfTwo) {
  for (const size_t groups : {3u, 5u, 6u, 7u}) {
    for (const int64_t members : {1, 2}) {
      const auto v = drawn(groups, {5, 33}, static_cast<uint32_t>(groups));
      EXPECT_THROW(summed(v, members, false, DType::kFloat32), CommError);
      const auto sum = summed(v, members, true, DType::kFloat32);
      size_t whole = 1;
      while (2 * whole <= groups) whole *= 2;
      for (size_t t = 0; t < 2; ++t) {
        std::vector<Vector> of_tensor;
        for (size_t g = 0; g < whole; ++g) of_tensor.push_back(g + whole < groups ? pair_of(v[g][t], v[g + whole][t]) : v[g][t]);
        expect_near(sum[t], tree_of(of_tensor), 1e-6, 1);
      }
    }
  }
  try {
    summed(drawn(6, {5}, 1), 1, false, DType::kFloat32);
  } catch (const CommError& e) { EXPECT_THAT(e.what(), testing::HasSubstr("6 groups; the number of groups must be a power of two")); }
}

TEST(Adasum, NotANumberReachesAll) {
  auto v = drawn(4, {9, 4}, 1);
  v[2][0][5] = NAN;
  const auto sum = summed(v, 1, false, DType::kFloat32);
  for (const double x : sum[0]) EXPECT_TRUE(std::isnan(x));
  for (const double x : sum[1]) EXPECT_TRUE(std::isfinite(x));
}

TEST(Adasum, Properties) {
  const auto v = drawn(2, {40}, 5);
  const Vector s = one({v[0][0], v[1][0]});
  expect_near(one({v[1][0], v[0][0]}), s, 1e-12);
  const auto norm = [](const Vector& x) {
    double n = 0;
    for (const double e : x) n += e * e;
    return std::sqrt(n);
  };
  EXPECT_LE(norm(s), norm(v[0][0]) + norm(v[1][0]));
  for (const double c : {1e-20, 3.0, 1e20}) {
    Vector a = v[0][0], b = v[1][0], want = s;
    for (size_t i = 0; i < a.size(); ++i) a[i] *= c, b[i] *= c, want[i] *= c;
    expect_near(one({a, b}), want, 1e-12);
  }
}

// Training with four ranks in two groups of two.
Job job(const char* on, int64_t device_number, int ranks = 4) {
  Job s;
  s.ranks = ranks, s.steps = 12, s.norm = false, s.dropout = false;
  s.boosts = {{"adasum", {{"on", std::string(on)}, {"device_number", device_number}}}};
  return s;
}

TEST(AdasumTraining, RanksStayAlikeAndLearn) {
  for (const char* on : {"delta", "gradient"}) {
    for (const int64_t members : {1, 2}) {
      for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
        Job s = job(on, members);
        s.mode = mode;
        const std::vector<Outcome> all = train_all(s);
        for (const Outcome& o : all) EXPECT_EQ(o.weights, all[0].weights) << on << members;
        EXPECT_LT(all[0].losses.back(), all[0].losses.front());
      }
    }
  }
}

// Several groups with the same batches act like one group.
TEST(AdasumTraining, GroupsThatSeeTheSameAreOne) {
  for (const char* on : {"delta", "gradient"}) {
    Job s = job(on, 2);
    s.spoil = [](TensorList& b, int64_t step, int64_t virtual_rank) { b = small_batch(4, step * 1000 + virtual_rank % 2); };
    const Outcome together = train_all(s)[0];
    s.boosts.clear(), s.ranks = 2;
    const Outcome alone = train_all(s)[0];
    ASSERT_EQ(together.weights.size(), alone.weights.size());
    for (size_t i = 0; i < alone.weights.size(); ++i) EXPECT_NEAR(together.weights[i], alone.weights[i], 1e-5 * (1 + std::abs(alone.weights[i])));
  }
}

// The gradients of the other groups are finite, and an adaptive sum would spread the non-finite values to them.
TEST(AdasumTraining, AnOverflowOfOneGroupIsLeftOutByAll) {
  for (const char* on : {"delta", "gradient"}) {
    Job s = job(on, 1, 2);
    s.step.skip_nonfinite = true;
    s.spoil = [](TensorList& b, int64_t step, int64_t virtual_rank) {
      if (step == 3 && virtual_rank == 1) b[0] = Tensor::full(b[0].shape(), HUGE_VAL);
    };
    const std::vector<Outcome> all = train_all(s);
    for (const Outcome& o : all) {
      for (size_t i = 0; i < o.finite.size(); ++i) EXPECT_EQ(o.finite[i], i != 3) << on << i;
      EXPECT_EQ(o.weights, all[0].weights) << on;
      for (const double w : o.weights) ASSERT_TRUE(std::isfinite(w)) << on;
    }
    EXPECT_LT(all[0].losses.back(), all[0].losses.front());
  }
}

TEST(AdasumTraining, OneGroupIsRefusedOrTold) {
  Job s = job("delta", 4);
  EXPECT_THROW(train_all(s), ValueError);
  s.boosts[0].second["alone"] = std::string("warn");
  testing::internal::CaptureStderr();
  const Outcome with = train_all(s)[0];
  const std::string said = testing::internal::GetCapturedStderr(), warning = "adasum is not applied: all 4 ranks are in one group";
  EXPECT_NE(said.find(warning), std::string::npos) << said;
  EXPECT_EQ(said.find(warning), said.rfind(warning)) << "by one rank: " << said;
  s.boosts.clear();
  EXPECT_EQ(with.weights, train_all(s)[0].weights);
  Job odd = job("delta", 1, 3);
  EXPECT_THROW(train_all(odd), CommError);
}

}  // namespace
}  // namespace sindri::dist_test
