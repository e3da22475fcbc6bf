// Chains of operations that one operation can replace.
#pragma once

#include <memory>
#include <span>

#include "dataset/row.h"

namespace sindri::dataset {

struct FusePart {
  std::shared_ptr<const RowOp> op;
  uint32_t number;  // number in the tree: the fused operation draws what its parts would have drawn
};
struct Fused {
  std::shared_ptr<const RowOp> op;  // null: nothing to gain
  size_t length = 0;  // number of parts that it replaces, from the first
  uint32_t number = 0;  // the operation whose random draws it uses
};
/// The longest prefix of `parts` that a fused operation replaces with bitwise identical results.
Fused fuse_ops(std::span<const FusePart> parts);

}  // namespace sindri::dataset
