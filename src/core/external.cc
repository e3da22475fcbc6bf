// Tensors over foreign memory.
#include "sindri/core/external.h"

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"

namespace sindri {

Tensor wrap_memory(const TensorMeta& meta, void* data, std::shared_ptr<void> owner) {
  if (data == nullptr && meta.numel() > 0) throw ValueError("no memory for " + meta.str(), "wrap_memory");
  return make_tensor(meta, std::make_shared<Storage>(data, meta.nbytes(), std::move(owner)));
}

}  // namespace sindri
