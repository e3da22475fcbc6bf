// The functions of cuBLASLt that are used (libcublasLt.so.13), named without "cublasLt".
#pragma once

#include <cublasLt.h>

#include "src/device/cuda/library_table.h"

#define SINDRI_CUBLASLT_FUNCTIONS(X) \
  X(GetVersion) \
  X(GetStatusString) \
  X(Create) \
  X(Destroy) \
  X(MatmulDescCreate) \
  X(MatmulDescDestroy) \
  X(MatmulDescSetAttribute) \
  X(MatrixLayoutCreate) \
  X(MatrixLayoutDestroy) \
  X(MatrixLayoutSetAttribute) \
  X(MatmulPreferenceCreate) \
  X(MatmulPreferenceDestroy) \
  X(MatmulPreferenceSetAttribute) \
  X(MatmulAlgoGetHeuristic) \
  X(MatmulAlgoCheck) \
  X(Matmul)

namespace sindri::cuda {

struct CublasLtApi {
#define X(name) decltype(&::cublasLt##name) name = nullptr;
  SINDRI_CUBLASLT_FUNCTIONS(X)
#undef X
};

/// Opens the library at first use. Throws DeviceError (libraries.h, require).
const CublasLtApi& cublaslt_api();

}  // namespace sindri::cuda
