// Kernels generated as text at run time: compiled by NVRTC for the device and cached on disk.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::cuda {

/// A file that generated sources include.
struct GeneratedHeader {
  const char* name;
  const char* text;
};
/// Defined by the build (cmake/cuda.cmake).
const std::vector<GeneratedHeader>& generated_headers();

/// Returns whether kernels may be generated: the value given to set_code_generation, else the one in library_limits() (SINDRI_CUDA_CODEGEN).
bool code_generation();
/// For stand-ins and tests.
void set_code_generation(bool on);

/// A kernel compiled from a generated source, or the reason why there is none.
struct GeneratedFunction {
  cudaKernel_t kernel = nullptr;  ///< null: `why` says why there is none
  std::string why;
};
/// Returns the kernel `name` of the source `text`. Compiles it for the device unless this process or the cache folder
/// (generated/HASH.cubin) has it. A source that NVRTC rejects is reported once and not tried again; a missing NVRTC is
/// also reported once. May be called from any thread; kernels live as long as the process.
const GeneratedFunction& generated_function(const std::string& text, const char* name, int device);
/// Number of sources that this process has passed to NVRTC.
int64_t generated_compilations();

struct NvrtcApi;
/// Returns the cubin of a source for compute capability `capability` (90), or an empty string with the reason in `why`.
std::string compile_generated(const NvrtcApi& api, const std::string& text, int capability, std::string* why);

}  // namespace sindri::cuda
