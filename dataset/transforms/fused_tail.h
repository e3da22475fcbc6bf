// Chains of operations that one operation can do at once.
#pragma once

#include <memory>
#include <span>

#include "dataset/row.h"

namespace sindri::dataset {

struct FusePart {
  std::shared_ptr<const RowOp> op;
  uint32_t number;  // in the tree: the fused operation draws what its parts would have drawn
};
struct Fused {
  std::shared_ptr<const RowOp> op;  // null: nothing to gain
  size_t length = 0;  // parts it stands for, from the first
  uint32_t number = 0;  // whose draws it takes, where it takes its own
};
/// The longest prefix of `parts` that a fused operation replaces with the same bits.
Fused fuse_ops(std::span<const FusePart> parts);

}  // namespace sindri::dataset
