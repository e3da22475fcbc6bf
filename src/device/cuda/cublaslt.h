// Matrix products by cuBLASLt: makes descriptors and chooses an algorithm (choice.h) once for each shape, then runs on
// any stream of the device.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/dtype.h"
#include "src/core/once.h"

namespace sindri::cuda {

/// C[i] = op(A[i]) op(B[i]) for i < batch, for row-major matrices: A is stored [m, k] ([k, m] if transposed), B [k, n]
/// ([n, k]), C [m, n], all of one type. Sums are float for half types and float32 (no TF32), double for float64.
struct MatrixProduct {
  DType dtype = DType::kFloat32;
  int64_t m = 0, n = 0, k = 0;  ///< at least 1
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements from one matrix to the next; 0: the same matrix for all
};

class CublasLtPlan {
 public:
  static constexpr int64_t kMostWorkspace = int64_t{32} << 20;  ///< bytes, or SINDRI_WORKSPACE_LIMIT if that is less

  /// Returns null, with the reason in `why`, if cuBLASLt is missing or has no algorithm.
  static std::unique_ptr<CublasLtPlan> make(const MatrixProduct& product, int device, std::string* why);
  ~CublasLtPlan();
  CublasLtPlan(const CublasLtPlan&) = delete;
  CublasLtPlan& operator=(const CublasLtPlan&) = delete;

  int64_t workspace_bytes() const { return static_cast<int64_t>(aligned_.workspaceSize); }
  /// Takes device addresses: matrices aligned to their elements (16 bytes are fastest), workspace to 16. Throws
  /// DeviceError that names `op`. May be called from any thread.
  void run(const char* op, cudaStream_t stream, const void* a, const void* b, void* c, void* workspace) const;

 private:
  class Algorithm;
  class ProductProblem;
  CublasLtPlan(const MatrixProduct& product, int device);
  cublasStatus_t heuristics(int64_t alignment, int64_t workspace, int most, std::vector<cublasLtMatmulHeuristicResult_t>* out) const;
  cublasStatus_t multiply(const cublasLtMatmulHeuristicResult_t& choice, cudaStream_t stream, const void* a, const void* b, void* c, void* workspace) const;

  MatrixProduct product_;
  int device_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, result_ = nullptr;
  cublasLtMatmulHeuristicResult_t aligned_{};
  // For addresses that are not aligned to 16 bytes, chosen at the first such call.
  mutable Once once_;
  mutable cublasLtMatmulHeuristicResult_t unaligned_{};
  mutable cublasStatus_t unaligned_status_ = CUBLAS_STATUS_SUCCESS;
};

}  // namespace sindri::cuda
