// The best throughput of this GPU, measured in the same run as everything else: device copies of 1 GiB (bytes read and written) and products of two 8192 x 8192
// bfloat16 matrices. Their values are random, because power, and so clocks, depend on the values. Prints one JSON object.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <random>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/error.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/stream.h"

namespace {

using namespace sindri;
using namespace sindri::cuda;

constexpr Device kDevice{Device::kCuda, 0};
void must(cudaError_t e, const char* doing) { check(e, doing, kDevice); }
void must(cublasStatus_t s, const char* doing) {
  if (s != CUBLAS_STATUS_SUCCESS) throw DeviceError(fmt::format("{}: {}", doing, cublaslt_api().GetStatusString(s)));
}

// Milliseconds of one run: the median of 11 windows of `each` runs, after 3 warm-up windows.
double median_ms(cudaStream_t stream, int each, const std::function<void()>& run) {
  cudaEvent_t begin = nullptr, end = nullptr;
  must(cudaEventCreate(&begin), "making an event");
  must(cudaEventCreate(&end), "making an event");
  std::vector<float> times;
  for (int window = -3; window < 11; ++window) {
    must(cudaEventRecord(begin, stream), "recording an event");
    for (int i = 0; i < each; ++i) run();
    must(cudaEventRecord(end, stream), "recording an event");
    must(cudaEventSynchronize(end), "waiting");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end), "reading a time");
    if (window >= 0) times.push_back(ms / static_cast<float>(each));
  }
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  return times[5];
}

double copy_rate(cudaStream_t stream) {
  constexpr size_t kBytes = size_t{1} << 30;
  void *from = nullptr, *to = nullptr;
  must(cudaMalloc(&from, kBytes), "allocating 1 GiB");
  must(cudaMalloc(&to, kBytes), "allocating 1 GiB");
  must(cudaMemsetAsync(from, 0x5a, kBytes, stream), "filling");
  const double ms = median_ms(stream, 5, [&] { must(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream), "copying"); });
  must(cudaFree(from), "freeing");
  must(cudaFree(to), "freeing");
  return 2 * static_cast<double>(kBytes) / ms / 1e9;  // TB/s
}

double matmul_rate(cudaStream_t stream) {
  constexpr int64_t kN = 8192;
  const CublasLtApi& lt = cublaslt_api();
  std::vector<uint16_t> values(static_cast<size_t>(kN * kN));
  std::minstd_rand random(1);
  for (uint16_t& v : values) v = bfloat16(static_cast<float>(random()) / 1073741824.0f - 1.0f).bits;
  const size_t bytes = values.size() * sizeof(uint16_t);
  void *a = nullptr, *b = nullptr, *c = nullptr, *workspace = nullptr;
  constexpr size_t kWorkspace = size_t{32} << 20;
  for (void** p : {&a, &b, &c}) must(cudaMalloc(p, bytes), "allocating a matrix");
  must(cudaMalloc(&workspace, kWorkspace), "allocating a workspace");
  for (void* p : {a, b}) must(cudaMemcpy(p, values.data(), bytes, cudaMemcpyHostToDevice), "copying a matrix");
  cublasLtHandle_t handle = nullptr;
  must(lt.Create(&handle), "cublasLtCreate");
  cublasLtMatmulDesc_t desc = nullptr;
  must(lt.MatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  cublasLtMatrixLayout_t layout = nullptr;
  must(lt.MatrixLayoutCreate(&layout, CUDA_R_16BF, kN, kN, kN), "cublasLtMatrixLayoutCreate");
  cublasLtMatmulPreference_t preference = nullptr;
  must(lt.MatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  must(lt.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace), "the workspace's size");
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  must(lt.MatmulAlgoGetHeuristic(handle, desc, layout, layout, layout, layout, preference, 1, &found, &count), "choosing an algorithm");
  if (count == 0) throw DeviceError("cuBLASLt has no algorithm for 8192 x 8192 bfloat16");
  const float one = 1, zero = 0;
  const double ms = median_ms(stream, 4, [&] {
    must(lt.Matmul(handle, desc, &one, a, layout, b, layout, &zero, c, layout, c, layout, &found.algo, workspace, kWorkspace, stream), "a product");
  });
  for (void* p : {a, b, c, workspace}) must(cudaFree(p), "freeing");
  return 2.0 * kN * kN * kN / ms / 1e9;  // TFLOP/s
}

}  // namespace

int main() {
  try {
    must(cudaSetDevice(0), "choosing the device");
    cudaDeviceProp p{};
    must(cudaGetDeviceProperties(&p, 0), "asking for properties");
    int driver = 0, runtime = 0;
    must(cudaDriverGetVersion(&driver), "asking for the driver's version");
    must(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    cudaStream_t stream = nullptr;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    const double copy = copy_rate(stream), product = matmul_rate(stream);
    fmt::print(
        "{{\"gpu\": \"{}\", \"sms\": {}, \"memory_bytes\": {}, \"driver_cuda\": {}, \"runtime_cuda\": {}, \"copy_tb_s\": {:.3f}, \"matmul_bf16_tflops\": "
        "{:.1f}}}\n",
        p.name, p.multiProcessorCount, p.totalGlobalMem, driver, runtime, copy, product);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}
