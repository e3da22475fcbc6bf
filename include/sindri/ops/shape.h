// Ops that move or select elements.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Same elements in row-major order under another shape; one dimension may be -1. Throws ShapeError if the counts
/// differ.
SINDRI_API Tensor reshape(const Tensor& x, const Shape& shape);
SINDRI_API Tensor flatten(const Tensor& x, int64_t start_axis = 1, int64_t end_axis = -1);  ///< Merges dimensions start_axis to end_axis into one.
SINDRI_API Tensor squeeze(const Tensor& x, int64_t axis);  ///< Removes dimension `axis`, which must be 1, else throws ShapeError.
SINDRI_API Tensor expand_dims(const Tensor& x, int64_t axis);  ///< Inserts a dimension of 1 at `axis`.
/// Permutes dimensions: dimension i of the result is dimension perm[i] of x. Throws ValueError unless perm names each
/// dimension once.
SINDRI_API Tensor transpose(const Tensor& x, const std::vector<int64_t>& perm);
SINDRI_API Tensor concat(const std::vector<Tensor>& xs, int64_t axis);  ///< Concatenates tensors along `axis`.
SINDRI_API Tensor stack(const std::vector<Tensor>& xs, int64_t axis);  ///< Stacks tensors of one shape along a new dimension `axis`.
/// Splits x into pieces of the given sizes along `axis`. Throws ShapeError unless the sizes add up to the dimension.
SINDRI_API std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis);
/// NumPy slicing x[begin:end:stride] per dimension. Negative begin and end count from the end. Strides may be negative;
/// then end = -dim-1 means "to the front". With lists shorter than the rank the other dimensions stay whole.
SINDRI_API Tensor slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, const std::vector<int64_t>& stride = {});
/// Pads x: pads holds the numbers of elements before and after each dimension, 2·rank values. mode is "constant",
/// "reflect", "symmetric" or "edge", as in numpy.pad.
SINDRI_API Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, double value = 0, const std::string& mode = "constant");
SINDRI_API Tensor broadcast_to(const Tensor& x, const Shape& shape);  ///< Repeats x by NumPy's rule of broadcasting.
/// Inverse of broadcasting: sums over the dimensions that broadcasting `shape` to x's shape repeated.
SINDRI_API Tensor sum_to(const Tensor& x, const Shape& shape);
SINDRI_API Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);  ///< Repeats x repeats[d] times along dimension d.
/// Rows of x along `axis`, selected by integer indices of any shape (NumPy take). Negative indices count from the end.
/// Throws ValueError for an index out of range, naming it and its position.
SINDRI_API Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// Returns x with updates[i] added to row indices[i] of dimension `axis`, in index order (deterministic).
SINDRI_API Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis = 0);
/// Selects one element per position along `axis` (torch.gather); indices have x's rank.
SINDRI_API Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
/// Row-major positions (int64) in a tensor of shape `dims`, from one index tensor per dimension; these broadcast
/// together. With `wrap` negative indices count from the end. Throws ValueError for an index out of range, naming its
/// dimension: axes[d], or d without axes.
SINDRI_API Tensor ravel_indices(const std::vector<Tensor>& indices, const Shape& dims, bool wrap = true, const std::vector<int64_t>& axes = {});
/// One-hot rows, indices.shape + [depth]: `on` at the index, `off` elsewhere. An index out of range gives a row of
/// `off`.
SINDRI_API Tensor one_hot(const Tensor& indices, int64_t depth, double on = 1, double off = 0, DType dtype = DType::kFloat32);
/// Values start, start + step, … below stop (above it for a negative step). Throws ValueError for a step of 0.
SINDRI_API Tensor arange(double start, double stop, double step = 1, DType dtype = DType::kInt64);
/// Tensor with every element equal to `value`, as an op (a constant in graphs).
SINDRI_API Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32);
SINDRI_API Tensor zeros_like(const Tensor& x);  ///< Zeros of x's shape and type.
SINDRI_API Tensor ones_like(const Tensor& x);  ///< Ones of x's shape and type.
/// Rows of an embedding table [V, D], selected by ids: ids.shape + [D]. Throws ValueError for an id out of range.
SINDRI_API Tensor embedding(const Tensor& table, const Tensor& ids);
/// Identity that passes no gradient.
SINDRI_API Tensor stop_gradient(const Tensor& x);

}  // namespace sindri::ops
