// The functions of the driver that are used (libcuda.so.1), named without "cu". Devices, memory and streams use the CUDA runtime.
#pragma once

#include <cuda.h>

#include "src/device/cuda/library_table.h"

#define SINDRI_DRIVER_FUNCTIONS(X) \
  X(DriverGetVersion) \
  X(GetErrorString) \
  X(ModuleLoadData) \
  X(ModuleGetFunction) \
  X(ModuleUnload) \
  X(LaunchKernel)

namespace sindri::cuda {

struct DriverApi {
#define X(name) decltype(&::cu##name) name = nullptr;
  SINDRI_DRIVER_FUNCTIONS(X)
#undef X
};

/// Opens the library at first use. Throws DeviceError (libraries.h, require).
const DriverApi& driver_api();

}  // namespace sindri::cuda
