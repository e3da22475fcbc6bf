// Wrong calls of the CUDA runtime, each of which the stand-in refuses as CUDA does, and the effect of correct ones.
#include <gtest/gtest.h>

#include <thread>

#include "cuda_host/fibers.h"
#include "cuda_host/runtime.h"
#include "sindri/core/error.h"

namespace sindri::cuda_host {
namespace {

class Runtime : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    for (cudaStream_t* s : {&one_, &two_}) ASSERT_EQ(cudaStreamCreateWithPriority(s, cudaStreamNonBlocking, 0), cudaSuccess);
    for (cudaEvent_t* e : {&fork_, &join_}) ASSERT_EQ(cudaEventCreateWithFlags(e, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory_, 256), cudaSuccess);
    ASSERT_EQ(cudaHostAlloc(&pinned_, 256, 0), cudaSuccess);
  }
  void TearDown() override {
    (void)cudaGetLastError();
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
    for (cudaEvent_t e : {fork_, join_}) EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
    for (cudaStream_t s : {one_, two_}) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
  }
  cudaError_t write(cudaStream_t s, int value) { return cudaMemsetAsync(memory_, value, 4, s); }
  int value() {
    EXPECT_EQ(cudaMemcpyAsync(pinned_, memory_, 4, cudaMemcpyDeviceToHost, one_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(one_), cudaSuccess);
    return *static_cast<unsigned char*>(pinned_);
  }
  cudaStream_t one_ = nullptr, two_ = nullptr;
  cudaEvent_t fork_ = nullptr, join_ = nullptr;
  void *memory_ = nullptr, *pinned_ = nullptr;
};

TEST_F(Runtime, AGraphRunsWhatWasCapturedOnBothStreams) {
  ASSERT_EQ(write(one_, 1), cudaSuccess);
  ASSERT_EQ(value(), 1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(write(one_, 2), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork_, one_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(two_, fork_, 0), cudaSuccess);
  EXPECT_EQ(write(two_, 3), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(join_, two_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(one_, join_, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(one_, &graph), cudaSuccess);
  EXPECT_EQ(value(), 1) << "captured work does not run";
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, one_), cudaSuccess);
  EXPECT_EQ(value(), 3);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Runtime, AStreamThatDoesNotJoinBreaksACapture) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork_, one_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(two_, fork_, 0), cudaSuccess);
  EXPECT_EQ(write(two_, 3), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(one_, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Runtime, CallsThatWaitOrAllocateBreakACapture) {
  cudaGraph_t graph = nullptr;
  void* p = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(one_, &graph), cudaErrorStreamCaptureInvalidated);
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(one_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(one_, &graph), cudaErrorStreamCaptureInvalidated);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 16), cudaSuccess) << "allowed in the relaxed mode";
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(one_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST_F(Runtime, AnEventFromOutsideBreaksACapture) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaEventRecord(fork_, two_), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(one_, fork_, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(cudaStreamEndCapture(one_, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Runtime, ACapturedEventCannotBeAskedFor) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(one_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork_, one_), cudaSuccess);
  std::thread([&] { EXPECT_EQ(cudaEventQuery(fork_), cudaErrorCapturedEvent); }).join();
  ASSERT_EQ(cudaStreamEndCapture(one_, &graph), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(fork_), cudaErrorCapturedEvent) << "no replay reaches it";
  EXPECT_EQ(cudaEventSynchronize(fork_), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventRecord(fork_, one_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(fork_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Runtime, WorkBelongsToTheStreamsDevice) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(launch(one_, "empty", {dim3(1), dim3(1), 0}, [] {}), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(fork_, one_), cudaSuccess) << "the event and the stream are on one device";
  cudaEvent_t other = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&other, 0), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(other, one_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(other), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
}

TEST_F(Runtime, GridsThatNoDeviceTakesAreRefused) {
  EXPECT_EQ(launch(one_, "empty", {dim3(0), dim3(32), 0}, [] {}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(one_, "large", {dim3(1), dim3(1025), 0}, [] {}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(one_, "high", {dim3(1, 65536), dim3(32), 0}, [] {}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(one_, "much", {dim3(1), dim3(32), 228 * 1024}, [] {}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(one_, "wide", {dim3(kCoresidentBlocks + 1), dim3(32), 0, true}, [] {}), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Runtime, CopiesTakePinnedMemory) {
  float pageable[4] = {};
  EXPECT_NE(cudaMemcpyAsync(memory_, pageable, sizeof pageable, cudaMemcpyHostToDevice, one_), cudaSuccess);
}

TEST_F(Runtime, AKernelIsNotGivenMemoryOfTheHost) {
  float host = 0;
  EXPECT_THROW((void)translated(&host), DeviceError);
  struct Inside {
    const void* p;
    int64_t n;
  };
  const Inside there = translated(Inside{memory_, 3});
  EXPECT_TRUE(machine().is_shadow(there.p)) << "pointers in structs are translated";
  EXPECT_EQ(there.n, 3);
  // A host pointer that a kernel reads from memory and dereferences.
  ASSERT_EQ(launch(one_, "host pointer", {dim3(1), dim3(1), 0}, [p = &host] { *static_cast<float*>(inside(p)) = 1; }), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(one_), cudaErrorLaunchFailure);
  EXPECT_EQ(host, 0);
}

TEST_F(Runtime, ALostDeviceFailsEveryCall) {
  machine().lose(0, 1);
  EXPECT_EQ(write(one_, 1), cudaSuccess) << "the call itself does not wait";
  EXPECT_EQ(cudaStreamSynchronize(one_), cudaErrorECCUncorrectable);
  EXPECT_EQ(write(one_, 1), cudaErrorECCUncorrectable);
  machine().repair();
  EXPECT_EQ(write(one_, 1), cudaSuccess);
  EXPECT_EQ(value(), 1);
}

}  // namespace
}  // namespace sindri::cuda_host
