// Samples of the random ops: the key is given, so every run of a sample draws the same numbers.
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

constexpr DType kF32 = DType::kFloat32, kF64 = DType::kFloat64;

Arg key(double seed, double step = 0, double offset = 0) { return {.shape = {3}, .dtype = DType::kInt64, .values = {seed, step, offset}}; }
Sample uniform(std::string name, Shape shape, double low, double high, DType dtype, int64_t instance = 0) {
  return {"random_uniform", std::move(name), {{"shape", shape}, {"low", low}, {"high", high}, {"dtype", dtype}, {"instance", instance}}, {key(1, 2, 3)}};
}
Sample normal(std::string op, std::string name, Shape shape, double mean, double stddev, DType dtype, int64_t instance = 0) {
  return {std::move(op), std::move(name), {{"shape", shape}, {"mean", mean}, {"stddev", stddev}, {"dtype", dtype}, {"instance", instance}}, {key(5, 1, 7)}};
}
Sample bernoulli(std::string name, Shape shape, double p, DType dtype) {
  return {"random_bernoulli", std::move(name), {{"shape", shape}, {"p", p}, {"dtype", dtype}, {"instance", int64_t{4}}}, {key(9)}};
}
Sample permutation(std::string name, int64_t n) { return {"random_permutation", std::move(name), {{"n", n}, {"instance", int64_t{2}}}, {key(3, 8)}}; }
Sample dropout(std::string op, std::string name, Shape x, double keep, int64_t instance = 0) {
  return {std::move(op), std::move(name), {{"keep_prob", keep}, {"instance", instance}}, {{x}, key(11, 4, 2)}};
}

const bool kUniform = add_samples({
    uniform("plain", {4, 9}, 0, 1, kF32),
    uniform("range", {3, 33}, -2, 5, kF32, 3),
    uniform("double", {5, 7}, 0, 1, kF64),
    uniform("half", {2, 17}, -1, 1, DType::kFloat16),
    uniform("bf16", {31}, -1, 1, DType::kBFloat16),
    uniform("scalar", {}, 0, 1, kF32),
    uniform("empty", {0, 3}, 0, 1, kF32),
    uniform("size1", {1, 1}, 2, 2, kF32),
    uniform("long", {2, 2500}, 0, 1, kF64),
});
const bool kNormal = add_samples({
    normal("random_normal", "plain", {4, 9}, 0, 1, kF32),
    normal("random_normal", "shifted", {3, 33}, 5, 0.25, kF32, 1),
    normal("random_normal", "double", {5, 7}, 0, 1, kF64),
    normal("random_normal", "half", {2, 17}, 0, 1, DType::kFloat16),
    normal("random_normal", "bf16", {31}, 0, 1, DType::kBFloat16),
    normal("random_normal", "scalar", {}, 0, 1, kF32),
    normal("random_normal", "empty", {3, 0}, 0, 1, kF32),
    normal("random_normal", "no_spread", {15}, 2, 0, kF32),
    normal("random_normal", "long", {2, 2501}, 0, 1, kF64),
});
const bool kTruncatedNormal = add_samples({
    normal("random_truncated_normal", "plain", {4, 9}, 0, 1, kF32),
    normal("random_truncated_normal", "shifted", {3, 33}, 5, 0.25, kF32, 1),
    normal("random_truncated_normal", "double", {5, 7}, 0, 1, kF64),
    normal("random_truncated_normal", "half", {2, 17}, 0, 1, DType::kFloat16),
    normal("random_truncated_normal", "bf16", {31}, 0, 1, DType::kBFloat16),
    normal("random_truncated_normal", "scalar", {}, 0, 1, kF32),
    normal("random_truncated_normal", "empty", {3, 0}, 0, 1, kF32),
    normal("random_truncated_normal", "no_spread", {15}, 2, 0, kF32),
});
const bool kBernoulli = add_samples({
    bernoulli("plain", {4, 9}, 0.5, DType::kBool),
    bernoulli("rare", {3, 33}, 0.01, DType::kBool),
    bernoulli("never", {17}, 0, DType::kInt32),
    bernoulli("always", {17}, 1, kF32),
    bernoulli("scalar", {}, 0.5, kF32),
    bernoulli("empty", {0}, 0.5, DType::kBool),
    bernoulli("double", {5, 7}, 0.75, kF64),
    bernoulli("bytes", {31}, 0.3, DType::kUInt8),
});
const bool kPermutation = add_samples({
    permutation("plain", 10),
    permutation("none", 0),
    permutation("one", 1),
    permutation("two", 2),
    permutation("odd7", 7),
    permutation("odd33", 33),
    permutation("hundred", 100),
    permutation("thousand", 1000),
});
const bool kDropout = add_samples({
    dropout("dropout", "plain", {4, 9}, 0.5),
    dropout("dropout", "mostly_kept", {3, 33}, 0.9, 7),
    dropout("dropout", "all_kept", {2, 5}, 1),
    dropout("dropout", "rarely_kept", {2, 31}, 0.05),
    dropout("dropout", "scalar", {}, 0.5),
    dropout("dropout", "vector", {17}, 0.5),
    dropout("dropout", "empty", {0, 4}, 0.5),
    dropout("dropout", "images", {2, 5, 3, 4}, 0.7),
    dropout("dropout", "long_sample", {1, 5000}, 0.5),
    dropout("dropout", "size1", {1, 1}, 0.5),
});
const bool kDropoutGrad = add_samples({
    dropout("dropout_grad", "plain", {4, 9}, 0.5),
    dropout("dropout_grad", "mostly_kept", {3, 33}, 0.9, 7),
    dropout("dropout_grad", "all_kept", {2, 5}, 1),
    dropout("dropout_grad", "scalar", {}, 0.5),
    dropout("dropout_grad", "vector", {17}, 0.5),
    dropout("dropout_grad", "empty", {0, 4}, 0.5),
    dropout("dropout_grad", "images", {2, 5, 3, 4}, 0.7),
    dropout("dropout_grad", "size1", {1, 1}, 0.5),
});

}  // namespace
}  // namespace sindri::test
