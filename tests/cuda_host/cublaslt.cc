// cuBLASLt for machines without a GPU: the functions that src/device/cuda/cublaslt_api.h lists. A product is computed from its descriptors in float64, on the
// stream of the stand-in runtime. Refuses what the real library refuses: types that do not match, sizes and batches that do not match, an algorithm of another
// product or alignment, too little workspace. Implements only the part of the interface that the backend uses; the rest returns CUBLAS_STATUS_NOT_SUPPORTED:
// epilogues, orders other than by column, scalars on the device.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "cuda_host/runtime.h"
#include "sindri/core/dtype.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/libraries.h"

namespace {

using namespace sindri;

struct Desc {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  std::array<cublasOperation_t, 2> op = {CUBLAS_OP_N, CUBLAS_OP_N};
};
struct MatrixLayout {
  cudaDataType_t type;
  uint64_t rows, cols;
  int64_t ld;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::array<uint32_t, 4> alignment = {256, 256, 256, 256};  // of A, B, C, D
};
// The binding of an algorithm: the product it was requested for, and the guarantees given for it.
struct Algo {
  uint64_t number, product;
  std::array<uint32_t, 4> alignment;
  uint64_t workspace;
};
static_assert(sizeof(Algo) <= sizeof(cublasLtMatmulAlgo_t));

// Handles are the stand-in's own numbers, so that a destroyed or invented one is noticed.
std::mutex g_mutex;
std::set<const void*> g_alive;
template <class T, class H> cublasStatus_t make(H* to, const T& value) {
  auto* const made = new T(value);
  const std::lock_guard lock(g_mutex);
  g_alive.insert(made);
  *to = reinterpret_cast<H>(made);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T, class H> T* get(H handle) {
  const std::lock_guard lock(g_mutex);
  return g_alive.contains(handle) ? reinterpret_cast<T*>(const_cast<std::remove_const_t<std::remove_pointer_t<H>>*>(handle)) : nullptr;
}
template <class T, class H> cublasStatus_t destroy(H handle) {
  T* const t = get<T>(handle);
  if (t == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const std::lock_guard lock(g_mutex);
  g_alive.erase(handle);
  delete t;
  return CUBLAS_STATUS_SUCCESS;
}
template <class V> cublasStatus_t assign(V* to, const void* from, size_t bytes) {
  if (from == nullptr || bytes != sizeof *to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

struct Handle {
  int device;
};

size_t size_of(cudaDataType_t t) { return t == CUDA_R_64F ? 8 : t == CUDA_R_32F ? 4 : 2; }

double read(const void* p, cudaDataType_t t, int64_t i) {
  switch (t) {
    case CUDA_R_16F: return static_cast<float>(static_cast<const float16*>(p)[i]);
    case CUDA_R_16BF: return static_cast<float>(static_cast<const bfloat16*>(p)[i]);
    case CUDA_R_32F: return static_cast<const float*>(p)[i];
    default: return static_cast<const double*>(p)[i];
  }
}
void write(void* p, cudaDataType_t t, int64_t i, double v) {
  switch (t) {
    case CUDA_R_16F: static_cast<float16*>(p)[i] = float16(static_cast<float>(v)); break;
    case CUDA_R_16BF: static_cast<bfloat16*>(p)[i] = bfloat16(static_cast<float>(v)); break;
    case CUDA_R_32F: static_cast<float*>(p)[i] = static_cast<float>(v); break;
    default: static_cast<double*>(p)[i] = v;
  }
}

struct Problem {
  Desc desc;
  MatrixLayout a, b, c, d;
  uint64_t m() const { return d.rows; }
  uint64_t n() const { return d.cols; }
  uint64_t k() const { return desc.op[0] == CUBLAS_OP_N ? a.cols : a.rows; }

  cublasStatus_t check() const {
    for (const MatrixLayout* l : {&a, &b, &c, &d})
      if (l->rows == 0 || l->cols == 0 || l->ld < static_cast<int64_t>(l->rows) || l->batch < 1 || l->batch != d.batch) return CUBLAS_STATUS_INVALID_VALUE;
    const uint64_t a_rows = desc.op[0] == CUBLAS_OP_N ? a.rows : a.cols, b_rows = desc.op[1] == CUBLAS_OP_N ? b.rows : b.cols,
                   b_cols = desc.op[1] == CUBLAS_OP_N ? b.cols : b.rows;
    if (a_rows != m() || b_rows != k() || b_cols != n() || c.rows != d.rows || c.cols != d.cols) return CUBLAS_STATUS_INVALID_VALUE;
    // The table of types in the documentation of cublasLtMatmul.
    if (a.type != b.type || c.type != d.type) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool half = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
    if (desc.compute == CUBLAS_COMPUTE_64F)
      return desc.scale == CUDA_R_64F && a.type == CUDA_R_64F && d.type == CUDA_R_64F ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
    if (desc.compute != CUBLAS_COMPUTE_32F || desc.scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool fits = (a.type == CUDA_R_32F && d.type == CUDA_R_32F) || (half && (d.type == a.type || d.type == CUDA_R_32F));
    if (!fits) return CUBLAS_STATUS_NOT_SUPPORTED;
    // If matrices of D overlapped, two would write the same elements.
    const bool apart = d.batch == 1 || d.stride >= static_cast<int64_t>(d.cols - 1) * d.ld + static_cast<int64_t>(d.rows);
    return apart ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  }
  uint64_t fingerprint() const {
    uint64_t h = 14695981039346656037u;
    const auto add = [&](auto v) { h = (h ^ static_cast<uint64_t>(v)) * 1099511628211u; };
    add(desc.compute), add(desc.scale), add(desc.op[0]), add(desc.op[1]);
    for (const MatrixLayout* l : {&a, &b, &c, &d}) add(l->type), add(l->rows), add(l->cols), add(l->ld), add(l->batch), add(l->stride);
    return h;
  }
  // D = alpha op(A) op(B) + beta C, one column after another.
  void compute(double alpha, const void* pa, const void* pb, double beta, const void* pc, void* pd) const {
    const auto cols = [](const MatrixLayout& l, bool transposed, int64_t row, int64_t col) { return transposed ? col + row * l.ld : row + col * l.ld; };
    const bool ta = desc.op[0] != CUBLAS_OP_N, tb = desc.op[1] != CUBLAS_OP_N;
    const auto rows = static_cast<int64_t>(m()), columns = static_cast<int64_t>(n()), depth = static_cast<int64_t>(k());
    for (int64_t i = 0; i < d.batch; ++i)
      for (int64_t col = 0; col < columns; ++col)
        for (int64_t row = 0; row < rows; ++row) {
          double sum = 0;
          for (int64_t x = 0; x < depth; ++x)
            sum += read(pa, a.type, i * a.stride + cols(a, ta, row, x)) * read(pb, b.type, i * b.stride + cols(b, tb, x, col));
          const double before = beta != 0 ? beta * read(pc, c.type, i * c.stride + row + col * c.ld) : 0;
          write(pd, d.type, i * d.stride + row + col * d.ld, alpha * sum + before);
        }
  }
};

bool make_problem(cublasLtMatmulDesc_t desc, std::array<cublasLtMatrixLayout_t, 4> layouts, Problem* p) {
  const Desc* const d = get<Desc>(desc);
  std::array<const MatrixLayout*, 4> l{};
  for (size_t i = 0; i < 4; ++i) l[i] = get<MatrixLayout>(layouts[i]);
  if (d == nullptr || std::find(l.begin(), l.end(), nullptr) != l.end()) return false;
  *p = {*d, *l[0], *l[1], *l[2], *l[3]};
  return true;
}

bool divides(uint64_t n, const void* address) { return reinterpret_cast<uintptr_t>(address) % n == 0; }

constexpr int kAlgorithms = 3;
constexpr uint64_t kWorkspace = 4096;  // used by an algorithm if the caller allows it

void* find(const char* symbol) {
  static const std::map<std::string_view, void*> all = {
#define X(name) {"cublasLt" #name, reinterpret_cast<void*>(&::cublasLt##name)},
      SINDRI_CUBLASLT_FUNCTIONS(X)
#undef X
  };
  const auto at = all.find(symbol);
  return at == all.end() ? nullptr : at->second;
}
const bool kBrought = (cuda::load_library(cuda::Library::kCublasLt, "stand-in of the host run", find), true);

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    default: return "a status of the stand-in";
  }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  int device = 0;
  (void)cudaGetDevice(&device);
  return make(handle, Handle{device});
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy<Handle>(handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  return make(desc, Desc{compute, scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy<Desc>(desc); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void* value, size_t bytes) {
  Desc* const d = get<Desc>(desc);
  if (d == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return assign(&d->op[0], value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return assign(&d->op[1], value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  if (type != CUDA_R_16F && type != CUDA_R_16BF && type != CUDA_R_32F && type != CUDA_R_64F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return make(layout, MatrixLayout{type, rows, cols, ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy<MatrixLayout>(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value, size_t bytes) {
  MatrixLayout* const l = get<MatrixLayout>(layout);
  if (l == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return assign(&l->batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return assign(&l->stride, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) { return make(preference, Preference{}); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy<Preference>(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  Preference* const p = get<Preference>(preference);
  if (p == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return assign(&p->workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return assign(&p->reductions, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return assign(&p->alignment[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return assign(&p->alignment[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return assign(&p->alignment[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return assign(&p->alignment[3], value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  *found = 0;
  if (get<Handle>(handle) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Preference* const p = get<Preference>(preference);
  Problem problem{};
  if (p == nullptr || wanted < 1 || !make_problem(desc, {a, b, c, d}, &problem)) return CUBLAS_STATUS_INVALID_VALUE;
  if (const cublasStatus_t s = problem.check(); s != CUBLAS_STATUS_SUCCESS) return s;
  const std::array<const MatrixLayout*, 4> layouts = {&problem.a, &problem.b, &problem.c, &problem.d};
  for (size_t i = 0; i < 4; ++i)
    if (p->alignment[i] < size_of(layouts[i]->type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (; *found < std::min(wanted, kAlgorithms); ++*found) {
    const Algo algo{static_cast<uint64_t>(*found), problem.fingerprint(), p->alignment, p->workspace >= kWorkspace ? kWorkspace : 0};
    results[*found] = {};
    std::memcpy(&results[*found].algo, &algo, sizeof algo);
    results[*found].workspaceSize = algo.workspace;
    results[*found].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* chosen,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (get<Handle>(handle) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  Problem problem{};
  if (chosen == nullptr || !make_problem(desc, {a, b, c, d}, &problem)) return CUBLAS_STATUS_INVALID_VALUE;
  Algo algo{};
  std::memcpy(&algo, chosen, sizeof algo);
  if (algo.number >= kAlgorithms || algo.product != problem.fingerprint()) return CUBLAS_STATUS_INVALID_VALUE;
  result->workspaceSize = algo.workspace;
  result->state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* chosen, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  const Handle* const h = get<Handle>(handle);
  int device = 0;
  (void)cudaGetDevice(&device);
  if (h == nullptr || h->device != device) return CUBLAS_STATUS_NOT_INITIALIZED;
  Problem p{};
  if (alpha == nullptr || beta == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr || chosen == nullptr ||
      !make_problem(desc, {a_layout, b_layout, c_layout, d_layout}, &p))
    return CUBLAS_STATUS_INVALID_VALUE;
  Algo algo{};
  std::memcpy(&algo, chosen, sizeof algo);
  if (algo.product != p.fingerprint()) return CUBLAS_STATUS_INVALID_VALUE;
  const std::array<const void*, 4> addresses = {a, b, c, d};
  for (size_t i = 0; i < 4; ++i)
    if (!divides(algo.alignment[i], addresses[i])) return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace_bytes < algo.workspace || (algo.workspace > 0 && (workspace == nullptr || !divides(16, workspace)))) return CUBLAS_STATUS_INVALID_VALUE;
  const double factor = read(alpha, p.desc.scale, 0), kept = read(beta, p.desc.scale, 0);
  const auto work = [=] {
    const auto at = [](const void* address) { return cuda_host::machine().inside(address, "cublasLtMatmul"); };
    if (algo.workspace > 0) std::memset(at(workspace), 0xff, algo.workspace);  // results must not depend on the contents of the workspace
    cuda_host::delay_library(static_cast<int64_t>(algo.number));
    p.compute(factor, at(a), at(b), kept, at(c), at(d));
  };
  return cuda_host::run_library(stream, "cublasLtMatmul", work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
