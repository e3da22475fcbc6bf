// What libsindri calls in libsindri_cuda.so after it has opened it (src/device/cuda_plugin.cc). Kernels have registered themselves by then, as they do in
// libsindri, before main or in dlopen.
#include "sindri/version.h"
#include "src/device/cuda/backend.h"

extern "C" __attribute__((visibility("default"))) const char* sindri_cuda_version() { return SINDRI_VERSION_STRING; }
extern "C" __attribute__((visibility("default"))) void sindri_cuda_register() { sindri::register_backend(sindri::Device::kCuda, sindri::cuda::make_backend()); }
