// Device state of a runtime: the current device, and the number of its threads' waits.
#include "sindri/core/runtime.h"

#include <gtest/gtest.h>

#include "sindri/device/device.h"
#include "tests/device/simulator.h"

namespace sindri::device_runtime_test {
namespace {

using sim::kDevice;
using sim::kSecond;

TEST(DeviceOfARuntime, IsItsOwn) {
  sim::Simulator::get();
  const Runtime a, b;
  {
    const RuntimeScope scope(a);
    set_current_device(kDevice);
  }
  {
    const RuntimeScope scope(b);
    EXPECT_TRUE(current_device().is_cpu());
    set_current_device(kSecond);
  }
  EXPECT_TRUE(current_device().is_cpu());
  const RuntimeScope scope(a);
  EXPECT_EQ(current_device(), kDevice);
  EXPECT_EQ(Tensor::zeros({2}).device(), kDevice);
}

TEST(DeviceOfARuntime, AScopeAroundTheRuntimesDoesNotReachIn) {
  sim::Simulator::get();
  const DeviceScope outer(kDevice);
  {
    const RuntimeScope scope((Runtime()));
    EXPECT_TRUE(current_device().is_cpu());
    const DeviceScope inner(kSecond);
    EXPECT_EQ(current_device(), kSecond);
  }
  EXPECT_EQ(current_device(), kDevice);
}

TEST(DeviceOfARuntime, WaitsAreCountedForIt) {
  sim::Simulator::get();
  const Tensor t = Tensor::scalar(3).to(kDevice);
  const int64_t before = host_waits();
  const RuntimeScope scope((Runtime()));
  EXPECT_EQ(host_waits(), 0);
  EXPECT_EQ(t.item(), 3);
  EXPECT_EQ(host_waits(), 1);
  const RuntimeScope process(Runtime::process());
  EXPECT_EQ(host_waits(), before);
}

}  // namespace
}  // namespace sindri::device_runtime_test
