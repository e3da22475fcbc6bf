// Registers kernels of this backend and defines their arguments. Needs no device compiler: *_cuda.cc files that call
// libraries include it as well.
#pragma once

#include <string>

#include "sindri/op/kernel.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

/// One call of a kernel: the query it was chosen for, its operands and results (device addresses), and its stream.
struct Call {
  const KernelQuery& query;
  Span<const Buffer> in, out;
  void* workspace;  ///< KernelSpec::workspace bytes, 256-byte aligned, contents undefined
  CudaStream& stream;
  template <class T> const T* input(size_t i) const { return static_cast<const T*>(in[i].data); }
  template <class T> T* output(size_t i) const { return static_cast<T*>(out[i].data); }
};

/// A kernel of the CUDA backend without a plan. `run` enqueues work on call.stream and returns; it must not read device memory or wait.
struct KernelSpec {
  const char* op;
  const char* name = "cuda";
  int priority = 0;
  void (*run)(const Call&) = nullptr;
  std::string (*reject)(const KernelQuery&) = nullptr;  ///< as KernelDef::reject
  int64_t (*workspace)(const KernelQuery&) = nullptr;  ///< bytes; null: none
  KernelCost (*cost)(const KernelQuery&) = nullptr;  ///< as Kernel::cost
};
/// Registers a kernel at load time: `const bool kAdd = register_cuda_kernel({.op = "add", .run = run_add});`. Kernels with a plan
/// (library descriptors) register a KernelDef with .device = Device::kCuda themselves and get the stream by cuda_stream(ctx).
bool register_cuda_kernel(const KernelSpec& spec);
/// Returns the stream that a Kernel's ExecContext names.
inline CudaStream& cuda_stream(const ExecContext& ctx) { return *static_cast<CudaStream*>(ctx.stream); }

inline constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Sets the number of multiprocessors that are left to NCCL by grids whose blocks wait for each other. It is 0 until a
/// collective between several ranks requests some. NCCL's blocks wait for those of other ranks; if both kinds were only
/// partly resident on every GPU, none would ever finish.
void reserve_multiprocessors(int count);
int reserved_multiprocessors();

/// cudaMemsetAsync and cudaMemcpyAsync within the device, on the call's stream.
void fill_bytes(const Call& call, void* to, int byte, int64_t bytes);
void copy_bytes(const Call& call, void* to, const void* from, int64_t bytes);

}  // namespace sindri::cuda
