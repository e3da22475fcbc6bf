// Samples of gram, conv2d_gram, damped_inverse, block_eigen and block_precondition. All blocks for damped_inverse are positive definite ("spd") as a whole. The
// padding is therefore not zero, but the op does not read it.
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

using Numbers = std::vector<int64_t>;

Sample gram(std::string name, Shape shape, int64_t block, bool ones = false) {
  return {.op = "gram", .name = std::move(name), .attrs = {{"block", block}, {"ones", ones}}, .args = {{shape}}, .gradient = false};
}
Sample conv(std::string name, Shape shape, AttrFields attrs) {
  return {.op = "conv2d_gram", .name = std::move(name), .attrs = std::move(attrs), .args = {{shape}}, .gradient = false};
}
// mine: which blocks are inverted; empty: the argument is absent and all are.
Sample inverse(std::string name, Shape blocks, int64_t d, const std::vector<double>& mine = {}) {
  Sample s{.op = "damped_inverse",
           .name = std::move(name),
           .attrs = {{"d", d}},
           .args = {{.shape = blocks, .kind = "spd"}, {.shape = {}, .lo = 0.1, .hi = 0.5}, {.shape = blocks}},
           .gradient = false,
           .half = false};
  if (!mine.empty()) s.args.push_back({.shape = {blocks[0]}, .values = mine});
  return s;
}
Sample eigen(std::string name, Shape blocks, int64_t d, const std::vector<double>& mine = {}) {
  Sample s{.op = "block_eigen",
           .name = std::move(name),
           .attrs = {{"d", d}},
           .args = {{.shape = blocks, .kind = "spd"}, {.shape = blocks}, {.shape = {blocks[0], blocks[2]}}},
           .gradient = false,
           .half = false};
  if (!mine.empty()) s.args.push_back({.shape = {blocks[0]}, .values = mine});
  return s;
}
Sample precondition(std::string name, Shape grad, Shape a, std::optional<Shape> g = std::nullopt, int64_t groups = 1, double scale = 1) {
  Sample s{.op = "block_precondition",
           .name = std::move(name),
           .attrs = {{"groups", groups}, {"scale", scale}},
           .args = {{grad}, {a}},
           .gradient = false,
           .half = false};
  if (g) s.args.push_back({*g});
  s.tolerance = 10;  // two products in sequence
  return s;
}

const bool kGram = add_samples({
    gram("whole", {6, 4}, 0),
    gram("blocks", {5, 8}, 4),
    gram("last_block_partial", {9, 7}, 3),
    gram("block_wider_than_x", {5, 3}, 128),
    gram("one", {1, 1}, 0),
    gram("odd", {37, 67}, 16),
    gram("parts", {70, 150}, 128),
    gram("pieces", {8200, 3}, 2),
    gram("ones", {6, 4}, 0, true),
    gram("ones_in_a_block_of_its_own", {9, 6}, 3, true),
    gram("ones_pieces", {8200, 3}, 2, true),
    gram("ones_alone", {7, 0}, 2, true),
    gram("no_rows", {0, 5}, 2),
    gram("no_columns", {3, 0}, 2),
});
const bool kConv = add_samples({
    conv("channels", {2, 5, 4, 3}, {{"block", int64_t{2}}}),
    conv("same3x3", {2, 3, 5, 5}, {{"kernel", Numbers{3, 3}}, {"pad", Numbers{1, 1, 1, 1}}, {"block", int64_t{8}}}),
    conv("valid3x3_whole", {2, 3, 6, 5}, {{"kernel", Numbers{3, 3}}}),
    conv("stride2_uneven_pad", {2, 4, 7, 7}, {{"kernel", Numbers{3, 3}}, {"stride", Numbers{2, 2}}, {"pad", Numbers{0, 1, 0, 1}}, {"block", int64_t{16}}}),
    conv("dilation2", {1, 3, 8, 8}, {{"kernel", Numbers{3, 3}}, {"dilation", Numbers{2, 2}}, {"pad", Numbers{2, 2, 2, 2}}, {"block", int64_t{10}}}),
    conv("groups2", {2, 6, 5, 5}, {{"kernel", Numbers{3, 3}}, {"pad", Numbers{1, 1, 1, 1}}, {"groups", int64_t{2}}, {"block", int64_t{7}}}),
    conv("depthwise", {2, 4, 5, 5}, {{"kernel", Numbers{3, 3}}, {"groups", int64_t{4}}}),
    conv("kernel3x1", {2, 3, 6, 4}, {{"kernel", Numbers{3, 1}}, {"pad", Numbers{1, 1, 0, 0}}, {"block", int64_t{4}}}),
    conv("pointwise_stride2", {2, 5, 6, 6}, {{"stride", Numbers{2, 2}}, {"block", int64_t{3}}}),
    conv("pointwise_groups", {2, 6, 3, 3}, {{"groups", int64_t{3}}}),
    conv("ones", {2, 3, 5, 5}, {{"kernel", Numbers{3, 3}}, {"pad", Numbers{1, 1, 1, 1}}, {"block", int64_t{8}}, {"ones", true}}),
    conv("ones_pointwise_groups", {2, 6, 3, 3}, {{"groups", int64_t{3}}, {"ones", true}}),
    conv("wide", {1, 20, 9, 9}, {{"kernel", Numbers{3, 3}}, {"pad", Numbers{1, 1, 1, 1}}, {"block", int64_t{128}}}),
    conv("panels", {3, 2, 19, 31}, {{"kernel", Numbers{2, 2}}, {"block", int64_t{5}}}),
    conv("no_samples", {0, 3, 5, 5}, {{"kernel", Numbers{3, 3}}}),
});
const bool kInverse = add_samples({
    inverse("whole", {1, 4, 4}, 4),
    inverse("blocks", {3, 4, 4}, 12),
    inverse("last_block_partial", {3, 4, 4}, 10),
    inverse("two_factors", {4, 3, 3}, 5),
    inverse("one", {1, 1, 1}, 1),
    inverse("panels", {2, 70, 70}, 133),
    inverse("block128", {2, 128, 128}, 200),
    inverse("none", {0, 0, 0}, 0),
    inverse("share", {4, 3, 3}, 5, {0, 1, 1, 0}),
    inverse("no_share", {2, 40, 40}, 70, {0, 0}),
});
const bool kEigen = add_samples({
    eigen("whole", {1, 4, 4}, 4),
    eigen("last_block_partial", {3, 4, 4}, 10),
    eigen("two_factors", {4, 3, 3}, 5),
    eigen("one", {1, 1, 1}, 1),
    eigen("share", {3, 5, 5}, 13, {1, 0, 1}),
    eigen("none", {0, 0, 0}, 0),
});
const bool kPrecondition = add_samples({
    precondition("whole", {3, 4}, {1, 4, 4}, Shape{1, 3, 3}),
    precondition("blocks", {7, 10}, {3, 4, 4}, Shape{3, 3, 3}, 1, 0.25),
    precondition("groups", {6, 5}, {6, 2, 2}, Shape{4, 2, 2}, 2, 2),
    precondition("no_g", {9, 5}, {2, 3, 3}),
    precondition("no_g_groups", {300, 5}, {4, 3, 3}, std::nullopt, 2, 0.5),
    precondition("odd", {67, 130}, {2, 128, 128}, Shape{2, 64, 64}),
    precondition("one", {1, 1}, {1, 1, 1}, Shape{1, 1, 1}),
});

}  // namespace
}  // namespace sindri::test
