// A library under the soname of one of NVIDIA's, with the version that the build sets (STAND_IN_VERSION). It has every function that is looked up, none of
// which does anything. STAND_IN_BROKEN: it has only the function that returns the version.
#include <cstddef>

#define FUNCTION(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 1; }

#if defined(STAND_IN_nvrtc)
extern "C" __attribute__((visibility("default"))) int nvrtcVersion(int* major, int* minor) {
  *major = STAND_IN_VERSION / 1000;
  *minor = STAND_IN_VERSION % 1000 / 10;
  return 0;
}
#if !defined(STAND_IN_BROKEN)
FUNCTION(nvrtcGetErrorString)
FUNCTION(nvrtcCreateProgram)
FUNCTION(nvrtcDestroyProgram)
FUNCTION(nvrtcCompileProgram)
FUNCTION(nvrtcGetProgramLogSize)
FUNCTION(nvrtcGetProgramLog)
FUNCTION(nvrtcGetCUBINSize)
FUNCTION(nvrtcGetCUBIN)
#endif
#elif defined(STAND_IN_cuda)
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = STAND_IN_VERSION;
  return STAND_IN_VERSION == 0 ? 34 : 0;  // CUDA_ERROR_STUB_LIBRARY
}
FUNCTION(cuGetErrorString)
FUNCTION(cuModuleLoadData)
FUNCTION(cuModuleGetFunction)
FUNCTION(cuModuleUnload)
FUNCTION(cuLaunchKernel)
#elif defined(STAND_IN_cudnn)
extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() { return STAND_IN_VERSION; }
#elif defined(STAND_IN_nccl)
extern "C" __attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  *version = STAND_IN_VERSION;
  return 0;
}
#else
#error "define STAND_IN_nvrtc, _cuda, _cudnn or _nccl"
#endif
