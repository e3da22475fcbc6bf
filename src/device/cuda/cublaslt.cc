// See cublaslt.h. cuBLASLt's matrices are column-major, so it computes C^T = op(B)^T op(A)^T: in memory a row-major
// matrix is the column-major form of its transpose, and B comes first.
#include "src/device/cuda/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "sindri/core/error.h"
#include "sindri/op/kernel_choice.h"
#include "src/device/cuda/choice.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/libraries.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

namespace {

constexpr int64_t kAlignment = 16;
constexpr const char* kFix = "run `sindri doctor` to check whether the driver and the libraries match";

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

// Returns the library's first choices. A sum that is split into parts is added in the order of the parts and in the
// sum's type. So results are bitwise reproducible, and intermediate results are not rounded to half types.
cublasStatus_t CublasLtPlan::heuristics(int64_t alignment, int64_t workspace, int most, std::vector<cublasLtMatmulHeuristicResult_t>* out) const {
  const CublasLtApi& api = cublaslt_api();
  cublasLtMatmulPreference_t preference = nullptr;
  check(api.MatmulPreferenceCreate(&preference), "cuBLASLt", "stating a preference", device_);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(api.MatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value), "cuBLASLt", "stating a preference", device_);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<uint32_t>(library_limits().deterministic ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                           : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_INPLACE));
  for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(which, static_cast<uint32_t>(alignment));
  int found = 0;
  out->resize(static_cast<size_t>(most));
  const NotCaptured outside;
  const OnDevice on(device_);
  cublasStatus_t status = api.MatmulAlgoGetHeuristic(handle_, desc_, left_, right_, result_, result_, preference, most, out->data(), &found);
  (void)api.MatmulPreferenceDestroy(preference);
  out->resize(static_cast<size_t>(status == CUBLAS_STATUS_SUCCESS ? found : 0));
  if (status == CUBLAS_STATUS_SUCCESS && !out->empty()) status = out->front().state;
  std::erase_if(*out, [](const cublasLtMatmulHeuristicResult_t& r) { return r.state != CUBLAS_STATUS_SUCCESS; });
  if (!out->empty()) return CUBLAS_STATUS_SUCCESS;
  return status != CUBLAS_STATUS_SUCCESS ? status : CUBLAS_STATUS_NOT_SUPPORTED;
}

class CublasLtPlan::Algorithm final : public Candidate {
 public:
  Algorithm(const CublasLtPlan& plan, const cublasLtMatmulHeuristicResult_t& r) : plan_(plan), result(r) {}
  // The library's own description, valid for its version: "algorithm 0000001b00000002 …".
  std::string choice() const override {
    std::string text = "algorithm";
    for (const uint64_t word : result.algo.data) text += fmt::format(" {:x}", word);
    return text;
  }
  static bool parse(const std::string& text, cublasLtMatmulAlgo_t* to) {
    constexpr std::string_view kName = "algorithm";
    if (!text.starts_with(kName)) return false;
    const char *at = text.data() + kName.size(), *const end = text.data() + text.size();
    for (uint64_t& word : to->data) {
      if (at == end || *at++ != ' ') return false;
      const auto [next, error] = std::from_chars(at, end, word, 16);
      if (error != std::errc()) return false;
      at = next;
    }
    return at == end;
  }
  int64_t workspace() const override { return static_cast<int64_t>(result.workspaceSize); }
  void run(CudaStream& stream, std::span<void* const> operands, void* space) const override {
    check(plan_.multiply(result, stream.handle(), operands[0], operands[1], operands[2], space), "cuBLASLt", "timing an algorithm", plan_.device_);
  }

 private:
  const CublasLtPlan& plan_;

 public:
  const cublasLtMatmulHeuristicResult_t result;
};

class CublasLtPlan::ProductProblem final : public Problem {
 public:
  explicit ProductProblem(const CublasLtPlan& plan) : plan_(plan), most_workspace_(std::min(kMostWorkspace, library_limits().workspace)) {}
  Library library() const override { return Library::kCublasLt; }
  std::string key() const override {
    const MatrixProduct& p = plan_.product_;
    return fmt::format("{} {}{} [{} {} {}] batch {} strides {} {} {}{}", dtype_name(p.dtype), p.transpose_a ? 't' : 'n', p.transpose_b ? 't' : 'n', p.m, p.n,
                       p.k, p.batch, p.stride_a, p.stride_b, p.stride_c, library_limits().deterministic ? "" : " in any order");
  }
  std::shared_ptr<const Candidate> remembered(const std::string& choice, std::string* why) override {
    cublasLtMatmulHeuristicResult_t r{};
    if (!Algorithm::parse(choice, &r.algo)) {
      *why = "it does not name an algorithm of cuBLASLt";
      return nullptr;
    }
    const NotCaptured outside;
    const OnDevice on(plan_.device_);
    const cublasLtMatmulAlgo_t algo = r.algo;
    cublasStatus_t status = cublaslt_api().MatmulAlgoCheck(plan_.handle_, plan_.desc_, plan_.left_, plan_.right_, plan_.result_, plan_.result_, &algo, &r);
    if (status == CUBLAS_STATUS_SUCCESS) status = r.state;
    r.algo = algo;
    if (status != CUBLAS_STATUS_SUCCESS) *why = cublaslt_api().GetStatusString(status);
    else if (static_cast<int64_t>(r.workspaceSize) > most_workspace_) *why = fmt::format("it needs {} bytes of workspace", r.workspaceSize);
    else return std::make_shared<Algorithm>(plan_, r);
    return nullptr;
  }
  std::vector<std::shared_ptr<const Candidate>> candidates(size_t most, bool, std::string* why_none) override {
    std::vector<cublasLtMatmulHeuristicResult_t> results;
    const cublasStatus_t status = plan_.heuristics(kAlignment, most_workspace_, static_cast<int>(most), &results);
    if (results.empty()) *why_none = fmt::format("cuBLASLt has no algorithm for it ({})", cublaslt_api().GetStatusString(status));
    std::vector<std::shared_ptr<const Candidate>> list;
    for (const cublasLtMatmulHeuristicResult_t& r : results) list.push_back(std::make_shared<Algorithm>(plan_, r));
    return list;
  }
  std::vector<TrialOperand> operands() const override {
    const MatrixProduct& p = plan_.product_;
    const auto matrix = [&](int64_t values, int64_t stride) {
      return TrialOperand{p.dtype, (values + (p.batch - 1) * stride) * static_cast<int64_t>(dtype_size(p.dtype))};
    };
    return {matrix(p.m * p.k, p.stride_a), matrix(p.k * p.n, p.stride_b), matrix(p.m * p.n, p.stride_c)};
  }

 private:
  const CublasLtPlan& plan_;
  const int64_t most_workspace_;
};

std::unique_ptr<CublasLtPlan> CublasLtPlan::make(const MatrixProduct& product, int device, std::string* why) {
  if (const LibraryState& library = library_state(Library::kCublasLt); !library.usable()) {
    *why = library.error;
    return nullptr;
  }
  std::unique_ptr<CublasLtPlan> plan(new CublasLtPlan(product, device));
  ProductProblem problem(*plan);
  const std::shared_ptr<const Candidate> chosen = sindri::cuda::choose(problem, device, why);
  if (chosen == nullptr) return nullptr;
  plan->aligned_ = static_cast<const Algorithm&>(*chosen).result;
  return plan;
}

cublasStatus_t CublasLtPlan::multiply(const cublasLtMatmulHeuristicResult_t& choice, cudaStream_t stream, const void* a, const void* b, void* c,
                                      void* workspace) const {
  const double one = 1, zero = 0;
  const float one_f = 1, zero_f = 0;
  const bool is_double = product_.dtype == DType::kFloat64;
  const void *alpha = is_double ? static_cast<const void*>(&one) : &one_f, *beta = is_double ? static_cast<const void*>(&zero) : &zero_f;
  const OnDevice on(device_);
  return cublaslt_api().Matmul(handle_, desc_, alpha, b, left_, a, right_, beta, c, result_, c, result_, &choice.algo, workspace, choice.workspaceSize, stream);
}

void CublasLtPlan::run(const char* op, cudaStream_t stream, const void* a, const void* b, void* c, void* workspace) const {
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(c);
  if (!aligned) {
    once_.call([&] {
      std::vector<cublasLtMatmulHeuristicResult_t> first;
      unaligned_status_ = heuristics(static_cast<int64_t>(dtype_size(product_.dtype)), workspace_bytes(), 1, &first);
      if (!first.empty()) unaligned_ = first[0];
    });
    check(unaligned_status_, op, "choosing an algorithm for addresses that are not aligned to 16 bytes", device_);
  }
  check(multiply(aligned ? aligned_ : unaligned_, stream, a, b, c, workspace), op, "cublasLtMatmul", device_);
}

}  // namespace sindri::cuda
