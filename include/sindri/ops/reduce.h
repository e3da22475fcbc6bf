// Reductions. `axes` empty means all; negative axes count from the end; duplicates throw ValueError. The order of additions is
// fixed (pairwise over fixed-size pieces) and does not depend on the number of threads.
#pragma once
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

using Axes = std::vector<int64_t>;
SINDRI_API Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< bool and u8 sum as int64; of nothing: 0
SINDRI_API Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< integers give float32; of nothing: NaN
SINDRI_API Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< bool and u8 give int64; of nothing: 1
/// Largest element; NaN wins; equal maxima share the gradient equally. Throws ValueError over an empty extent.
SINDRI_API Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
SINDRI_API Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< as max, with the smallest
SINDRI_API Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< -> bool
SINDRI_API Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< -> bool; of nothing: true
/// Whether every element of every tensor (floating, at least one tensor) is neither NaN nor infinite: a bool scalar.
SINDRI_API Tensor all_finite(const std::vector<Tensor>& tensors);
/// Index (int64) of the first largest element along `axis`.
SINDRI_API Tensor argmax(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
SINDRI_API Tensor argmin(const Tensor& x, int64_t axis = -1, bool keep_dims = false);  ///< as argmax, with the smallest
/// The k largest (or smallest) along `axis`, sorted: values and int64 indices; equal values keep the lower index first.
SINDRI_API std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t axis = -1, bool largest = true);
/// How many elements along the last dimension of `sorted` (ascending) lie below each value, or with `right` do not lie above it: the place before
/// which it belongs (int64, the shape of values). sorted [n] and any values, or [..., n] and values [..., m]; types promote. NaN is never above or
/// below. Throws ShapeError for other shapes (torch.searchsorted).
SINDRI_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);
/// p-norm over axes (p = 1, 2 or infinity as a double). Gradient 0 at 0 for p = 2.
SINDRI_API Tensor norm(const Tensor& x, double p = 2.0, const Axes& axes = {}, bool keep_dims = false);
SINDRI_API Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< log(sum(e^x)), without overflow
SINDRI_API Tensor cumsum(const Tensor& x, int64_t axis = -1);  ///< sums up to and including each element
SINDRI_API Tensor cumprod(const Tensor& x, int64_t axis = -1);  ///< products up to and including each element, floats rounded once; integers wrap

}  // namespace sindri::ops
