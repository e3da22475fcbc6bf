// The stand-in for cuBLASLt (cublaslt.cc) refuses what the real library refuses. The op suite shows that it computes what descriptors state.
#include <gtest/gtest.h>

#include <string>

#include "src/device/cuda/cublaslt.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/libraries.h"

namespace sindri::cuda {
namespace {

// A product [4, 8] x [8, 4], column by column, which each test breaks in one place.
class CublasLtStandIn : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(api_.Create(&handle_), CUBLAS_STATUS_SUCCESS);
    describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    a_ = layout(CUDA_R_32F, 4, 8, 4);
    b_ = layout(CUDA_R_32F, 8, 4, 8);
    c_ = layout(CUDA_R_32F, 4, 4, 4);
    ASSERT_EQ(api_.MatmulPreferenceCreate(&preference_), CUBLAS_STATUS_SUCCESS);
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{1} << 20);
    for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                             CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      prefer(which, uint32_t{16});
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory_), 1 << 16), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, 0), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
  }
  void describe(cublasComputeType_t compute, cudaDataType_t scale) { ASSERT_EQ(api_.MatmulDescCreate(&desc_, compute, scale), CUBLAS_STATUS_SUCCESS); }
  cublasLtMatrixLayout_t layout(cudaDataType_t type, uint64_t rows, uint64_t cols, int64_t ld) {
    cublasLtMatrixLayout_t made = nullptr;
    EXPECT_EQ(api_.MatrixLayoutCreate(&made, type, rows, cols, ld), CUBLAS_STATUS_SUCCESS);
    return made;
  }
  template <class T> void prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    ASSERT_EQ(api_.MatmulPreferenceSetAttribute(preference_, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  template <class T> void set(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t attribute, T value) {
    ASSERT_EQ(api_.MatrixLayoutSetAttribute(to, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t ask() {
    int found = 0;
    return api_.MatmulAlgoGetHeuristic(handle_, desc_, a_, b_, c_, c_, preference_, 1, &choice_, &found);
  }
  // With addresses `a_off` bytes into the first matrix, and `workspace` bytes.
  cublasStatus_t multiply(int64_t a_off, size_t workspace) {
    const float one = 1, zero = 0;
    return api_.Matmul(handle_, desc_, &one, memory_ + a_off, a_, memory_ + 1024, b_, &zero, memory_ + 2048, c_, memory_ + 2048, c_, &choice_.algo,
                       memory_ + 4096, workspace, stream_);
  }

  const CublasLtApi& api_ = cublaslt_api();
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
  char* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CublasLtStandIn, TakesWhatFits) {
  EXPECT_EQ(library_state(Library::kCublasLt).path, "stand-in of the host run");
  ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(0, choice_.workspaceSize), CUBLAS_STATUS_SUCCESS);
}
TEST_F(CublasLtStandIn, AddressThatIsNotAligned) {
  ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(4, choice_.workspaceSize), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, TooLittleWorkspace) {
  ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
  ASSERT_GT(choice_.workspaceSize, 0u);
  EXPECT_EQ(multiply(0, choice_.workspaceSize - 1), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, InnerSizesThatDiffer) {
  b_ = layout(CUDA_R_32F, 7, 4, 7);
  EXPECT_EQ(ask(), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, ColumnsThatOverlap) {
  a_ = layout(CUDA_R_32F, 4, 8, 3);
  EXPECT_EQ(ask(), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, BatchOfOneOperandOnly) {
  set(a_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2});
  EXPECT_EQ(ask(), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, ResultsThatLieInEachOther) {
  for (const auto l : {a_, b_, c_}) set(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2});
  EXPECT_EQ(ask(), CUBLAS_STATUS_INVALID_VALUE) << "a stride of 0 between results";
}
TEST_F(CublasLtStandIn, TypesThatDoNotGoTogether) {
  a_ = layout(CUDA_R_16F, 4, 8, 4);
  EXPECT_EQ(ask(), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(CublasLtStandIn, ScaleOfAnotherType) {
  describe(CUBLAS_COMPUTE_32F, CUDA_R_64F);
  EXPECT_EQ(ask(), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(CublasLtStandIn, AlgorithmOfAnotherProduct) {
  ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  ASSERT_EQ(api_.MatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed), CUBLAS_STATUS_SUCCESS);
  a_ = layout(CUDA_R_32F, 8, 4, 8);
  EXPECT_EQ(multiply(0, choice_.workspaceSize), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, DescriptorThatWasDestroyed) {
  ASSERT_EQ(api_.MatmulDescDestroy(desc_), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(ask(), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(CublasLtStandIn, AttributeOfAnotherSize) {
  const int64_t wide = 1;
  EXPECT_EQ(api_.MatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSA, &wide, sizeof wide), CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace sindri::cuda
