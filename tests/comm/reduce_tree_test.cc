// reduce_tree against a tree computed element by element.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "src/comm/algorithms.h"

namespace sindri::comm {
namespace {

// Integers wrap around, which C++ guarantees for unsigned integers only.
template <class V> V combine(V a, V b, ReduceOp op) {
  const auto raw = [](V x) {
    if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) return static_cast<std::make_unsigned_t<V>>(x);
    else return x;
  };
  switch (op) {
    case ReduceOp::kMax: return a > b || a != a ? a : b;
    case ReduceOp::kMin: return a < b || a != a ? a : b;
    case ReduceOp::kProd: return static_cast<V>(raw(a) * raw(b));
    default: return static_cast<V>(raw(a) + raw(b));
  }
}

// Level by level, as the header describes it.
template <class V> V tree(std::vector<V> values, ReduceOp op) {
  while (values.size() > 1) {
    std::vector<V> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2) next.push_back(combine(values[i], values[i + 1], op));
    if (values.size() % 2 != 0) next.push_back(values.back());
    values = next;
  }
  return values[0];
}

template <class T, class V> void compare(DType dtype) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> number(-100, 100);
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd}) {
    for (const int rows : {1, 2, 3, 4, 5, 6, 7, 8, 16, 33}) {
      for (const int64_t count : {0, 1, 7, 4099}) {
        std::vector<std::vector<T>> in(static_cast<size_t>(rows), std::vector<T>(static_cast<size_t>(count)));
        for (std::vector<T>& row : in)
          for (T& x : row) x = static_cast<T>(static_cast<V>(static_cast<V>(number(random)) / static_cast<V>(7)));
        std::vector<T> expected;
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
          std::vector<V> leaves;
          for (const std::vector<T>& row : in) leaves.push_back(static_cast<V>(row[i]));
          expected.push_back(static_cast<T>(tree(leaves, op)));
        }
        std::vector<const void*> pointers;
        for (const std::vector<T>& row : in) pointers.push_back(row.data());
        const size_t place = static_cast<size_t>(rows) * 2 / 3;  // in place of one of them
        reduce_tree(pointers, in[place].data(), count, dtype, op);
        ASSERT_EQ(std::memcmp(in[place].data(), expected.data(), static_cast<size_t>(count) * sizeof(T)), 0)
            << dtype_name(dtype) << " " << reduce_op_name(op) << " of " << rows << " rows of " << count;
      }
    }
  }
}

TEST(ReduceTree, EveryType) {
  compare<float, float>(DType::kFloat32);
  compare<double, double>(DType::kFloat64);
  compare<float16, float>(DType::kFloat16);
  compare<bfloat16, float>(DType::kBFloat16);
  compare<int64_t, int64_t>(DType::kInt64);
  compare<uint8_t, uint8_t>(DType::kUInt8);
}

TEST(ReduceTree, IntegersWrap) {
  const int32_t a = std::numeric_limits<int32_t>::max(), b = 1;
  int32_t out = 0;
  const void* in[2] = {&a, &b};
  reduce_tree(in, &out, 1, DType::kInt32, ReduceOp::kSum);
  EXPECT_EQ(out, std::numeric_limits<int32_t>::min());
}

TEST(ReduceTree, Bools) {
  const uint8_t a[4] = {0, 1, 0, 2}, b[4] = {0, 0, 1, 1};
  uint8_t out[4];
  const void* in[2] = {a, b};
  reduce_tree(in, out, 4, DType::kBool, ReduceOp::kSum);
  EXPECT_EQ(std::vector<uint8_t>(out, out + 4), (std::vector<uint8_t>{0, 1, 1, 1}));
  reduce_tree(in, out, 4, DType::kBool, ReduceOp::kMin);
  EXPECT_EQ(std::vector<uint8_t>(out, out + 4), (std::vector<uint8_t>{0, 0, 0, 1}));
}

TEST(ReduceTree, NaNIsHandedOn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum, ReduceOp::kProd}) {
    for (size_t rows = 2; rows <= 9; ++rows) {
      for (size_t bad = 0; bad < rows; ++bad) {
        std::vector<std::vector<float>> in(rows, std::vector<float>(33, 1.0f));
        in[bad][32] = nan;  // in the remainder after whole vectors
        in[bad][3] = nan;
        std::vector<const void*> pointers;
        for (const std::vector<float>& row : in) pointers.push_back(row.data());
        std::vector<float> out(33);
        reduce_tree(pointers, out.data(), 33, DType::kFloat32, op);
        EXPECT_TRUE(std::isnan(out[32]) && std::isnan(out[3])) << reduce_op_name(op) << " row " << bad << " of " << rows;
        EXPECT_FALSE(std::isnan(out[4]));
      }
    }
  }
}

TEST(ReduceTree, AMeanOfHalvesDoesNotOverflow) {
  const std::vector<float16> a = {60000.0f, 1.0f}, b = {60000.0f, 2.0f};
  std::vector<float16> out(2);
  const void* in[2] = {a.data(), b.data()};
  reduce_tree(in, DType::kFloat16, out.data(), DType::kFloat16, 2, ReduceOp::kMean, 0.5);
  EXPECT_EQ(static_cast<float>(out[0]), 60000.0f);
  EXPECT_EQ(static_cast<float>(out[1]), 1.5f);
  float wide[2];
  reduce_tree(in, DType::kFloat16, wide, DType::kFloat32, 2, ReduceOp::kSum, 1);
  EXPECT_EQ(wide[0], 119968.0f + 32.0f);
  const void* partial[2] = {wide, wide};
  reduce_tree(partial, DType::kFloat32, out.data(), DType::kFloat16, 2, ReduceOp::kSum, 0.25);
  EXPECT_EQ(static_cast<float>(out[0]), 60000.0f);
}

}  // namespace
}  // namespace sindri::comm
