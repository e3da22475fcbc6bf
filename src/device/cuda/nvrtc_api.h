// The functions of NVRTC that are used (libnvrtc.so.13), named without "nvrtc".
#pragma once

#include <nvrtc.h>

#include "src/device/cuda/library_table.h"

#define SINDRI_NVRTC_FUNCTIONS(X) \
  X(Version) \
  X(GetErrorString) \
  X(CreateProgram) \
  X(DestroyProgram) \
  X(CompileProgram) \
  X(GetProgramLogSize) \
  X(GetProgramLog) \
  X(GetCUBINSize) \
  X(GetCUBIN)

namespace sindri::cuda {

struct NvrtcApi {
#define X(name) decltype(&::nvrtc##name) name = nullptr;
  SINDRI_NVRTC_FUNCTIONS(X)
#undef X
};

/// Opens the library at first use. Throws DeviceError (libraries.h, require).
const NvrtcApi& nvrtc_api();

}  // namespace sindri::cuda
