// The entry points of libsindri_cuda.so that libsindri calls after it has opened it (src/device/cuda_plugin.cc).
// Kernels have registered themselves by then, as in libsindri, before main or in dlopen.
#include "sindri/version.h"
#include "src/device/cuda/backend.h"
#include "src/device/cuda_plugin.h"

// The version mark, which libsindri reads from the file if the plugin does not load. sindri_cuda_fits prevents a plugin of another version from loading.
extern "C" {
extern __attribute__((visibility("default"))) const char sindri_cuda_mark[];
extern __attribute__((visibility("default"))) const char* const sindri_cuda_fits;
__attribute__((used)) const char sindri_cuda_mark[] = SINDRI_CUDA_MARK SINDRI_VERSION_STRING;
__attribute__((used)) const char* const sindri_cuda_fits = &SINDRI_CUDA_FITS;
}
extern "C" __attribute__((visibility("default"))) const char* sindri_cuda_version() { return SINDRI_VERSION_STRING; }
extern "C" __attribute__((visibility("default"))) void sindri_cuda_register() { sindri::register_backend(sindri::Device::kCuda, sindri::cuda::make_backend()); }
