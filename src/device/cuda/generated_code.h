// Kernels whose text is made at run time: compiled by NVRTC for the device, kept on disk.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::cuda {

/// A file that generated texts include.
struct GeneratedHeader {
  const char* name;
  const char* text;
};
/// Made by the build (cmake/cuda.cmake).
const std::vector<GeneratedHeader>& generated_headers();

/// Whether kernels may be generated: as library_limits() says (SINDRI_CUDA_CODEGEN), unless set_code_generation was called.
bool code_generation();
/// For stand-ins and tests.
void set_code_generation(bool on);

/// A kernel made of a text, or why there is none.
struct GeneratedFunction {
  cudaKernel_t kernel = nullptr;  ///< null: `why` says why there is none
  std::string why;
};
/// The kernel `name` of `text`, compiled for the device unless this process or the cache folder (generated/HASH.cubin) has it. A text that NVRTC refuses is
/// reported once and not tried again; so is a missing NVRTC. Any thread; kernels live as long as the process.
const GeneratedFunction& generated_function(const std::string& text, const char* name, int device);
/// How many texts this process has given to NVRTC.
int64_t generated_compilations();

struct NvrtcApi;
/// The cubin of a text for compute capability `capability` (90), or empty and why.
std::string compile_generated(const NvrtcApi& api, const std::string& text, int capability, std::string* why);

}  // namespace sindri::cuda
