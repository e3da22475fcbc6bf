// Tensors over memory owned by something else: NumPy arrays, DLPack.
#pragma once
#include <memory>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri {

/// Returns a tensor over `data` (meta.nbytes() bytes in meta's layout) and keeps `owner` alive with it. Nothing is copied, so
/// writing to the memory changes the tensor. Do not write to it while a compiled function holds the tensor as a constant. Throws
/// ValueError if `data` is null and the tensor is not empty.
SINDRI_API Tensor wrap_memory(const TensorMeta& meta, void* data, std::shared_ptr<void> owner);

}  // namespace sindri
