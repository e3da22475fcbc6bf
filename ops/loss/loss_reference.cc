// Reference kernels of softmax and cross entropy: row by row, in double.
#include <cmath>

#include "ops/loss/loss_common.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

struct RowStats {
  double max, log_sum;
};

// Statistics of `width` elements from `base` on, `step` apart. A row of all -inf gives NaN, as in PyTorch; so does a row that contains NaN or +inf.
RowStats row_stats(const Buffer& x, int64_t base, int64_t width, int64_t step) {
  double max = -HUGE_VAL, sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    const double v = load_element(x, base + k * step);
    if (v > max || std::isnan(v)) max = v;
  }
  for (int64_t k = 0; k < width; ++k) sum += std::exp(load_element(x, base + k * step) - max);
  return {max, std::log(sum)};
}

template <bool kLog> void softmax(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView v = axis_view(q.in[0].shape, q.attrs.as<SoftmaxAttrs>().axis, q.op.name);
  for (int64_t o = 0; o < v.outer; ++o)
    for (int64_t i = 0; i < v.inner; ++i) {
      const int64_t base = o * v.width * v.inner + i;
      const RowStats s = row_stats(in[0], base, v.width, v.inner);
      for (int64_t k = 0; k < v.width; ++k) {
        const double y = load_element(in[0], base + k * v.inner) - s.max - s.log_sum;
        store_element(out[0], base + k * v.inner, kLog ? y : std::exp(y));
      }
    }
}

// in: dy, y.
template <bool kLog> void softmax_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView v = axis_view(q.in[0].shape, q.attrs.as<SoftmaxAttrs>().axis, q.op.name);
  for (int64_t o = 0; o < v.outer; ++o)
    for (int64_t i = 0; i < v.inner; ++i) {
      const int64_t base = o * v.width * v.inner + i;
      double sum = 0;
      for (int64_t k = 0; k < v.width; ++k) sum += load_element(in[0], base + k * v.inner) * (kLog ? 1 : load_element(in[1], base + k * v.inner));
      for (int64_t k = 0; k < v.width; ++k) {
        const double dy = load_element(in[0], base + k * v.inner), y = load_element(in[1], base + k * v.inner);
        store_element(out[0], base + k * v.inner, kLog ? dy - std::exp(y) * sum : y * (dy - sum));
      }
    }
}

// Probability that label smoothing s gives class c.
double smoothed(int64_t c, int64_t label, int64_t classes, double s) { return (c == label ? 1 - s : 0) + s / static_cast<double>(classes); }

// Terms of weight 0 are skipped: the logit of an impossible class may be -inf.
void sparse(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = q.in[0].shape[0], classes = q.in[0].shape[1];
  check_labels(q.op.name, in[1], classes, a.ignore_index);
  for (int64_t n = 0; n < rows; ++n) {
    const RowStats s = row_stats(in[0], n * classes, classes, 1);
    const int64_t label = load_label(in[1], n);
    double loss = 0;
    for (int64_t c = 0; c < classes && label != a.ignore_index; ++c) {
      const double weight = smoothed(c, label, classes, a.label_smoothing);
      if (weight != 0) loss -= weight * (load_element(in[0], n * classes + c) - s.max - s.log_sum);
    }
    store_element(out[0], n, loss);
  }
}

// in: dloss, logits, labels.
void sparse_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = q.in[1].shape[0], classes = q.in[1].shape[1];
  check_labels(q.op.name, in[2], classes, a.ignore_index);
  for (int64_t n = 0; n < rows; ++n) {
    const int64_t label = load_label(in[2], n);
    const RowStats s = row_stats(in[1], n * classes, classes, 1);
    for (int64_t c = 0; c < classes; ++c) {
      const double p = std::exp(load_element(in[1], n * classes + c) - s.max - s.log_sum);
      const double d = label == a.ignore_index ? 0 : load_element(in[0], n) * (p - smoothed(c, label, classes, a.label_smoothing));
      store_element(out[0], n * classes + c, d);
    }
  }
}

void dense(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t rows = q.in[0].shape[0], classes = q.in[0].shape[1];
  for (int64_t n = 0; n < rows; ++n) {
    const RowStats s = row_stats(in[0], n * classes, classes, 1);
    double loss = 0;
    for (int64_t i = n * classes; i < (n + 1) * classes; ++i) loss -= load_element(in[1], i) * (load_element(in[0], i) - s.max - s.log_sum);
    store_element(out[0], n, loss);
  }
}

void dense_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t rows = q.in[1].shape[0], classes = q.in[1].shape[1];
  for (int64_t n = 0; n < rows; ++n) {
    double mass = 0;
    const RowStats s = row_stats(in[1], n * classes, classes, 1);
    for (int64_t i = n * classes; i < (n + 1) * classes; ++i) mass += load_element(in[2], i);
    for (int64_t i = n * classes; i < (n + 1) * classes; ++i) {
      const double p = std::exp(load_element(in[1], i) - s.max - s.log_sum);
      store_element(out[0], i, load_element(in[0], n) * (p * mass - load_element(in[2], i)));
    }
  }
}

bool reference(const char* op, SimpleKernelFn fn) { return register_kernel({.op = op, .name = "reference", .priority = kReferencePriority, .simple = fn}); }
const bool kSoftmax = reference("softmax", softmax<false>);
const bool kSoftmaxGrad = reference("softmax_grad", softmax_grad<false>);
const bool kLogSoftmax = reference("log_softmax", softmax<true>);
const bool kLogSoftmaxGrad = reference("log_softmax_grad", softmax_grad<true>);
const bool kSparse = reference("softmax_cross_entropy_sparse", sparse);
const bool kSparseGrad = reference("softmax_cross_entropy_sparse_grad", sparse_grad);
const bool kDense = reference("softmax_cross_entropy_dense", dense);
const bool kDenseGrad = reference("softmax_cross_entropy_dense_grad", dense_grad);

}  // namespace
}  // namespace sindri::ops
