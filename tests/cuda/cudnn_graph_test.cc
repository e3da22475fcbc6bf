// The wrapper of cuDNN's graphs: keys, engines and their filters, rebuilt plans, errors. Needs no GPU: graphs are built for device descriptions.
#include "src/device/cuda/cudnn_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "src/device/cuda/described_device.h"
#include "tests/cuda/patterns.h"

namespace sindri::cuda {

namespace {

const CudnnDevice& h100() {
  static const CudnnDevice device = CudnnDevice::described(device_json(h100_facts()));
  return device;
}

CudnnGraph conv_graph(cudnnDataType_t type, const Layer& l = kInner3x3) {
  Pattern p(type);
  p.graph.conv(p.x(l), p.w(l), p.out(Pattern::y_dims(l)), l.geometry());
  return p.graph;
}

// z = relu(conv(x) + bias + constant)
CudnnGraph fused_graph(double constant) {
  Pattern p(CUDNN_DATA_HALF);
  const std::vector<int64_t> dims = Pattern::y_dims(kInner3x3);
  const TensorId y = p.between(dims);
  p.graph.conv(p.x(kInner3x3), p.w(kInner3x3), y, kInner3x3.geometry());
  const TensorId biased = p.op(CUDNN_POINTWISE_ADD, y, p.channel_in(CUDNN_DATA_FLOAT, 64), dims);
  p.graph.pointwise(CUDNN_POINTWISE_RELU_FWD, p.op(CUDNN_POINTWISE_ADD, biased, p.graph.scalar(constant), dims), 0, p.out(dims));
  return p.graph;
}

TEST(CudnnGraph, StridesComeFromShapes) {
  EXPECT_EQ(channels_last_strides(std::vector<int64_t>{8, 3, 5, 7}), (std::vector<int64_t>{105, 1, 21, 3}));
  EXPECT_EQ(channels_last_strides(std::vector<int64_t>{8, 1, 1, 7}), (std::vector<int64_t>{7, 1, 7, 1}));
  EXPECT_EQ(row_major_strides(std::vector<int64_t>{2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
}

TEST(CudnnGraph, KeysTellGraphsApartAndNothingElse) {
  const std::string key = conv_graph(CUDNN_DATA_HALF).key();
  EXPECT_EQ(key,
            "conv[704=1,703=2,705=3 700:3f800000 701:0 100:0 101:1 106:2 105:1,1 104:1,1 103:1,1 102:1,1] 1=f16:256x64x56x56/200704,1,3584,64@16in "
            "2=f16:64x64x3x3/576,1,192,64@16in 3=f16:256x64x56x56/200704,1,3584,64@16out");
  // The order in which tensors are added does not matter.
  Pattern other(CUDNN_DATA_HALF);
  const TensorId y = other.out(Pattern::y_dims(kInner3x3)), w = other.w(kInner3x3);
  other.graph.conv(other.x(kInner3x3), w, y, kInner3x3.geometry());
  EXPECT_EQ(other.graph.key(), key);
  EXPECT_NE(conv_graph(CUDNN_DATA_BFLOAT16).key(), key);
  Layer l = kInner3x3;
  l.n = 128;
  EXPECT_NE(conv_graph(CUDNN_DATA_HALF, l).key(), key);
  EXPECT_NE(fused_graph(1).key(), fused_graph(2).key());
  CudnnGraph aligned;
  const auto tensor = [&](Role role) {
    return aligned.tensor({CUDNN_DATA_HALF, {256, 64, 56, 56}, channels_last_strides(std::vector<int64_t>{256, 64, 56, 56}), role, 4});
  };
  const TensorId x = tensor(Role::kInput), filter = aligned.channels_last(CUDNN_DATA_HALF, {64, 64, 3, 3}, Role::kInput);
  aligned.conv(x, filter, tensor(Role::kOutput), kInner3x3.geometry());
  EXPECT_NE(aligned.key(), key);
}

TEST(CudnnGraph, ArgumentsAreWhatHasAnAddress) { EXPECT_EQ(fused_graph(1).arguments().size(), 4U); }  // x, w, bias, z

TEST(CudnnEngines, FiltersLeaveOutWhatIsNotAllowed) {
  const CudnnGraph conv = conv_graph(CUDNN_DATA_HALF);
  const std::vector<Engine> all = engines(conv, h100(), {.workspace = int64_t{1} << 40, .only_deterministic = false});
  ASSERT_FALSE(all.empty());
  const auto has = [&](const std::vector<Engine>& list, auto which) { return std::any_of(list.begin(), list.end(), which); };
  const auto big = [](const Engine& e) { return e.workspace > 1000; };
  const auto compiled = [](const Engine& e) { return e.runtime_compiled; };
  const auto random = [](const Engine& e) { return !e.deterministic; };
  EXPECT_TRUE(has(all, big) && has(all, compiled));
  EXPECT_FALSE(has(engines(conv, h100(), {.workspace = 1000}), big));
  EXPECT_FALSE(has(engines(conv, h100(), {.runtime_compilation = false}), compiled));
  Pattern p(CUDNN_DATA_FLOAT);
  const Layer& l = kInner3x3;
  p.graph.conv_wgrad(p.x(l), p.dy(l), p.out({l.k, l.c, l.r, l.r}), l.geometry());
  EXPECT_TRUE(has(engines(p.graph, h100(), {.only_deterministic = false, .allow_tf32 = true}), random)) << "no such engine to exclude";
  EXPECT_FALSE(has(engines(p.graph, h100(), {.allow_tf32 = true}), random));
  std::string why;
  EXPECT_TRUE(engines(fused_graph(1), h100(), {.runtime_compilation = false}, &why).empty());
  EXPECT_NE(why.find("it is compiled at run time, which is disabled"), std::string::npos) << why;
}

TEST(CudnnEngines, FloatIsNotRoundedUnlessAllowed) {
  const CudnnGraph conv = conv_graph(CUDNN_DATA_FLOAT);
  const PlanOutcome exact = build_plan(conv, h100()), rounded = build_plan(conv, h100(), {.allow_tf32 = true});
  ASSERT_TRUE(exact.plan != nullptr) << exact.why_none;
  ASSERT_TRUE(rounded.plan != nullptr) << rounded.why_none;
  EXPECT_FALSE(exact.engine->tensor_cores) << exact.engine->str();
  EXPECT_TRUE(rounded.engine->tensor_cores) << rounded.engine->str();
}

TEST(CudnnPlans, ARememberedEngineIsBuiltAgain) {
  const CudnnGraph conv = conv_graph(CUDNN_DATA_BFLOAT16);
  const PlanOutcome first = build_plan(conv, h100());
  ASSERT_TRUE(first.plan != nullptr) << first.why_none;
  ASSERT_FALSE(first.engine->knobs.empty());
  const PlanOutcome again = rebuild_plan(conv, h100(), *first.engine);
  ASSERT_TRUE(again.plan != nullptr) << again.why_none;
  EXPECT_EQ(again.plan->engine().str(), first.plan->engine().str());
  Engine unknown = *first.engine;
  unknown.id = 9999;
  const PlanOutcome none = rebuild_plan(conv, h100(), unknown);
  EXPECT_FALSE(none.supported());
  EXPECT_NE(none.why_none.find("9999"), std::string::npos) << none.why_none;
}

TEST(CudnnPlans, ARefusalNamesTheRule) {
  Pattern p(CUDNN_DATA_BFLOAT16);
  const Layer& l = kInner3x3;
  Layer wrong = l;
  wrong.k = 32;
  p.graph.conv(p.x(l), p.w(l), p.out(Pattern::y_dims(wrong)), l.geometry());  // the result has only half of the channels
  const PlanOutcome out = build_plan(p.graph, h100());
  EXPECT_FALSE(out.supported());
  EXPECT_NE(out.why_none.find("CUDNN_STATUS_BAD_PARAM"), std::string::npos) << out.why_none;
}

TEST(CudnnPlans, OnlyDescribedDevicesAreThere) {
  EXPECT_TRUE(h100().is_described());
  try {
    CudnnDevice::described("{\"deviceVer\": 900}");
    FAIL() << "a description without sizes was accepted";
  } catch (const DeviceError& e) { EXPECT_NE(e.message().find("cuDNN rejects the description of a device"), std::string::npos) << e.what(); }
  EXPECT_THROW(cudnn_type(DType::kBool), DTypeError);
  EXPECT_THROW(CudnnHandle(nullptr), DeviceError);  // the driver is a stub
}

TEST(CudnnPlans, RunTakesOneAddressForEachArgument) {
  // With constants of two types, which the plan supplies.
  Pattern p(CUDNN_DATA_HALF);
  const auto in = [&] { return p.channel_in(CUDNN_DATA_FLOAT, 64); };
  p.graph.bn_finalize({.sum = in(),
                       .square_sum = in(),
                       .scale = in(),
                       .bias = in(),
                       .epsilon = p.graph.scalar(1e-5),
                       .count = p.graph.scalar(64, CUDNN_DATA_INT64),
                       .mean = p.channel_out(64),
                       .inverse_deviation = p.channel_out(64),
                       .eq_scale = p.channel_out(64),
                       .eq_bias = p.channel_out(64),
                       .factor = p.graph.scalar(0.1),
                       .running_mean = in(),
                       .running_variance = in(),
                       .new_running_mean = p.channel_out(64),
                       .new_running_variance = p.channel_out(64)});
  ASSERT_EQ(p.graph.arguments().size(), 12U);
  const PlanOutcome out = build_plan(p.graph, h100());
  ASSERT_TRUE(out.plan != nullptr) << out.why_none;
  std::vector<void*> addresses;
  for (uintptr_t i = 1; i <= 12; ++i) addresses.push_back(reinterpret_cast<void*>(i << 20));
  EXPECT_THROW(out.plan->run(nullptr, std::span(addresses).first(11), nullptr), InternalError);
  // cuDNN accepts addresses and constants, and refuses the null handle. Run twice with the same addresses and once with others.
  for (int i = 0; i < 3; ++i) {
    if (i == 2) addresses[0] = reinterpret_cast<void*>(uintptr_t{13} << 20);
    try {
      out.plan->run(nullptr, addresses, nullptr);
      FAIL() << "ran without a device";
    } catch (const DeviceError& e) {
      EXPECT_NE(e.message().find("cuDNN cannot run engine 0, workspace 0 bytes: CUDNN_STATUS_BAD_PARAM"), std::string::npos) << e.what();
    }
  }
}

}  // namespace

}  // namespace sindri::cuda
