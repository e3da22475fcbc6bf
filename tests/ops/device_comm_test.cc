// Collective ops between ranks that are threads and share a device: the same results as on the CPU. Runs if SINDRI_TEST_DEVICE names a CUDA device (main.cc).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "sindri/comm/communicator.h"
#include "sindri/core/device.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/comm.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::device_comm_test {

using namespace sindri::test;
namespace {

// The result of each rank's f, on the host.
std::vector<TensorList> on_ranks(int ranks, Device device, const std::function<TensorList(int rank)>& f) {
  std::vector<TensorList> out(static_cast<size_t>(ranks));
  std::mutex mutex;
  comm::run_ranks(ranks, [&](int rank) {
    const DeviceScope scope(device);
    const TensorList made = to_host(f(rank));
    const std::lock_guard lock(mutex);
    out[static_cast<size_t>(rank)] = made;
  });
  return out;
}
TensorList drawn(int rank, const std::vector<Shape>& shapes, DType t) {
  Sample s{.op = "device_comm", .name = fmt::format("rank {}", rank)};
  for (const Shape& shape : shapes) s.args.push_back({.shape = shape});
  return make_inputs(s, t);
}
void expect_as_on_the_cpu(int ranks, const std::string& what, Tolerance tolerance, const std::function<TensorList(int rank)>& f) {
  const std::vector<TensorList> expected = on_ranks(ranks, Device{}, f), actual = on_ranks(ranks, current_device(), f);
  for (size_t r = 0; r < expected.size(); ++r) {
    ASSERT_EQ(actual[r].size(), expected[r].size());
    for (size_t i = 0; i < expected[r].size(); ++i) EXPECT_TRUE(close(actual[r][i], expected[r][i], tolerance)) << what << ", rank " << r << ", result " << i;
  }
}

class DeviceComm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (current_device().kind != Device::kCuda) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no CUDA device";
  }
};

TEST_F(DeviceComm, AdasumOfGroups) {
  const std::vector<Shape> shapes = {{7}, {0, 2}, {}, {301}, {20000}, {5, 3}};
  struct Case {
    int ranks;
    int64_t members;
    bool fold;
  };
  for (const DType t : {DType::kFloat64, DType::kFloat32})
    for (const Case& c : {Case{2, 1, false}, Case{4, 1, false}, Case{4, 2, false}, Case{6, 3, false}, Case{3, 1, true}, Case{6, 2, true}, Case{3, 3, false}})
      expect_as_on_the_cpu(c.ranks, fmt::format("{} ranks in groups of {}, {}", c.ranks, c.members, dtype_name(t)),
                           t == DType::kFloat64 ? Tolerance{1e-12, 1e-13} : Tolerance{1e-6, 1e-6},
                           [&](int rank) { return ops::adaptive_sum(drawn(rank / static_cast<int>(c.members), shapes, t), c.members, c.fold); });
}

TEST_F(DeviceComm, Collectives) {
  const std::vector<Shape> shapes = {{6, 5}, {}, {0, 2}, {20000}};
  for (const char* op : {"sum", "mean", "max"})
    expect_as_on_the_cpu(3, op, {1e-6, 1e-6}, [&](int rank) {
      return ops::all_reduce(drawn(rank, shapes, DType::kFloat32), {.op = op, .scale = std::string(op) == "max" ? 1 : 0.5});
    });
  for (const char* wire : {"bfloat16", "float16"})
    expect_as_on_the_cpu(3, wire, {0, 0}, [&](int rank) { return ops::all_reduce(drawn(rank, shapes, DType::kFloat32), {.op = "mean", .wire = wire}); });
  expect_as_on_the_cpu(3, "the others", {0, 0}, [](int rank) {
    const Tensor x = drawn(rank, {{6, 5}}, DType::kFloat32)[0];
    TensorList all = {ops::all_gather(x), ops::reduce_scatter(x, "max"), ops::all_to_all(x), ops::send_recv(x, (rank + 1) % 3, (rank + 2) % 3)};
    for (const Tensor& t : ops::broadcast({x, ops::all_gather(x)}, 1)) all.push_back(t);
    return all;
  });
}

// The rank's host learns which tensor is the first that is not finite; the device's ranks share one record here, so only one rank watches.
TEST_F(DeviceComm, AWatchedCallTellsWhichTensorIsNotFinite) {
  const Device device = current_device();
  (void)ops::take_nonfinite_operand();
  const auto call = [&](double value, int64_t index) {
    const Tensor a = Tensor::full({40000}, 1), b = Tensor::from_values({3}, {1, value, 2}, DType::kFloat32),
                 c = Tensor::from_values({1}, {value}, DType::kFloat32);
    (void)to_host(ops::all_reduce({a, b, c}, {.index = index, .watch = true}));
  };
  call(1, 4);
  EXPECT_FALSE(ops::take_nonfinite_operand().has_value());
  call(std::numeric_limits<double>::quiet_NaN(), 5);
  call(HUGE_VAL, 6);  // the first is kept
  const auto found = ops::take_nonfinite_operand();
  ASSERT_TRUE(found.has_value()) << device.str();
  EXPECT_EQ(found->index, 5);
  EXPECT_EQ(found->tensor, 1);
  EXPECT_EQ(found->tensors, 3);
  EXPECT_FALSE(ops::take_nonfinite_operand().has_value());
}

}  // namespace
}  // namespace sindri::device_comm_test
