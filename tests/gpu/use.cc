// With SINDRI_TEST_DEVICE=cuda, gpu_ops_tests runs everything on the machine's first GPU.
#include <cstdint>

#include "src/device/cuda/backend.h"

extern "C" void sindri_use_cuda(uint64_t) { sindri::register_backend(sindri::Device::kCuda, sindri::cuda::make_backend()); }
