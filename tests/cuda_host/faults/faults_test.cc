// Each deliberate fault of faulty_kernels.cc is caught: by a message, by a wrong result, or by the page after an allocation, which ends the process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "cuda_host/faults/faulty_kernels.h"
#include "cuda_host/fibers.h"
#include "cuda_host/runtime.h"
#include "sindri/core/error.h"

namespace sindri::cuda_host::faulty {
namespace {

constexpr int kRows = 5, kColumns = 203;
float value_at(int i) { return static_cast<float>(i * (i % 5) % 11); }

// The row sums that the stand-in machine computes, or an empty vector if it reports an error.
std::vector<float> run(const Case& c, uint64_t seed) {
  machine().set_guards(true);
  set_seed(seed);
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0), cudaSuccess);
  void *x = nullptr, *y = nullptr, *pinned = nullptr;
  constexpr size_t kBytes = sizeof(float) * kRows * kColumns;
  EXPECT_EQ(cudaMalloc(&x, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&y, sizeof(float) * kRows), cudaSuccess);
  EXPECT_EQ(cudaHostAlloc(&pinned, kBytes, 0), cudaSuccess);
  auto* const values = static_cast<float*>(pinned);
  for (int i = 0; i < kRows * kColumns; ++i) values[i] = value_at(i);
  EXPECT_EQ(cudaMemcpyAsync(x, pinned, kBytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(c.run(stream, static_cast<const float*>(x), static_cast<float*>(y), kRows, kColumns), cudaSuccess);
  const cudaError_t done = cudaStreamSynchronize(stream);
  std::vector<float> out;
  if (done == cudaSuccess) {
    EXPECT_EQ(cudaMemcpyAsync(pinned, y, sizeof(float) * kRows, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    out.assign(values, values + kRows);
  }
  EXPECT_EQ(cudaFree(x), cudaSuccess);
  EXPECT_EQ(cudaFree(y), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  return out;
}

bool right(const std::vector<float>& sums) {
  if (sums.size() != kRows) return false;
  for (int r = 0; r < kRows; ++r) {
    float expected = 0;
    for (int c = 0; c < kColumns; ++c) expected += 2 * value_at(r * kColumns + c);
    if (sums[static_cast<size_t>(r)] != expected) return false;
  }
  return true;
}

const Case& case_named(const std::string& name) {
  for (const Case& c : cases())
    if (c.name == name) return c;
  throw std::runtime_error("no such case");
}

TEST(Faults, TheKernelWithoutAFaultIsRightInEveryOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_TRUE(right(run(case_named(""), seed))) << "seed " << seed;
}

TEST(Faults, EachIsCaught) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  int caught = 0;
  for (const Case& c : cases()) {
    if (c.name.empty()) continue;
    SCOPED_TRACE(c.name);
    // A child process, since some faults end it. It exits with 3 for wrong results and 4 for a message.
    const auto child = [&] {
      const std::vector<float> sums = run(c, 1);
      std::exit(sums.empty() ? 4 : right(sums) ? 0 : 3);
    };
    if (!c.says.empty()) EXPECT_EXIT(child(), ::testing::ExitedWithCode(4), ::testing::HasSubstr(c.says));
    else if (c.name == "a tail that is too long" || c.name == "a row too many")
      EXPECT_DEATH(child(), "work on a device touched memory outside of its allocations: " + c.name);
    else EXPECT_EXIT(child(), ::testing::ExitedWithCode(3), "");
    ++caught;
  }
  EXPECT_EQ(caught, 17);
}

// Blocks write, wait for the grid, and read the others' values.
std::string run_cooperatively(bool cooperative, unsigned missing, std::vector<int>* sums) {
  std::array<std::atomic<int>, 3> written{};
  sums->assign(3, 0);
  const auto body = [&] {
    const unsigned block = here().block.x;
    for (int round = 1; round <= 2; ++round) {
      if (here().thread.x == 0) written[block] = round * static_cast<int>(block + 1);
      if (block == missing && round == 2) return;
      grid_barrier();
      if (here().thread.x == 0) (*sums)[block] += written[0] + written[1] + written[2];
      grid_barrier();
    }
  };
  try {
    run_grid("cooperative", {dim3(3), dim3(64), 0, cooperative}, body, 7);
  } catch (const DeviceError& e) { return e.what(); }
  return "";
}

TEST(Faults, BlocksOfAGridWaitForEachOther) {
  std::vector<int> sums;
  EXPECT_EQ(run_cooperatively(true, 9, &sums), "");
  EXPECT_THAT(sums, ::testing::ElementsAre(18, 18, 18));
  EXPECT_THAT(run_cooperatively(true, 1, &sums), ::testing::HasSubstr("waits for its grid, of which a block has ended"));
  EXPECT_THAT(run_cooperatively(false, 9, &sums), ::testing::HasSubstr("not launched as a cooperative one"));
}

}  // namespace
}  // namespace sindri::cuda_host::faulty
