// Samples of matmul and batch_matmul.
#include <array>

#include "tests/ops/samples.h"

namespace sindri::test::matmul_samples {
namespace {

// Each product with the four combinations of transposes.
std::vector<Sample> transposed(const std::string& op, const std::string& name, const Shape& batch_a, const Shape& batch_b, int64_t m, int64_t k, int64_t n) {
  const auto matrix = [](Shape s, int64_t rows, int64_t cols, bool transpose) {
    s.push_back(transpose ? cols : rows);
    s.push_back(transpose ? rows : cols);
    return s;
  };
  std::vector<Sample> out;
  for (int i = 0; i < 4; ++i) {
    const bool ta = (i & 1) != 0, tb = (i & 2) != 0;
    const std::string suffix = std::string(ta ? "_ta" : "") + (tb ? "_tb" : "");
    out.push_back({op, name + suffix, {{"transpose_a", ta}, {"transpose_b", tb}}, {{matrix(batch_a, m, k, ta)}, {matrix(batch_b, k, n, tb)}}});
  }
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](std::vector<Sample> more) { out.insert(out.end(), more.begin(), more.end()); };
  add(transposed("matmul", "plain", {}, {}, 3, 4, 5));
  add(transposed("matmul", "square17", {}, {}, 17, 17, 17));
  add(transposed("matmul", "row_by_matrix", {}, {}, 1, 33, 16));
  add(transposed("matmul", "matrix_by_column", {}, {}, 31, 9, 1));
  add(transposed("matmul", "dense_layer", {}, {}, 8, 31, 33));
  add(transposed("matmul", "row_blocks", {}, {}, 17, 9, 48));
  for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                   {2, 1, 3},
                                                                   {1, 7, 1},
                                                                   {7, 8, 9},
                                                                   {15, 16, 8},
                                                                   {16, 16, 16},
                                                                   {33, 31, 15},
                                                                   {9, 33, 17},
                                                                   {32, 8, 32},
                                                                   {4, 129, 3},
                                                                   {0, 3, 4},
                                                                   {3, 0, 4},
                                                                   {3, 4, 0},
                                                                   {0, 0, 0}}) {
    out.push_back({"matmul", "size_" + std::to_string(m) + "_" + std::to_string(k) + "_" + std::to_string(n), {}, {{{m, k}}, {{k, n}}}});
  }
  add(transposed("batch_matmul", "rank2", {}, {}, 4, 5, 6));
  add(transposed("batch_matmul", "rank3", {3}, {3}, 4, 5, 6));
  add(transposed("batch_matmul", "rank4", {2, 3}, {2, 3}, 5, 8, 7));
  add(transposed("batch_matmul", "broadcast_right", {2, 3}, {}, 4, 3, 5));
  add(transposed("batch_matmul", "broadcast_left", {}, {4}, 3, 5, 2));
  add(transposed("batch_matmul", "broadcast_both", {2, 1, 2}, {3, 1}, 2, 3, 4));
  add(transposed("batch_matmul", "odd_sizes", {2}, {2}, 17, 9, 15));
  for (const auto& [b, m, k, n] :
       std::vector<std::array<int64_t, 4>>{{0, 2, 3, 4}, {2, 0, 3, 4}, {2, 3, 0, 4}, {2, 3, 4, 0}, {1, 1, 1, 1}, {5, 1, 16, 1}, {2, 16, 33, 8}}) {
    out.push_back({"batch_matmul",
                   "size_" + std::to_string(b) + "_" + std::to_string(m) + "_" + std::to_string(k) + "_" + std::to_string(n),
                   {},
                   {{{b, m, k}}, {{b, k, n}}}});
  }
  return out;
}

const bool kSamples = add_samples(samples());

}  // namespace
}  // namespace sindri::test::matmul_samples
