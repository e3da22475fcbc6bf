// The functions of cuDNN that are used (libcudnn.so.9), named without "cudnn": handles and the graph interface.
// cudnn_graph.h wraps them.
#pragma once

#include <cudnn_graph.h>

#include "src/device/cuda/library_table.h"

#define SINDRI_CUDNN_FUNCTIONS(X) \
  X(GetVersion) \
  X(GetErrorString) \
  X(GetLastErrorString) \
  X(Create) \
  X(Destroy) \
  X(SetStream) \
  X(BackendCreateDescriptor) \
  X(BackendDestroyDescriptor) \
  X(BackendSetAttribute) \
  X(BackendGetAttribute) \
  X(BackendFinalize) \
  X(BackendExecute)

namespace sindri::cuda {

struct CudnnApi {
#define X(name) decltype(&::cudnn##name) name = nullptr;
  SINDRI_CUDNN_FUNCTIONS(X)
#undef X
};

/// Opens the library at first use, after the driver, NVRTC and cuBLASLt: cuDNN opens these by name and must find the
/// same files. Throws DeviceError (libraries.h, require).
const CudnnApi& cudnn_api();

}  // namespace sindri::cuda
