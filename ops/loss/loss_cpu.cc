// Softmax and cross entropy on the CPU: rows over threads, each row in vectorised passes while it is in the cache.
#include <algorithm>
#include <cmath>

#include "ops/loss/loss_common.h"
#include "ops/loss/softmax_simd.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr int64_t kGrain = 4096;  // minimum elements per thread: exp is costly

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

template <class F> void for_rows(int64_t rows, int64_t width, F&& f) {
  parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i);
  });
}

template <bool kLog> void softmax(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView v = axis_view(q.in[0].shape, q.attrs.as<SoftmaxAttrs>().axis, q.op.name);
  const int64_t size = v.width * v.inner;
  for_rows(v.outer, size, [&](int64_t o) {
    if (v.inner == 1) SINDRI_SIMD_CALL(softmax_row)(q.in[0].dtype, kLog, at(in[0], o * size), at_mutable(out[0], o * size), size);
    else SINDRI_SIMD_CALL(softmax_block)(q.in[0].dtype, kLog, at(in[0], o * size), at_mutable(out[0], o * size), v.width, v.inner);
  });
}

// in: dy, y.
template <bool kLog> void softmax_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView v = axis_view(q.in[0].shape, q.attrs.as<SoftmaxAttrs>().axis, q.op.name);
  const int64_t size = v.width * v.inner;
  for_rows(v.outer, size, [&](int64_t o) {
    const int64_t i = o * size;
    if (v.inner == 1) SINDRI_SIMD_CALL(softmax_grad_row)(q.in[0].dtype, kLog, at(in[0], i), at(in[1], i), at_mutable(out[0], i), size);
    else SINDRI_SIMD_CALL(softmax_grad_block)(q.in[0].dtype, kLog, at(in[0], i), at(in[1], i), at_mutable(out[0], i), v.width, v.inner);
  });
}

struct RowStats {
  double max, log_sum, sum_shifted;
  double log_sum_exp() const { return max + log_sum; }
};

RowStats row_stats(const Buffer& x, int64_t row, int64_t classes) {
  double max = 0, sum = 0, shifted = 0;
  SINDRI_SIMD_CALL(softmax_row_stats)(x.meta->dtype, at(x, row * classes), classes, &max, &sum, &shifted);
  return {max, std::log(sum), shifted};
}

// Terms of weight 0 are skipped, so that a logit of -inf has no effect if its label has no weight.
double sparse_loss(const RowStats& s, double label_logit, int64_t classes, double smoothing) {
  double loss = 0;
  if (smoothing < 1) loss += (1 - smoothing) * (s.log_sum - (label_logit - s.max));
  if (smoothing > 0) loss += smoothing * (s.log_sum - s.sum_shifted / static_cast<double>(classes));
  return loss;
}

void sparse(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = q.in[0].shape[0], classes = q.in[0].shape[1];
  check_labels(q.op.name, in[1], classes, a.ignore_index);
  for_rows(rows, classes, [&](int64_t n) {
    const int64_t label = load_label(in[1], n);
    const RowStats s = row_stats(in[0], n, classes);
    store_element(out[0], n, label == a.ignore_index ? 0 : sparse_loss(s, load_element(in[0], n * classes + label), classes, a.label_smoothing));
  });
}

// in: dloss, logits, labels.
void sparse_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = q.in[1].shape[0], classes = q.in[1].shape[1];
  check_labels(q.op.name, in[2], classes, a.ignore_index);
  const double offset = a.label_smoothing / static_cast<double>(std::max<int64_t>(1, classes));
  for_rows(rows, classes, [&](int64_t n) {
    const int64_t label = load_label(in[2], n), base = n * classes;
    if (label == a.ignore_index) {
      for (int64_t c = 0; c < classes; ++c) store_element(out[0], base + c, 0);
      return;
    }
    const double dloss = load_element(in[0], n), lse = row_stats(in[1], n, classes).log_sum_exp();
    SINDRI_SIMD_CALL(cross_entropy_grad_row)(q.in[1].dtype, at(in[1], base), at_mutable(out[0], base), classes, lse, dloss, offset);
    store_element(out[0], base + label, dloss * (std::exp(load_element(in[1], base + label) - lse) - offset - (1 - a.label_smoothing)));
  });
}

void dense(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t rows = q.in[0].shape[0], classes = q.in[0].shape[1];
  for_rows(rows, classes, [&](int64_t n) {
    const RowStats s = row_stats(in[0], n, classes);
    store_element(out[0], n,
                  SINDRI_SIMD_CALL(cross_entropy_dense_row)(q.in[0].dtype, at(in[0], n * classes), at(in[1], n * classes), classes, s.log_sum_exp()));
  });
}

void dense_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t rows = q.in[1].shape[0], classes = q.in[1].shape[1];
  for_rows(rows, classes, [&](int64_t n) {
    const int64_t i = n * classes;
    SINDRI_SIMD_CALL(cross_entropy_dense_grad_row)
    (q.in[1].dtype, at(in[1], i), at(in[2], i), at_mutable(out[0], i), classes, row_stats(in[1], n, classes).log_sum_exp(), load_element(in[0], n));
  });
}

template <size_t kLogits, size_t kLabels> std::string reject_mixed(const KernelQuery& q) {
  return q.in[kLogits].dtype == q.in[kLabels].dtype ? "" : "labels and logits have different types";
}

const bool kSoftmax = register_kernel({.op = "softmax", .name = "simd", .simple = softmax<false>});
const bool kSoftmaxGrad = register_kernel({.op = "softmax_grad", .name = "simd", .simple = softmax_grad<false>});
const bool kLogSoftmax = register_kernel({.op = "log_softmax", .name = "simd", .simple = softmax<true>});
const bool kLogSoftmaxGrad = register_kernel({.op = "log_softmax_grad", .name = "simd", .simple = softmax_grad<true>});
const bool kSparse = register_kernel({.op = "softmax_cross_entropy_sparse", .name = "simd", .simple = sparse});
const bool kSparseGrad = register_kernel({.op = "softmax_cross_entropy_sparse_grad", .name = "simd", .simple = sparse_grad});
const bool kDense = register_kernel({.op = "softmax_cross_entropy_dense", .name = "simd", .reject = reject_mixed<0, 1>, .simple = dense});
const bool kDenseGrad = register_kernel({.op = "softmax_cross_entropy_dense_grad", .name = "simd", .reject = reject_mixed<1, 2>, .simple = dense_grad});

}  // namespace
}  // namespace sindri::ops
