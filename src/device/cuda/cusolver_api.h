// The functions of cuSOLVER that are used (libcusolver.so.12), named without "cusolver": Cholesky factors and inverses
// of damped curvature blocks.
#pragma once

#include <cusolverDn.h>

#include "src/device/cuda/library_table.h"

#define SINDRI_CUSOLVER_FUNCTIONS(X) \
  X(GetProperty) \
  X(DnCreate) \
  X(DnDestroy) \
  X(DnSetStream) \
  X(DnSpotrf_bufferSize) \
  X(DnSpotrf) \
  X(DnSpotri_bufferSize) \
  X(DnSpotri)

namespace sindri::cuda {

struct CusolverApi {
#define X(name) decltype(&::cusolver##name) name = nullptr;
  SINDRI_CUSOLVER_FUNCTIONS(X)
#undef X
};

/// Opens the library at first use. Throws DeviceError (libraries.h, require).
const CusolverApi& cusolver_api();

}  // namespace sindri::cuda
