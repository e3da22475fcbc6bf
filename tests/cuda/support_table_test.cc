// Tests what cuDNN supports on an H100 and an H200, without such a GPU. Whole graphs are built from device descriptions, and the outcome is compared with the
// table that decides which path a network uses. A changed row means that cuDNN changed: the test prints its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "src/device/cuda/described_device.h"
#include "tests/cuda/patterns.h"

namespace sindri::cuda {

namespace {

enum Support { kNo, kPrecompiled, kRuntime };

// Both devices take 2 minutes of one core, most of it for compiling. Without SINDRI_TEST_ALL=1 the H200, which differs from the H100 only in its memory, is
// tested on the rows that need no compiling.
bool test_all() {
  const char* const all = std::getenv("SINDRI_TEST_ALL");
  return all != nullptr && std::string(all) == "1";
}

struct Row {
  std::string name;
  std::function<void(Pattern&)> describe;
  Support fp16, bf16;
  double megabytes = 8;  // maximum size of the workspace
};

constexpr auto kF32 = CUDNN_DATA_FLOAT;

void conv(Pattern& p, const Layer& l) { p.graph.conv(p.x(l), p.w(l), p.out(Pattern::y_dims(l)), l.geometry()); }
void dgrad(Pattern& p, const Layer& l) { p.graph.conv_dgrad(p.dy(l), p.w(l), p.out(Pattern::x_dims(l)), l.geometry()); }
void wgrad(Pattern& p, const Layer& l) { p.graph.conv_wgrad(p.x(l), p.dy(l), p.out({l.k, l.c, l.r, l.r}), l.geometry()); }

// y = conv(x), sums of y. `x`: the convolution's input.
void conv_stats(Pattern& p, const Layer& l, TensorId x) {
  const TensorId y = p.out(Pattern::y_dims(l));
  p.graph.conv(x, p.w(l), y, l.geometry());
  p.graph.generate_stats(y, p.channel_out(l.k), p.channel_out(l.k));
}
void conv_two_sums(Pattern& p, const Layer& l, TensorId x) {
  const TensorId y = p.out(Pattern::y_dims(l));
  p.graph.conv(x, p.w(l), y, l.geometry());
  p.two_sums(y, Pattern::y_dims(l));
}

std::vector<Row> convolutions() {
  std::vector<Row> rows;
  const auto add = [&](const char* name, auto describe, const Layer& l, double megabytes) {
    rows.push_back({name, [=](Pattern& p) { describe(p, l); }, kPrecompiled, kPrecompiled, megabytes});
  };
  add("conv 3x3", conv, kInner3x3, 8);
  add("conv 1x1", conv, kTo256, 8);
  add("conv 3x3/2", conv, kStride2, 8);
  add("conv 3x3/2, unequal padding", conv, kUnequal, 8);
  add("dgrad 3x3", dgrad, kInner3x3, 8);
  add("dgrad 1x1", dgrad, kTo256, 8);
  add("dgrad 3x3/2", dgrad, kStride2, 8);
  add("dgrad 3x3/2, unequal padding", dgrad, kUnequal, 8);
  add("wgrad 3x3", wgrad, kInner3x3, 8);
  add("wgrad 1x1", wgrad, kTo256, 8);
  add("wgrad 3x3/2", wgrad, kStride2, 8);
  add("wgrad 3x3/2, unequal padding", wgrad, kUnequal, 8);
  add("stem conv, 4 channels", conv, kStem, 300);
  add("stem wgrad, 4 channels", wgrad, kStem, 300);
  // cuDNN's heuristics list no engine for it, but the list of all engines has one.
  rows.push_back({"wgrad with a float result",
                  [](Pattern& p) {
                    const Layer& l = kInner3x3;
                    p.graph.conv_wgrad(p.x(l), p.dy(l), p.out(kF32, {l.k, l.c, l.r, l.r}), l.geometry());
                  },
                  kRuntime, kRuntime});
  return rows;
}

std::vector<Row> fused_forward() {
  std::vector<Row> rows;
  for (const auto& [name, l] : {std::pair{"3x3", kInner3x3}, {"1x1", kTo256}, {"3x3/2", kStride2}}) {
    rows.push_back({std::string("conv + stats, ") + name, [l = l](Pattern& p) { conv_stats(p, l, p.x(l)); }, kPrecompiled, kRuntime});
    rows.push_back({std::string("scale-bias-relu + conv + stats, ") + name,
                    [l = l](Pattern& p) { conv_stats(p, l, p.scale_bias_relu(p.x(l), Pattern::x_dims(l), p.type(), kF32, p.type())); }, kPrecompiled,
                    kRuntime});
  }
  rows.push_back({"conv + stats, unequal padding", [](Pattern& p) { conv_stats(p, kUnequal, p.x(kUnequal)); }, kRuntime, kRuntime});
  rows.push_back({"conv + stats, stem", [](Pattern& p) { conv_stats(p, kStem, p.x(kStem)); }, kRuntime, kRuntime});
  rows.push_back({"scale-bias-relu + conv + stats, float factors",
                  [](Pattern& p) { conv_stats(p, kInner3x3, p.scale_bias_relu(p.x(kInner3x3), Pattern::x_dims(kInner3x3), kF32, kF32, p.type())); }, kRuntime,
                  kRuntime});
  const auto scaled_conv = [](Pattern::Type relu) {
    return [=](Pattern& p) {
      const Layer& l = kInner3x3;
      const TensorId z = p.scale_bias_relu(p.x(l), Pattern::x_dims(l), kF32, kF32, relu == kF32 ? kF32 : p.type());
      p.graph.conv(z, p.w(l), p.out(Pattern::y_dims(l)), l.geometry());
    };
  };
  rows.push_back({"scale-bias-relu + conv", scaled_conv(CUDNN_DATA_HALF), kRuntime, kRuntime});
  rows.push_back({"scale-bias-relu + conv, float between", scaled_conv(kF32), kNo, kNo});
  rows.push_back({"conv + two sums", [](Pattern& p) { conv_two_sums(p, kInner3x3, p.x(kInner3x3)); }, kRuntime, kRuntime});
  rows.push_back({"conv + two sums, stem", [](Pattern& p) { conv_two_sums(p, kStem, p.x(kStem)); }, kRuntime, kRuntime, 300});
  rows.push_back({"conv + two sums, unequal padding", [](Pattern& p) { conv_two_sums(p, kUnequal, p.x(kUnequal)); }, kRuntime, kRuntime});
  rows.push_back({"scale-bias-relu (float factors) + conv + two sums",
                  [](Pattern& p) { conv_two_sums(p, kInner3x3, p.scale_bias_relu(p.x(kInner3x3), Pattern::x_dims(kInner3x3), kF32, kF32, p.type())); },
                  kRuntime, kRuntime});
  rows.push_back({"conv + scale + bias + add + relu",
                  [](Pattern& p) {
                    const Layer& l = kInner3x3;
                    const std::vector<int64_t> dims = Pattern::y_dims(l);
                    const TensorId y = p.between(dims);
                    p.graph.conv(p.x(l), p.w(l), y, l.geometry());
                    const TensorId scaled = p.op(CUDNN_POINTWISE_MUL, y, p.channel_in(kF32, l.k), dims);
                    const TensorId biased = p.op(CUDNN_POINTWISE_ADD, scaled, p.channel_in(kF32, l.k), dims);
                    p.graph.pointwise(CUDNN_POINTWISE_RELU_FWD, p.op(CUDNN_POINTWISE_ADD, biased, p.in(dims), dims), 0, p.out(dims));
                  },
                  kRuntime, kRuntime});
  return rows;
}

// g = dgrad(dy) where relu(inv (y - mean) scale + bias) > 0; sums of batch norm's backward over g and y.
void dgrad_bn(Pattern& p, const Layer& l, bool by_reductions) {
  const std::vector<int64_t> dims = Pattern::x_dims(l);
  const TensorId dz = p.between(dims), y = p.in(dims), g = p.out(dims);
  const TensorId mean = p.channel_in(kF32, l.c), inv = p.channel_in(kF32, l.c), scale = p.channel_in(kF32, l.c), bias = p.channel_in(kF32, l.c);
  p.graph.conv_dgrad(p.dy(l), p.w(l), dz, l.geometry());
  const TensorId centred = p.op(CUDNN_POINTWISE_SUB, y, mean, dims);
  const TensorId normal = p.op(CUDNN_POINTWISE_MUL, centred, inv, dims);
  const TensorId z = p.op(CUDNN_POINTWISE_ADD, p.op(CUDNN_POINTWISE_MUL, normal, scale, dims), bias, dims);
  p.graph.pointwise_backward(CUDNN_POINTWISE_RELU_BWD, dz, z, g);
  if (by_reductions) {
    p.graph.reduce(CUDNN_REDUCE_TENSOR_ADD, g, p.channel_out(l.c));
    p.graph.reduce(CUDNN_REDUCE_TENSOR_ADD, p.op(CUDNN_POINTWISE_MUL, g, normal, dims), p.channel_out(l.c));
    return;
  }
  p.graph.bn_sums({.x = y,
                   .dy = g,
                   .mean = mean,
                   .inverse_deviation = inv,
                   .scale = scale,
                   .dscale = p.channel_out(l.c),
                   .dbias = p.channel_out(l.c),
                   .eq_dy = p.channel_out(l.c),
                   .eq_x = p.channel_out(l.c),
                   .eq_bias = p.channel_out(l.c)});
}

std::vector<Row> fused_backward() {
  std::vector<Row> rows;
  const auto after_dgrad = [](auto finish) {
    return [=](Pattern& p) {
      const Layer& l = kInner3x3;
      const TensorId dx = p.between(Pattern::x_dims(l));
      p.graph.conv_dgrad(p.dy(l), p.w(l), dx, l.geometry());
      finish(p, dx, p.in(Pattern::x_dims(l)), p.out(Pattern::x_dims(l)));
    };
  };
  rows.push_back({"dgrad + drelu",
                  after_dgrad([](Pattern& p, TensorId dx, TensorId x, TensorId out) { p.graph.pointwise_backward(CUDNN_POINTWISE_RELU_BWD, dx, x, out); }),
                  kRuntime, kRuntime});
  rows.push_back({"dgrad + add", after_dgrad([](Pattern& p, TensorId dx, TensorId x, TensorId out) { p.graph.pointwise(CUDNN_POINTWISE_ADD, dx, x, out); }),
                  kRuntime, kRuntime});
  for (const auto& [name, l] : {std::pair{"3x3", kInner3x3}, {"1x1", kTo256}, {"3x3/2", kStride2}}) {
    rows.push_back({std::string("dgrad + drelu (recomputed) + bn sums, ") + name, [l = l](Pattern& p) { dgrad_bn(p, l, false); }, kPrecompiled, kNo});
    rows.push_back({std::string("scale-bias-relu + wgrad, ") + name,
                    [l = l](Pattern& p) {
                      const TensorId z = p.scale_bias_relu(p.x(l), Pattern::x_dims(l), p.type(), p.type(), p.type());
                      p.graph.conv_wgrad(z, p.dy(l), p.out({l.k, l.c, l.r, l.r}), l.geometry());
                    },
                    kPrecompiled, kNo});
  }
  rows.push_back({"dgrad + drelu (recomputed) + two sums, 3x3", [](Pattern& p) { dgrad_bn(p, kInner3x3, true); }, kRuntime, kRuntime});
  // It takes 12 s to fail: the code that cuDNN generates for every candidate does not compile.
  if (test_all()) rows.push_back({"dgrad + drelu (recomputed) + two sums, 3x3/2", [](Pattern& p) { dgrad_bn(p, kStride2, true); }, kNo, kNo});
  rows.push_back({"bn-backward apply in the load of dgrad",
                  [](Pattern& p) {
                    const Layer& l = kInner3x3;
                    const std::vector<int64_t> dims = Pattern::y_dims(l);
                    const TensorId ag = p.op(CUDNN_POINTWISE_MUL, p.in(dims), p.channel_in(kF32, l.k), dims),
                                   by = p.op(CUDNN_POINTWISE_MUL, p.in(dims), p.channel_in(kF32, l.k), dims);
                    const TensorId sum = p.op(CUDNN_POINTWISE_ADD, ag, by, dims);
                    const TensorId dy = p.op(CUDNN_POINTWISE_ADD, sum, p.channel_in(kF32, l.k), dims, p.type());
                    p.graph.conv_dgrad(dy, p.w(l), p.out(Pattern::x_dims(l)), l.geometry());
                  },
                  kNo, kNo});
  return rows;
}

// y = bn(x) [+ shortcut], z = relu(y), mask = y > 0 with one bit per value.
void bn_forward(Pattern& p, bool add, bool relu, bool mask) {
  const std::vector<int64_t> dims = {256, 64, 56, 56};
  const int64_t c = dims[1];
  const TensorId y = relu ? p.between(dims) : p.out(dims);
  p.graph.norm_forward({.x = p.in(dims),
                        .scale = p.channel_in(kF32, c),
                        .bias = p.channel_in(kF32, c),
                        .epsilon = p.graph.scalar(1e-5),
                        .y = y,
                        .mean = p.channel_out(c),
                        .inverse_deviation = p.channel_out(c),
                        .factor = p.graph.scalar(0.1),
                        .running_mean = p.channel_in(kF32, c),
                        .running_variance = p.channel_in(kF32, c),
                        .new_running_mean = p.channel_out(c),
                        .new_running_variance = p.channel_out(c)});
  const TensorId sum = add ? p.op(CUDNN_POINTWISE_ADD, y, p.in(dims), dims) : y;
  const TensorId z = relu ? p.out(dims) : 0;
  if (relu) p.graph.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, 0, z);
  if (mask) p.graph.pointwise(CUDNN_POINTWISE_CMP_GT, z, p.graph.scalar(0), p.out(CUDNN_DATA_BOOLEAN, dims));
}

enum class Gate { kNone, kMask, kMaskFork, kRecomputed };

// dx, dscale, dbias from dy gated by the bit mask (the gated gradient is a separate output if the shortcut needs it), or by the recomputed result.
void bn_backward(Pattern& p, Gate gate) {
  const std::vector<int64_t> dims = {256, 64, 56, 56};
  const int64_t c = dims[1];
  const TensorId dz = p.in(dims), x = p.in(dims), mean = p.channel_in(kF32, c), inv = p.channel_in(kF32, c), scale = p.channel_in(kF32, c);
  TensorId dy = dz;
  if (gate == Gate::kMask || gate == Gate::kMaskFork) {
    dy = gate == Gate::kMaskFork ? p.out(dims) : p.between(dims, p.type());
    p.graph.pointwise(CUDNN_POINTWISE_MUL, dz, p.in(CUDNN_DATA_BOOLEAN, dims), dy);
  } else if (gate == Gate::kRecomputed) {
    const TensorId y = p.between(dims);
    p.graph.norm_forward({.training = false, .x = x, .scale = scale, .bias = p.channel_in(kF32, c), .y = y, .mean = mean, .inverse_deviation = inv});
    dy = p.between(dims, p.type());
    p.graph.pointwise_backward(CUDNN_POINTWISE_RELU_BWD, dz, y, dy);
  }
  p.graph.norm_backward(
      {.dy = dy, .x = x, .scale = scale, .mean = mean, .inverse_deviation = inv, .dx = p.out(dims), .dscale = p.channel_out(c), .dbias = p.channel_out(c)});
}

void bn_finalize(Pattern& p, Pattern::Type factors) {
  const int64_t c = 64;
  p.graph.bn_finalize({.sum = p.channel_in(kF32, c),
                       .square_sum = p.channel_in(kF32, c),
                       .scale = p.channel_in(kF32, c),
                       .bias = p.channel_in(kF32, c),
                       .epsilon = p.graph.scalar(1e-5),
                       .count = p.graph.scalar(256 * 56 * 56, CUDNN_DATA_INT64),
                       .mean = p.channel_out(c),
                       .inverse_deviation = p.channel_out(c),
                       .eq_scale = p.graph.per_channel(factors, c, Role::kOutput),
                       .eq_bias = p.graph.per_channel(factors, c, Role::kOutput),
                       .factor = p.graph.scalar(0.1),
                       .running_mean = p.channel_in(kF32, c),
                       .running_variance = p.channel_in(kF32, c),
                       .new_running_mean = p.channel_out(c),
                       .new_running_variance = p.channel_out(c)});
}

std::vector<Row> norms() {
  std::vector<Row> rows;
  const auto add = [&](const char* name, auto describe, Support fp16, Support bf16, double megabytes = 8) {
    rows.push_back({name, describe, fp16, bf16, megabytes});
  };
  add(
      "bn forward", [](Pattern& p) { bn_forward(p, false, false, false); }, kRuntime, kRuntime);
  add(
      "bn + relu", [](Pattern& p) { bn_forward(p, false, true, false); }, kRuntime, kRuntime);
  add(
      "bn + add + relu", [](Pattern& p) { bn_forward(p, true, true, false); }, kRuntime, kRuntime);
  add(
      "bn + relu, bit mask", [](Pattern& p) { bn_forward(p, false, true, true); }, kRuntime, kRuntime);
  add(
      "bn + add + relu, bit mask", [](Pattern& p) { bn_forward(p, true, true, true); }, kRuntime, kRuntime);
  add(
      "dbn", [](Pattern& p) { bn_backward(p, Gate::kNone); }, kRuntime, kRuntime);
  add(
      "mask + dbn", [](Pattern& p) { bn_backward(p, Gate::kMask); }, kRuntime, kRuntime);
  add(
      "mask + dbn + fork", [](Pattern& p) { bn_backward(p, Gate::kMaskFork); }, kRuntime, kRuntime);
  add(
      "recomputed relu + dbn", [](Pattern& p) { bn_backward(p, Gate::kRecomputed); }, kRuntime, kRuntime);
  add(
      "bn finalize, factors of the type", [](Pattern& p) { bn_finalize(p, p.type()); }, kPrecompiled, kNo);
  add(
      "bn finalize, float factors", [](Pattern& p) { bn_finalize(p, kF32); }, kPrecompiled, kPrecompiled);
  // The precompiled engines query the device's occupancy through the CUDA runtime and are skipped without a device.
  const auto layer_norm = [](bool backward, Pattern::Type scale_type) {
    return [=](Pattern& p) {
      const std::vector<int64_t> dims = {256 * 128, 768, 1, 1}, features = {1, 768, 1, 1}, rows_of = {256 * 128, 1, 1, 1};
      const Pattern::Type s = scale_type == kF32 ? kF32 : p.type();
      if (backward)
        p.graph.norm_backward({.mode = CUDNN_LAYER_NORM,
                               .dy = p.in(dims),
                               .x = p.in(dims),
                               .scale = p.in(s, features),
                               .mean = p.in(kF32, rows_of),
                               .inverse_deviation = p.in(kF32, rows_of),
                               .dx = p.out(dims),
                               .dscale = p.out(s, features),
                               .dbias = p.out(s, features)});
      else
        p.graph.norm_forward({.mode = CUDNN_LAYER_NORM,
                              .x = p.in(dims),
                              .scale = p.in(s, features),
                              .bias = p.in(s, features),
                              .epsilon = p.graph.scalar(1e-12),
                              .y = p.out(dims),
                              .mean = p.out(kF32, rows_of),
                              .inverse_deviation = p.out(kF32, rows_of)});
    };
  };
  add("layer norm, float scale", layer_norm(false, kF32), kRuntime, kRuntime);
  add("layer norm, scale of the type", layer_norm(false, CUDNN_DATA_HALF), kRuntime, kRuntime);
  add("layer norm backward, float scale", layer_norm(true, kF32), kRuntime, kRuntime);
  add("layer norm backward, scale of the type", layer_norm(true, CUDNN_DATA_HALF), kRuntime, kRuntime);
  return rows;
}

std::vector<Row> others() {
  std::vector<Row> rows;
  const std::vector<int64_t> dims = {256, 64, 56, 56};
  rows.push_back({"a g + b y + c",
                  [=](Pattern& p) {
                    const TensorId ag = p.op(CUDNN_POINTWISE_MUL, p.in(dims), p.channel_in(kF32, 64), dims),
                                   by = p.op(CUDNN_POINTWISE_MUL, p.in(dims), p.channel_in(kF32, 64), dims);
                    p.graph.pointwise(CUDNN_POINTWISE_ADD, p.op(CUDNN_POINTWISE_ADD, ag, by, dims), p.channel_in(kF32, 64), p.out(dims));
                  },
                  kRuntime, kRuntime});
  rows.push_back({"scale + bias + add + relu",
                  [=](Pattern& p) {
                    const TensorId scaled = p.op(CUDNN_POINTWISE_MUL, p.in(dims), p.channel_in(kF32, 64), dims);
                    const TensorId biased = p.op(CUDNN_POINTWISE_ADD, scaled, p.channel_in(kF32, 64), dims);
                    p.graph.pointwise(CUDNN_POINTWISE_RELU_FWD, p.op(CUDNN_POINTWISE_ADD, biased, p.in(dims), dims), 0, p.out(dims));
                  },
                  kRuntime, kRuntime});
  rows.push_back({"factor by sample and channel",
                  [=](Pattern& p) {
                    p.graph.pointwise(CUDNN_POINTWISE_MUL, p.in(dims), p.in(kF32, {256, 64, 1, 1}), p.out(dims));
                  },
                  kNo, kNo});
  const auto pool = [](cudnnResampleMode_t mode, int64_t before, int64_t after) {
    return [=](Pattern& p) {
      const std::vector<int64_t> small = {256, 64, 56, 56};
      const TensorId index = mode == CUDNN_RESAMPLE_MAXPOOL ? p.out(CUDNN_DATA_INT8, small) : 0;
      p.graph.pool(p.in({256, 64, 112, 112}), p.out(small), index, {mode, {3, 3}, {before, before}, {after, after}, {2, 2}});
    };
  };
  rows.push_back({"max pool with index", pool(CUDNN_RESAMPLE_MAXPOOL, 1, 1), kRuntime, kRuntime});
  rows.push_back({"max pool with index, unequal padding", pool(CUDNN_RESAMPLE_MAXPOOL, 0, 1), kRuntime, kRuntime});
  rows.push_back({"average pool", pool(CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, 1, 1), kRuntime, kRuntime});
  return rows;
}

// [1, tokens, in] x [1, in, out], row-major.
struct Product {
  explicit Product(Pattern& pattern) : p(pattern) {}
  TensorId tensor(Pattern::Type type, std::vector<int64_t> d, Role role) {
    std::vector<int64_t> strides = row_major_strides(d);
    return p.graph.tensor({type, std::move(d), std::move(strides), role});
  }
  TensorId big_in() { return tensor(p.type(), dims, Role::kInput); }
  TensorId big_out() { return tensor(p.type(), dims, Role::kOutput); }
  TensorId step() { return tensor(kF32, dims, Role::kVirtual); }
  TensorId product(TensorId to) {
    p.graph.matmul(tensor(p.type(), {1, 32768, 768}, Role::kInput), tensor(p.type(), {1, 768, 3072}, Role::kInput), to);
    return to;
  }
  TensorId biased(TensorId to) {
    p.graph.pointwise(CUDNN_POINTWISE_ADD, product(step()), tensor(p.type(), {1, 1, 3072}, Role::kInput), to);
    return to;
  }
  Pattern& p;
  const std::vector<int64_t> dims = {1, 32768, 3072};
};

std::vector<Row> products() {
  std::vector<Row> rows;
  rows.push_back({"matmul + bias + gelu, input of gelu kept",
                  [](Pattern& p) {
                    Product m(p);
                    p.graph.pointwise(CUDNN_POINTWISE_GELU_FWD, m.biased(m.big_out()), 0, m.big_out());
                  },
                  kRuntime, kRuntime});
  rows.push_back({"matmul + dgelu + bias gradient",
                  [](Pattern& p) {
                    Product m(p);
                    const TensorId dx = m.big_out();
                    p.graph.pointwise_backward(CUDNN_POINTWISE_GELU_BWD, m.product(m.step()), m.big_in(), dx);
                    p.graph.reduce(CUDNN_REDUCE_TENSOR_ADD, dx, m.tensor(kF32, {1, 1, 3072}, Role::kOutput));
                  },
                  kRuntime, kRuntime});
  rows.push_back({"matmul + bias + residual",
                  [](Pattern& p) {
                    Product m(p);
                    p.graph.pointwise(CUDNN_POINTWISE_ADD, m.biased(m.step()), m.big_in(), m.big_out());
                  },
                  kRuntime, kRuntime});
  return rows;
}

const char* support_text(Support s) { return s == kNo ? "no" : s == kPrecompiled ? "precompiled" : "runtime"; }

// Builds the graph and prints cuDNN's outcome. Several threads do so at a time, as at the start of a training run.
void check(const Row& row, cudnnDataType_t type, const CudnnDevice& device, const std::string& device_name) {
  Pattern p(type);
  row.describe(p);
  const auto begin = std::chrono::steady_clock::now();
  const PlanOutcome out = build_plan(p.graph, device, {.workspace = int64_t{1} << 30});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::string found = support_text(!out.supported() ? kNo : out.engine->runtime_compiled ? kRuntime : kPrecompiled);
  const std::string expected = support_text(type == CUDNN_DATA_HALF ? row.fp16 : row.bf16), type_name = type == CUDNN_DATA_HALF ? "fp16" : "bf16";
  const std::string why = out.supported() ? out.engine->str() : out.why_none;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::printf("%-50s %s %s %5.2f s: %s, %s\n", row.name.c_str(), device_name.c_str(), type_name.c_str(), seconds, found.c_str(), why.c_str());
  EXPECT_EQ(found, expected) << row.name << ", " << type_name << ", " << device_name << ": " << why << "\n" << p.graph.key();
  if (!out.supported()) return;
  EXPECT_LE(static_cast<double>(out.engine->workspace), row.megabytes * 1e6) << row.name;
  EXPECT_TRUE(out.engine->deterministic) << row.name;
}

// One per kind of device.
class CudnnSupport : public testing::TestWithParam<const char*> {
 protected:
  void check(const std::vector<Row>& rows) {
    const std::string name = GetParam();
    const CudnnDevice device = CudnnDevice::described(device_json(name == "H100" ? h100_facts() : h200_facts()));
    struct Job {
      const Row* row;
      cudnnDataType_t type;
    };
    std::vector<Job> jobs;
    for (const Row& row : rows)
      for (const cudnnDataType_t type : {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16})
        if (name == "H100" || test_all() || (type == CUDNN_DATA_HALF ? row.fp16 : row.bf16) != kRuntime) jobs.push_back({&row, type});
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads(std::min<size_t>(4, std::max(1U, std::thread::hardware_concurrency())));
    for (std::thread& t : threads)
      t = std::thread([&] {
        for (size_t i = next++; i < jobs.size(); i = next++) sindri::cuda::check(*jobs[i].row, jobs[i].type, device, name);
      });
    for (std::thread& t : threads) t.join();
  }
};
INSTANTIATE_TEST_SUITE_P(, CudnnSupport, testing::Values("H100", "H200"), [](const auto& device) { return std::string(device.param); });

TEST_P(CudnnSupport, Convolutions) { check(convolutions()); }
TEST_P(CudnnSupport, FusedForward) { check(fused_forward()); }
TEST_P(CudnnSupport, FusedBackward) { check(fused_backward()); }
TEST_P(CudnnSupport, Norms) { check(norms()); }
TEST_P(CudnnSupport, PointwiseAndPooling) { check(others()); }
TEST_P(CudnnSupport, Products) { check(products()); }

}  // namespace

}  // namespace sindri::cuda
