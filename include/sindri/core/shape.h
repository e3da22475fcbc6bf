// Shape: a tensor's logical dimensions, in the order N, C, H, W for images in every physical layout.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// Dimensions of a tensor, at most kMaxRank, stored inline, so that copying a shape never allocates. Rank 0 is a scalar (numel
/// 1); a dimension may be 0.
class SINDRI_API Shape {
 public:
  static constexpr int kMaxRank = 8;  ///< largest number of dimensions
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);  // NOLINT(google-explicit-constructor): {2, 3} reads as a shape
  Shape(const std::vector<int64_t>& dims);  // NOLINT(google-explicit-constructor)
  /// This constructor and those above throw ShapeError for more than kMaxRank dimensions.
  explicit Shape(std::span<const int64_t> dims);
  /// A shape of `rank` dimensions, all equal to `fill`.
  static Shape filled(int rank, int64_t fill);

  int rank() const { return rank_; }  ///< number of dimensions
  bool empty() const { return rank_ == 0; }  ///< true for a scalar
  int size() const { return rank_; }  ///< the same as rank(), for use as a container
  /// Dimension i, from 0 to rank() - 1; not checked.
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  /// Dimension `axis`; negative counts from the end. Throws ValueError if out of range.
  int64_t dim(int64_t axis) const;
  /// Product of the dimensions (1 for a scalar). Throws ValueError on 64-bit overflow.
  int64_t numel() const;
  int64_t back() const { return dims_[static_cast<size_t>(rank_ - 1)]; }  ///< the last dimension; rank() > 0
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  int64_t* begin() { return dims_.data(); }
  int64_t* end() { return dims_.data() + rank_; }
  void push_back(int64_t d);  ///< throws ShapeError beyond kMaxRank
  void insert(int position, int64_t d);  ///< before `position`; throws ShapeError beyond kMaxRank
  void erase(int position);  ///< removes the dimension at `position`
  std::vector<int64_t> vec() const { return {begin(), end()}; }  ///< the dimensions as a vector
  std::span<const int64_t> span() const { return {begin(), static_cast<size_t>(rank_)}; }  ///< the dimensions; valid as long as the shape
  /// "[2, 3]"; a scalar is "[]".
  std::string str() const;
  bool operator==(const Shape& o) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// Row-major strides, in elements, of a contiguous tensor of this shape.
SINDRI_API Shape contiguous_strides(const Shape& shape);

/// Shape of two shapes broadcast together (NumPy's rule). Throws ShapeError that names `op` if they do not match.
SINDRI_API Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op);

/// Maps a negative axis to [0, rank). Throws ValueError that names `op` if out of range (rank 0 counts as 1).
SINDRI_API int normalize_axis(int64_t axis, int rank, const char* op);

}  // namespace sindri
