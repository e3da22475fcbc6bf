// Tensors over memory that something else owns: NumPy arrays, DLPack.
#pragma once
#include <memory>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri {

/// A tensor over `data` (meta.nbytes() bytes in meta's layout), which lives as long as `owner`. Nothing is copied: whoever writes to the
/// memory changes the tensor, so it must not be written to while a compiled function holds the tensor as a constant. Throws ValueError
/// for null data of a tensor that is not empty.
SINDRI_API Tensor wrap_memory(const TensorMeta& meta, void* data, std::shared_ptr<void> owner);

}  // namespace sindri
