// Reductions. Empty `axes` means all; negative axes count from the end; duplicates throw ValueError. The order of
// additions is fixed (pairwise over pieces of fixed size) and does not depend on the number of threads.
#pragma once
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Dimensions of a reduction.
using Axes = std::vector<int64_t>;
SINDRI_API Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Sum; bool and uint8 give int64, no elements give 0.
SINDRI_API Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Mean; integers give float32, no elements give NaN.
SINDRI_API Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Product; bool and uint8 give int64, no elements give 1.
/// Largest element; NaN wins. Equal maxima share the gradient equally. Throws ValueError over an empty extent.
SINDRI_API Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
SINDRI_API Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Smallest element, with the rules of max.
SINDRI_API Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Bool: whether any element is not 0; false for no elements.
SINDRI_API Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< Bool: whether all elements are not 0; true for no elements.
/// Bool scalar: whether every element of every tensor is neither NaN nor infinite. Takes at least one floating tensor,
/// else throws ValueError.
SINDRI_API Tensor all_finite(const std::vector<Tensor>& tensors);
/// Index (int64) of the first largest element along `axis`; the first NaN, if any. Throws ValueError over an empty
/// axis.
SINDRI_API Tensor argmax(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
/// Index (int64) of the first smallest element along `axis`; the first NaN, if any.
SINDRI_API Tensor argmin(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
/// The k largest (or smallest) elements along `axis`, sorted: values and int64 indices. Equal values keep the lower
/// index first; NaN counts as largest. Throws ValueError for k out of range.
SINDRI_API std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t axis = -1, bool largest = true);
/// Number of elements along the last dimension of `sorted` (ascending) that are below each value, or with `right` not
/// above it: the index before which the value belongs (int64, of values' shape). sorted is [n] and values have any
/// shape, or they are [..., n] and [..., m]; types promote. NaN is never above or below. Throws ShapeError for other
/// shapes (torch.searchsorted).
SINDRI_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);
/// p-norm over axes, for p = 1, 2 or infinity; other values throw ValueError. The gradient at 0 is 0 for p = 2.
SINDRI_API Tensor norm(const Tensor& x, double p = 2.0, const Axes& axes = {}, bool keep_dims = false);
SINDRI_API Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);  ///< log(sum(e^x)), without overflow; no elements give -inf.
SINDRI_API Tensor cumsum(const Tensor& x, int64_t axis = -1);  ///< Cumulative sum: of each element and those before it.
/// Cumulative product: of each element and those before it, floats rounded once; integers wrap.
SINDRI_API Tensor cumprod(const Tensor& x, int64_t axis = -1);

}  // namespace sindri::ops
