// The stand-in for cuDNN (cudnn.cc) refuses what cuDNN 9.19 refuses. The op suite shows that it computes what graphs state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "src/device/cuda/cudnn_graph.h"
#include "src/device/cuda/libraries.h"

namespace sindri::cuda {
namespace {

using ::testing::HasSubstr;

// y [2, 8, 6, 6] = x [2, 8, 6, 6] * w [8, 8, 3, 3]; each test changes one attribute.
struct Layer {
  cudnnDataType_t x = CUDNN_DATA_HALF, w = CUDNN_DATA_HALF, y = CUDNN_DATA_HALF, compute = CUDNN_DATA_FLOAT, between = CUDNN_DATA_FLOAT;
  int64_t rows = 6;  // of y
  bool channels_last = true;
};
CudnnGraph plain(const Layer& l) {
  CudnnGraph g(l.compute);
  const std::vector<int64_t> dims = {2, 8, 6, 6};
  const TensorId x = l.channels_last ? g.channels_last(l.x, dims, Role::kInput) : g.tensor({l.x, dims, row_major_strides(dims), Role::kInput});
  const TensorId w = g.channels_last(l.w, {8, 8, 3, 3}, Role::kInput), y = g.channels_last(l.y, {2, 8, l.rows, 6}, Role::kOutput);
  g.conv(x, w, y, {{1, 1}, {1, 1}, {1, 1}, {1, 1}});
  return g;
}
CudnnGraph with_relu(const Layer& l) {
  CudnnGraph g(l.compute);
  const TensorId x = g.channels_last(l.x, {2, 8, 6, 6}, Role::kInput), w = g.channels_last(l.w, {8, 8, 3, 3}, Role::kInput);
  const TensorId y = g.channels_last(l.y, {2, 8, 6, 6}, Role::kOutput), sum = g.between(y, l.between);
  g.conv(x, w, sum, {{1, 1}, {1, 1}, {1, 1}, {1, 1}});
  g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, 0, y);
  return g;
}
CudnnGraph weight_grad(cudnnDataType_t result) {
  CudnnGraph g;
  const TensorId x = g.channels_last(CUDNN_DATA_HALF, {2, 8, 6, 6}, Role::kInput), dy = g.channels_last(CUDNN_DATA_HALF, {2, 8, 6, 6}, Role::kInput);
  g.conv_wgrad(x, dy, g.channels_last(result, {8, 8, 3, 3}, Role::kOutput), {{1, 1}, {1, 1}, {1, 1}, {1, 1}});
  return g;
}

std::string why_not(const CudnnGraph& g) {
  const PlanOutcome outcome = build_plan(g, CudnnDevice::present(0));
  return outcome.plan != nullptr ? "" : outcome.why_none;
}

TEST(CudnnStandIn, TakesWhatFits) {
  EXPECT_EQ(library_state(Library::kCudnn).path, "stand-in of the host run");
  EXPECT_EQ(why_not(plain({})), "");
  EXPECT_EQ(why_not(with_relu({})), "");
  EXPECT_EQ(why_not(weight_grad(CUDNN_DATA_HALF)), "");
}
TEST(CudnnStandIn, GraphsWithoutEngine) {
  EXPECT_THAT(why_not(plain({.compute = CUDNN_DATA_HALF})), HasSubstr("does not accumulate in float"));
  EXPECT_THAT(why_not(plain({.w = CUDNN_DATA_BFLOAT16})), HasSubstr("types of the operands"));
  EXPECT_THAT(why_not(plain({.channels_last = false})), HasSubstr("not packed channels-last"));
  EXPECT_THAT(why_not(plain({.rows = 5})), HasSubstr("sizes do not fit"));
  EXPECT_THAT(why_not(with_relu({.between = CUDNN_DATA_HALF})), HasSubstr("is not float"));
  EXPECT_THAT(why_not(weight_grad(CUDNN_DATA_FLOAT)), HasSubstr("another type than the operands")) << "16-bit operands, float result";
}

// Runs a plan with the addresses that a test provides.
class CudnnStandInRun : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory_), 1 << 16), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, 0), cudaSuccess);
    addresses_ = {memory_, memory_ + 4096, memory_ + 8192};
  }
  void TearDown() override {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
  }
  std::string run() {
    const CudnnHandle handle(stream_);
    const PlanOutcome outcome = build_plan(plain({}), CudnnDevice::present(0));
    if (before_) before_();
    try {
      outcome.plan->run(handle.get(), addresses_, nullptr);
    } catch (const std::exception& e) { return e.what(); }
    return "";
  }
  char* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<void*> addresses_;
  std::function<void()> before_;
};

TEST_F(CudnnStandInRun, TakesWhatFits) { EXPECT_EQ(run(), ""); }
TEST_F(CudnnStandInRun, AddressThatIsNotAligned) {
  addresses_[1] = memory_ + 4098;
  EXPECT_THAT(run(), HasSubstr("not aligned as its tensor says"));
}
TEST_F(CudnnStandInRun, NoAddress) {
  addresses_[0] = nullptr;
  EXPECT_THAT(run(), HasSubstr("has no address"));
}
TEST_F(CudnnStandInRun, HandleOfAnotherDevice) {
  before_ = [] { ASSERT_EQ(cudaSetDevice(1), cudaSuccess); };
  EXPECT_THAT(run(), HasSubstr("belongs to another device"));
}

}  // namespace
}  // namespace sindri::cuda
