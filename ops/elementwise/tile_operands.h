// Access to the operands of an elementwise kernel in the physical order of its output, in flat tiles. An operand stored in the
// same order is read in place. A broadcast one is copied into a tile-sized buffer first, so that one loop per op serves all cases.
#pragma once

#include <array>
#include <cstdint>

#include "sindri/core/tensor.h"
#include "sindri/op/op_def.h"

namespace sindri::elementwise {

class TileOperands {
 public:
  static constexpr size_t kMost = 12;
  enum class Access : uint8_t {
    kInPlace,  ///< element i of the walk is element i of the operand's memory
    kConstant,  ///< one element for the whole walk
    kGather,
  };

  /// At most kMost operands, in the layouts that the kernel receives.
  TileOperands(Span<const TensorMeta> in, const TensorMeta& out);

  size_t size() const { return count_; }
  Access access(size_t k) const { return access_[k]; }
  size_t element_size(size_t k) const { return element_size_[k]; }
  bool all_in_place() const;
  /// Copies elements [begin, begin + n) of the walk from operand k's memory.
  void gather(size_t k, const void* from, int64_t begin, int64_t n, void* to) const;

 private:
  template <class E> void copy(size_t k, const E* from, int64_t begin, int64_t n, E* to) const;

  // Dimensions in the physical order of the output, joined if every operand allows it; strides in elements.
  size_t count_;
  int rank_ = 0;
  std::array<int64_t, Shape::kMaxRank> size_{};
  std::array<std::array<int64_t, Shape::kMaxRank>, kMost> stride_{};
  std::array<size_t, kMost> element_size_{};
  std::array<Access, kMost> access_{};
};

}  // namespace sindri::elementwise
