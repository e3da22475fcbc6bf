// Samples of the linear algebra ops. Matrices are diagonally dominant ("spd": condition number of a few units) or given. cholesky and eigh read one triangle
// and their gradients are those of a symmetric input, so single elements cannot be perturbed: linalg_test.cc checks those gradients with symmetric steps.
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

Arg spd(Shape shape) { return {.shape = shape, .kind = "spd"}; }
Sample matrix_op(std::string op, std::string name, std::vector<Arg> args, bool gradient = true) {
  return {.op = std::move(op), .name = std::move(name), .args = std::move(args), .gradient = gradient, .half = false};
}
Sample solve(std::string name, std::vector<Arg> args, bool lower = true, bool transpose = false, bool unit = false) {
  return {.op = "triangular_solve",
          .name = std::move(name),
          .attrs = {{"lower", lower}, {"transpose", transpose}, {"unit_diagonal", unit}},
          .args = std::move(args),
          .half = false};
}

const bool kCholesky = add_samples({
    matrix_op("cholesky", "plain", {spd({3, 3})}, false),
    matrix_op("cholesky", "one", {spd({1, 1})}, false),
    matrix_op("cholesky", "batch", {spd({2, 3, 4, 4})}, false),
    matrix_op("cholesky", "odd7", {spd({7, 7})}, false),
    matrix_op("cholesky", "odd17", {spd({17, 17})}, false),
    matrix_op("cholesky", "odd33", {spd({33, 33})}, false),
    matrix_op("cholesky", "empty", {spd({0, 0})}, false),
    matrix_op("cholesky", "empty_batch", {spd({0, 3, 3})}, false),
});
const bool kSolve = add_samples({
    solve("plain", {spd({3, 3}), {{3, 2}}}),
    solve("upper", {spd({4, 4}), {{4, 3}}}, false),
    solve("transposed", {spd({4, 4}), {{4, 3}}}, true, true),
    solve("upper_transposed", {spd({5, 5}), {{5, 1}}}, false, true),
    solve("unit", {spd({4, 4}), {{4, 2}}}, true, false, true),
    solve("upper_unit_transposed", {spd({4, 4}), {{4, 2}}}, false, true, true),
    solve("batch", {spd({2, 3, 3}), {{2, 3, 4}}}),
    solve("batch4d", {spd({2, 2, 3, 3}), {{2, 2, 3, 1}}}, false),
    solve("one", {spd({1, 1}), {{1, 1}}}),
    solve("odd", {spd({17, 17}), {{17, 9}}}),
    solve("empty", {spd({0, 0}), {{0, 2}}}),
    solve("no_columns", {spd({3, 3}), {{3, 0}}}),
    solve("empty_batch", {spd({0, 3, 3}), {{0, 3, 2}}}),
});
const bool kInverse = add_samples({
    matrix_op("inverse", "plain", {spd({3, 3})}),
    matrix_op("inverse", "one", {spd({1, 1})}),
    matrix_op("inverse", "batch", {spd({2, 3, 4, 4})}),
    matrix_op("inverse", "odd7", {spd({7, 7})}),
    matrix_op("inverse", "odd17", {spd({17, 17})}),
    matrix_op("inverse", "needs_pivot", {{.shape = {3, 3}, .values = {0, 2, 1, 1, 0, 3, 4, 1, 0}}}),
    matrix_op("inverse", "empty", {spd({0, 0})}),
    matrix_op("inverse", "empty_batch", {spd({0, 2, 2})}),
    matrix_op("inverse", "skew", {{.shape = {2, 2}, .values = {1, 3, -2, 0.5}}}),
});
const bool kLu = add_samples({
    matrix_op("lu", "plain", {spd({3, 3})}),
    matrix_op("lu", "one", {spd({1, 1})}),
    matrix_op("lu", "batch", {{{2, 3, 4, 4}}}),
    matrix_op("lu", "odd7", {{{7, 7}}}),
    matrix_op("lu", "odd17", {spd({17, 17})}),
    {.op = "lu", .name = "large", .args = {{{70, 70}}}, .gradient = false, .half = false, .tolerance = 8},  // elimination in float32: 70 steps
    matrix_op("lu", "needs_pivot", {{.shape = {3, 3}, .values = {0, 2, 1, 1, 0, 3, 4, 1, 0}}}),
    matrix_op("lu", "empty", {spd({0, 0})}),
    matrix_op("lu", "empty_batch", {spd({0, 2, 2})}),
});
const bool kEigh = add_samples({
    matrix_op("eigh", "plain", {spd({3, 3})}, false),
    matrix_op("eigh", "one", {spd({1, 1})}, false),
    matrix_op("eigh", "batch", {spd({2, 3, 4, 4})}, false),
    matrix_op("eigh", "odd7", {spd({7, 7})}, false),
    matrix_op("eigh", "odd17", {spd({17, 17})}, false),
    matrix_op("eigh", "indefinite", {{.shape = {2, 2}, .values = {1, 3, 3, -2}}}, false),
    matrix_op("eigh", "empty", {spd({0, 0})}, false),
    matrix_op("eigh", "empty_batch", {spd({0, 2, 2})}, false),
});
const bool kSvd = add_samples({
    matrix_op("svd", "square", {{{3, 3}}}),
    matrix_op("svd", "tall", {{{5, 3}}}),
    matrix_op("svd", "wide", {{{2, 4}}}),
    matrix_op("svd", "batch", {{{2, 3, 2}}}),
    matrix_op("svd", "one", {{{1, 1}}}),
    matrix_op("svd", "column", {{{4, 1}}}),
    matrix_op("svd", "row", {{{1, 5}}}),
    matrix_op("svd", "odd", {{{9, 7}}}),
    matrix_op("svd", "empty", {{{0, 3}}}),
    matrix_op("svd", "empty_batch", {{{0, 2, 3}}}),
    matrix_op("svd", "large", {{{40, 33}}}, false),
    matrix_op("qr", "square", {{{3, 3}}}),
    matrix_op("qr", "tall", {{{5, 3}}}),
    matrix_op("qr", "wide", {{{2, 4}}}),
    matrix_op("qr", "batch", {{{2, 3, 2}}}),
    matrix_op("qr", "one", {{{1, 1}}}),
    matrix_op("qr", "column", {{{4, 1}}}),
    matrix_op("qr", "row", {{{1, 5}}}),
    {.op = "qr", .name = "complete_tall", .attrs = {{"complete", true}}, .args = {{{4, 2}}}, .gradient = false, .half = false},
    {.op = "qr", .name = "complete_wide", .attrs = {{"complete", true}}, .args = {{{2, 2, 3}}}, .half = false},
    matrix_op("qr", "empty", {{{0, 3}}}),
    matrix_op("qr", "empty_batch", {{{0, 2, 3}}}),
});

}  // namespace
}  // namespace sindri::test
