// The CUDA backend computes every op.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::test {
namespace {

TEST(CudaKernels, EveryOpHasOne) {
  if (kernels_of("add", Device::kCuda).empty()) GTEST_SKIP() << "built without the CUDA toolkit's headers";
  std::vector<std::string> missing;
  for (const OpDef* op : all_ops())
    if (kernels_of(op->name, Device::kCuda).empty()) missing.emplace_back(op->name);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

}  // namespace
}  // namespace sindri::test
