// Tensors, shapes, element types, promotion, random bits, context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/core/tensor.h"
#include "src/core/nearest.h"
#include "src/core/tensor_impl.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using ::testing::HasSubstr;

TEST(Shape, CountsAndPrints) {
  const Shape s{2, 3, 4};
  EXPECT_EQ(s.numel(), 24);
  EXPECT_EQ(s.str(), "[2, 3, 4]");
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{5, 0}.numel()), 0);
  EXPECT_EQ(s.dim(-1), 4);
  EXPECT_THROW(s.dim(3), ValueError);
  EXPECT_EQ(contiguous_strides(s), (Shape{12, 4, 1}));
}

TEST(Shape, RefusesOverflowAndTooManyDimensions) {
  const Shape huge{int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THROW(huge.numel(), ValueError);
  EXPECT_THROW(Shape(std::vector<int64_t>(9, 1)), ShapeError);
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast_shapes({4, 1, 3}, {2, 1}, "add"), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast_shapes({0, 3}, {1, 3}, "add"), (Shape{0, 3}));
  try {
    broadcast_shapes({2, 3}, {4, 3}, "add");
    FAIL();
  } catch (const ShapeError& e) { EXPECT_THAT(e.what(), HasSubstr("add: shapes [2, 3] and [4, 3] do not broadcast")); }
}

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(dtype_name(t)), t);
    EXPECT_EQ(parse_dtype(dtype_short_name(t)), t);
  }
  EXPECT_THROW(parse_dtype("float31"), DTypeError);
}

TEST(DType, Promotes) {
  EXPECT_EQ(promote_types(DType::kUInt8, DType::kInt32), DType::kInt32);
  EXPECT_EQ(promote_types(DType::kInt64, DType::kBFloat16), DType::kBFloat16);
  EXPECT_EQ(promote_types(DType::kFloat16, DType::kBFloat16), DType::kFloat32);
}

// Every half value converts to float and back unchanged, and rounding picks the nearest, halves to even.
TEST(DType, HalfConversionsAreExactForAllBitPatterns) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float16 h;
    h.bits = static_cast<uint16_t>(bits);
    const float f = h;
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(float16(f))));
      continue;
    }
    ASSERT_EQ(float16(f).bits, h.bits) << bits;
    bfloat16 b;
    b.bits = static_cast<uint16_t>(bits);
    if (std::isnan(static_cast<float>(b))) continue;
    ASSERT_EQ(bfloat16(static_cast<float>(b)).bits, b.bits);
  }
  EXPECT_EQ(float16(65520.0f).bits, 0x7c00);  // halfway above the largest rounds to infinity
  EXPECT_EQ(float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(float16(0x1p-25f).bits, 0x0000);  // half of the smallest: to even, zero
  EXPECT_EQ(float16(0x1.8p-25f).bits, 0x0001);
  EXPECT_EQ(float16(1.0f + 0x1p-11f).bits, 0x3c00);  // tie to even
  EXPECT_EQ(bfloat16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Tensor, ConstructsReadsAndConverts) {
  const Tensor t = Tensor::from_values({2, 2}, {1.5, -2, 0, 4}, DType::kBFloat16);
  EXPECT_THAT(t.to_vector<double>(), ::testing::ElementsAre(1.5, -2, 0, 4));
  EXPECT_THAT(t.to_vector<int32_t>(), ::testing::ElementsAre(1, -2, 0, 4));
  EXPECT_THROW(t.data<float>(), DTypeError);
  EXPECT_THROW(t.item(), ValueError);
  EXPECT_EQ(Tensor::scalar(3).item(), 3);
  EXPECT_THROW(Tensor::from_values({3}, {1, 2}), ShapeError);
  EXPECT_THROW(Tensor().meta(), ValueError);
  EXPECT_EQ(Tensor::from_values({2}, {0, 7}, DType::kBool).to_vector<int32_t>(), (std::vector<int32_t>{0, 1}));
  const int64_t big = (int64_t{1} << 62) + 1;
  EXPECT_EQ(Tensor::from_data({1}, DType::kInt64, &big).to_vector<int64_t>()[0], big) << "int64 must not pass through double";
}

TEST(Tensor, ZeroSizeWorks) {
  const Tensor t = Tensor::zeros({0, 3});
  EXPECT_EQ(t.numel(), 0);
  EXPECT_TRUE(t.to_vector<float>().empty());
  EXPECT_EQ(t.clone().shape(), t.shape());
}

TEST(Tensor, ChannelsLastKeepsLogicalOrder) {
  Tensor t = Tensor::empty({1, 2, 1, 3}, DType::kFloat32, Layout::kChannelsLast);
  const float physical[] = {0, 3, 1, 4, 2, 5};  // pixels (0,3) (1,4) (2,5)
  std::copy(std::begin(physical), std::end(physical), t.mutable_data<float>());
  EXPECT_THAT(t.to_vector<float>(), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(t.contiguous().to_vector<float>(), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THROW(t.view({6}), ValueError);
  EXPECT_THROW(Tensor::empty({2, 3}, DType::kFloat32, Layout::kChannelsLast), ShapeError);
}

TEST(Tensor, IdentitiesAreUnique) {
  const Tensor a = Tensor::zeros({1}), b = a, c = make_alias(a);
  EXPECT_EQ(a.id(), b.id());
  EXPECT_NE(a.id(), c.id());
  EXPECT_EQ(a.raw_data(), c.raw_data());
}

// Known answers of Philox4x32-10 from the Random123 distribution (Salmon et al. 2011).
TEST(Rng, PhiloxKnownAnswers) {
  const auto zero = philox4x32({0, 0, 0, 0}, {0, 0}).v;
  EXPECT_THAT(zero, ::testing::ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  const auto ones = philox4x32({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}).v;
  EXPECT_THAT(ones, ::testing::ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  const auto pi = philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}).v;
  EXPECT_THAT(pi, ::testing::ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(Rng, BelowIsUniform) {
  PhiloxSequence draws(7, 1, 2, 3);
  std::array<int, 6> count{};
  for (int i = 0; i < 60000; ++i) ++count[draws.next_below(6)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 400);  // 4 sigma
}

TEST(Context, ChecksArguments) {
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_seed(-1), ValueError);
}

TEST(Parallel, CoversTheRangeOnceAndPassesExceptions) {
  const int before = num_threads();
  set_num_threads(3);
  std::vector<int> hits(1000, 0);
  parallel_for(1000, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) ++hits[static_cast<size_t>(i)];
  });
  EXPECT_THAT(hits, ::testing::Each(1));
  EXPECT_THROW(parallel_tasks(8,
                              [](int64_t i) {
                                if (i == 5) throw ValueError("five");
                              }),
               ValueError);
  set_num_threads(before);
}

TEST(Nearest, SuggestsCloseNames) {
  EXPECT_EQ(did_you_mean("epoch", {"epochs", "batch_size"}), "did you mean 'epochs'?");
  EXPECT_EQ(did_you_mean("zzzzzz", {"a", "b"}), "known: a, b");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Error, HasACodeAndNamesEachPlaceOnce) {
  Error e(ErrorCode::kShape, "what", "where", "fix");
  EXPECT_STREQ(e.what(), "what | where | fix");
  EXPECT_EQ(e.exit_code(), 2);
  e.add_where("in Net/conv1");
  e.add_where("in Net/conv1");
  EXPECT_STREQ(e.what(), "what | where | in Net/conv1 | fix");
}

TEST(Tensor, ImpossibleShapesAreRefused) {
  EXPECT_THROW(Tensor::empty({2, -1}), ShapeError);
  EXPECT_THROW(Tensor::empty({int64_t{1} << 61}, DType::kFloat64), DeviceError);  // its bytes do not fit 64 bits
  EXPECT_EQ(Tensor::empty({0, int64_t{1} << 40}).numel(), 0);
}

}  // namespace
}  // namespace sindri
