// See cublaslt.h. cuBLASLt's matrices are column-major, so it is given C^T = op(B)^T op(A)^T: each row-major matrix is a column-major one of its transpose as
// it lies, and B comes first.
#include "src/device/cuda/cublaslt.h"

#include <fmt/format.h>

#include <array>

#include "sindri/core/error.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/libraries.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

namespace {

constexpr int64_t kAlignment = 16;
constexpr const char* kFix = "run `sindri doctor` to see whether driver and libraries fit each other";

void check(cublasStatus_t status, const char* op, const char* doing, int device) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string where = Device{Device::kCuda, device}.str();
  throw DeviceError(ErrorCode::kDeviceFailed, fmt::format("{}: {}: {}", op, doing, cublaslt_api().GetStatusString(status)), where, kFix);
}

// A handle serves all threads of a device.
cublasLtHandle_t handle_of(int device) {
  struct Slot {
    Once once;
    cublasLtHandle_t handle = nullptr;
  };
  constexpr int kMostDevices = 64;
  static auto* const slots = new std::array<Slot, kMostDevices>;  // kernels may run while the process ends
  Slot& slot = slots->at(static_cast<size_t>(device));
  slot.once.call([&] {
    const NotCaptured outside;
    const OnDevice on(device);
    check(cublaslt_api().Create(&slot.handle), "cuBLASLt", "making a handle", device);
  });
  return slot.handle;
}

cudaDataType_t type_of(DType t) {
  switch (t) {
    case DType::kFloat16: return CUDA_R_16F;
    case DType::kBFloat16: return CUDA_R_16BF;
    case DType::kFloat32: return CUDA_R_32F;
    default: return CUDA_R_64F;
  }
}

bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kAlignment == 0; }

}  // namespace

CublasLtPlan::CublasLtPlan(const MatrixProduct& p, int device) : product_(p), device_(device), handle_(handle_of(device)) {
  const CublasLtApi& api = cublaslt_api();
  const bool is_double = p.dtype == DType::kFloat64;
  const auto must = [&](cublasStatus_t status) { check(status, "cuBLASLt", "describing a product", device); };
  must(api.MatmulDescCreate(&desc_, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, is_double ? CUDA_R_64F : CUDA_R_32F));
  const cublasOperation_t first = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, second = p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  must(api.MatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
  must(api.MatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second));
  const auto layout = [&](cublasLtMatrixLayout_t* to, int64_t rows, int64_t cols, int64_t stride) {
    must(api.MatrixLayoutCreate(to, type_of(p.dtype), static_cast<uint64_t>(cols), static_cast<uint64_t>(rows), cols));
    if (p.batch == 1) return;
    const auto count = static_cast<int32_t>(p.batch);
    must(api.MatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    must(api.MatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  };
  layout(&left_, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.stride_b);
  layout(&right_, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.stride_a);
  layout(&result_, p.m, p.n, p.stride_c);
}

CublasLtPlan::~CublasLtPlan() {
  const CublasLtApi& api = cublaslt_api();
  for (const cublasLtMatrixLayout_t l : {left_, right_, result_})
    if (l != nullptr) (void)api.MatrixLayoutDestroy(l);
  if (desc_ != nullptr) (void)api.MatmulDescDestroy(desc_);
}

// The library's first choice. Sums that are split are added up in the order of the parts and in the sum's type: equal bits in every run, and no rounding to half
// types in between.
cublasStatus_t CublasLtPlan::choose(int64_t alignment, int64_t workspace, cublasLtMatmulHeuristicResult_t* out) const {
  const CublasLtApi& api = cublaslt_api();
  cublasLtMatmulPreference_t preference = nullptr;
  check(api.MatmulPreferenceCreate(&preference), "cuBLASLt", "stating a preference", device_);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(api.MatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value), "cuBLASLt", "stating a preference", device_);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(which, static_cast<uint32_t>(alignment));
  int found = 0;
  const NotCaptured outside;
  const OnDevice on(device_);
  cublasStatus_t status = api.MatmulAlgoGetHeuristic(handle_, desc_, left_, right_, result_, result_, preference, 1, out, &found);
  (void)api.MatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_SUCCESS && found == 0) status = CUBLAS_STATUS_NOT_SUPPORTED;
  return status != CUBLAS_STATUS_SUCCESS ? status : out->state;
}

std::unique_ptr<CublasLtPlan> CublasLtPlan::make(const MatrixProduct& product, int device, std::string* why) {
  if (const LibraryState& library = library_state(Library::kCublasLt); !library.usable()) {
    *why = library.error;
    return nullptr;
  }
  std::unique_ptr<CublasLtPlan> plan(new CublasLtPlan(product, device));
  const cublasStatus_t status = plan->choose(kAlignment, kMostWorkspace, &plan->aligned_);
  if (status == CUBLAS_STATUS_SUCCESS) return plan;
  *why = fmt::format("cuBLASLt has no algorithm for it ({})", cublaslt_api().GetStatusString(status));
  return nullptr;
}

void CublasLtPlan::run(const char* op, cudaStream_t stream, const void* a, const void* b, void* c, void* workspace) const {
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(c);
  if (!aligned) {
    once_.call([&] { unaligned_status_ = choose(static_cast<int64_t>(dtype_size(product_.dtype)), workspace_bytes(), &unaligned_); });
    check(unaligned_status_, op, "choosing an algorithm for addresses that 16 does not divide", device_);
  }
  const cublasLtMatmulHeuristicResult_t& choice = aligned ? aligned_ : unaligned_;
  const double one = 1, zero = 0;
  const float one_f = 1, zero_f = 0;
  const bool is_double = product_.dtype == DType::kFloat64;
  const void *alpha = is_double ? static_cast<const void*>(&one) : &one_f, *beta = is_double ? static_cast<const void*>(&zero) : &zero_f;
  const OnDevice on(device_);
  check(cublaslt_api().Matmul(handle_, desc_, alpha, b, left_, a, right_, beta, c, result_, c, result_, &choice.algo, workspace, choice.workspaceSize, stream),
        op, "cublasLtMatmul", device_);
}

}  // namespace sindri::cuda
