// Shared by softmax and cross entropy: attribute structs and the label check.
#pragma once

#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

struct SoftmaxAttrs {
  int64_t axis = -1;
  SINDRI_ATTRS(SoftmaxAttrs, axis)
};

struct SparseCrossEntropyAttrs {
  double label_smoothing = 0;
  int64_t ignore_index = -100;
  SINDRI_ATTRS(SparseCrossEntropyAttrs, label_smoothing, ignore_index)
};

struct DenseCrossEntropyAttrs {
  bool labels_grad = false;
  SINDRI_ATTRS(DenseCrossEntropyAttrs, labels_grad)
};

struct CheckLabelsAttrs {
  int64_t classes = 1;
  int64_t ignore_index = -100;
  SINDRI_ATTRS(CheckLabelsAttrs, classes, ignore_index)
};

/// x as outer x width x inner elements, normalised over width.
struct AxisView {
  int64_t outer = 1, width = 1, inner = 1;
};
SINDRI_API AxisView axis_view(const Shape& shape, int64_t axis, const char* op);

/// Label of row i, int32 or int64.
inline int64_t load_label(const Buffer& labels, int64_t i) { return labels.meta->dtype == DType::kInt32 ? labels.as<int32_t>()[i] : labels.as<int64_t>()[i]; }
/// Throws DataError(kLabelRange) naming the first row whose label is neither in [0, classes) nor ignore_index.
void check_labels(const char* op, const Buffer& labels, int64_t classes, int64_t ignore_index);
/// Throws check_labels' DataError for the label of `row`, one of `rows` rows.
[[noreturn]] SINDRI_API void throw_bad_label(const char* op, int64_t label, int64_t row, int64_t rows, int64_t classes, int64_t ignore_index);
/// Throws check_probabilities' ValueError.
[[noreturn]] SINDRI_API void throw_bad_probability(double value);

}  // namespace sindri::ops
