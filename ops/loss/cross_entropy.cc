// Softmax cross entropy with integer or probability labels. The gradient ops recompute softmax from the logits: a row is in the
// cache anyway, and a stored log-sum-exp in float32 would lose precision for large logits.
//
//   loss = -sum_c q_c·log p_c      dlogits = dloss·(p·sum_c q_c - q),      p = softmax(logits)
#include <fmt/format.h>

#include "ops/loss/loss_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri::ops {

void check_labels(const char* op, const Buffer& labels, int64_t classes, int64_t ignore_index) {
  const int64_t rows = labels.meta->numel();
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t label = load_label(labels, i);
    if (label == ignore_index || (label >= 0 && label < classes)) continue;
    throw_bad_label(op, label, i, rows, classes, ignore_index);
  }
}
void throw_bad_label(const char* op, int64_t label, int64_t row, int64_t rows, int64_t classes, int64_t ignore_index) {
  throw DataError(ErrorCode::kLabelRange, fmt::format("{}: label {} in row {} is outside [0, {})", op, label, row, classes),
                  fmt::format("row {} of {}", row, rows),
                  fmt::format("give the network as many outputs as there are classes, or label rows to ignore with {}", ignore_index));
}

namespace {

void check_logits(const char* op, const TensorMeta& logits) {
  check_floating(op, logits, "logits");
  check_rank(op, logits, "logits", 2);
  if (logits.shape[0] > 0 && logits.shape[1] < 1) throw ShapeError(fmt::format("{}: logits {} have no classes", op, logits.str()));
}

void check_sparse_labels(const char* op, const Attrs& attrs, const TensorMeta& logits, const TensorMeta& labels) {
  if (labels.dtype != DType::kInt32 && labels.dtype != DType::kInt64)
    throw DTypeError(fmt::format("{}: labels must be int32 or int64, got {}", op, labels.str()), "",
                     "labels that are probabilities or one-hot need sparse=False (softmax_cross_entropy_dense); convert class numbers with ops::cast");
  if (labels.shape != Shape{logits.shape[0]})
    throw ShapeError(fmt::format("{}: logits {} need labels [{}], got {}", op, logits.str(), logits.shape[0], labels.str()));
  const double s = attrs.as<SparseCrossEntropyAttrs>().label_smoothing;
  if (!(s >= 0 && s <= 1)) throw ValueError(fmt::format("{}: label_smoothing must be between 0 and 1, got {}", op, s));
}

void check_dense_labels(const char* op, const TensorMeta& logits, const TensorMeta& labels) {
  if (!is_floating(labels.dtype)) {
    throw DTypeError(fmt::format("{}: labels must be floating point, got {}", op, labels.str()), "",
                     labels.shape.rank() == 1 ? "labels that are class numbers need sparse=True (softmax_cross_entropy_sparse)"
                                              : "labels of one number per class are probabilities: convert them with ops::cast");
  }
  if (labels.shape != logits.shape) throw ShapeError(fmt::format("{}: logits {} need labels of their shape, got {}", op, logits.str(), labels.str()));
}

TensorMeta loss_of(const TensorMeta& logits) {
  TensorMeta loss = logits;
  loss.shape = {logits.shape[0]};
  return loss;
}

void check_grad_inputs(const char* op, Span<const TensorMeta> in) {
  check_arity(op, in, 3);
  check_logits(op, in[1]);
  const TensorMeta loss = loss_of(in[1]);
  if (in[0].shape != loss.shape || in[0].dtype != loss.dtype)
    throw ShapeError(fmt::format("{}: dloss must be {} for logits {}, got {}", op, loss.str(), in[1].str(), in[0].str()));
}

std::vector<TensorMeta> infer_sparse(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("softmax_cross_entropy_sparse", in, 2);
  check_logits("softmax_cross_entropy_sparse", in[0]);
  check_sparse_labels("softmax_cross_entropy_sparse", attrs, in[0], in[1]);
  return {loss_of(in[0])};
}

std::vector<TensorMeta> infer_dense(const Attrs&, Span<const TensorMeta> in) {
  check_arity("softmax_cross_entropy_dense", in, 2);
  check_logits("softmax_cross_entropy_dense", in[0]);
  check_dense_labels("softmax_cross_entropy_dense", in[0], in[1]);
  return {loss_of(in[0])};
}

std::vector<TensorMeta> infer_sparse_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_grad_inputs("softmax_cross_entropy_sparse_grad", in);
  check_sparse_labels("softmax_cross_entropy_sparse_grad", attrs, in[1], in[2]);
  return {in[1]};
}

std::vector<TensorMeta> infer_dense_grad(const Attrs&, Span<const TensorMeta> in) {
  check_grad_inputs("softmax_cross_entropy_dense_grad", in);
  check_dense_labels("softmax_cross_entropy_dense_grad", in[1], in[2]);
  return {in[1]};
}

Tensor as_column(const Tensor& t) { return expand_dims(t, 1); }

// d(dlogits)/dlogits: q is constant, so with cotangent a it is w·p·(a - sum(a·p)), w = dloss·sum(q).
Tensor through_softmax(const Tensor& a, const Tensor& logits, const Tensor& weight) {
  const Tensor p = softmax(logits, 1);
  return as_column(weight) * (p * (a - sum(a * p, {1}, true)));
}

const OpDef& kSparseGrad = register_op({
    .name = "softmax_cross_entropy_sparse_grad",
    .doc = "dloss [N], logits [N, C], labels [N] -> dlogits = dloss·(softmax - q) of softmax_cross_entropy_sparse; rows labelled ignore_index give 0.",
    .attrs = attrs_type<SparseCrossEntropyAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = infer_sparse_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor &a = c.dout[0], &dloss = c.in[0], &logits = c.in[1], &labels = c.in[2];
      std::vector<Tensor> d(3);
      if (c.needs[0]) d[0] = sum(a * bind_one(kSparseGrad, c.attrs, {ones_like(dloss), logits, labels}), {1});
      if (c.needs[1]) {
        const Tensor kept =
            cast(not_equal(labels, scalar_like(labels, static_cast<double>(c.attrs.as<SparseCrossEntropyAttrs>().ignore_index))), dloss.dtype());
        d[1] = through_softmax(a, logits, dloss * kept);
      }
      return d;
    },
});

const OpDef& kSparse = register_op({
    .name = "softmax_cross_entropy_sparse",
    .doc = "logits [N, C], labels [N] in [0, C) -> loss [N]. Rows labelled ignore_index give loss 0. "
           "Throws DataError (label out of range) naming the row and the value.",
    .attrs = attrs_type<SparseCrossEntropyAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = infer_sparse,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {bind_one(kSparseGrad, c.attrs, {&c.dout[0], &c.in[0], &c.in[1]}), Tensor()};
    },
});

const OpDef& kDenseGrad = register_op({
    .name = "softmax_cross_entropy_dense_grad",
    .doc = "dloss [N], logits and labels [N, C] -> dlogits = dloss·(softmax·sum(labels) - labels) of softmax_cross_entropy_dense. Differentiable in labels if "
           "labels_grad is set.",
    .attrs = attrs_type<DenseCrossEntropyAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = infer_dense_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor &a = c.dout[0], &dloss = c.in[0], &logits = c.in[1];
      const Tensor q = cast(c.in[2], logits.dtype());
      std::vector<Tensor> d(3);
      if (c.needs[0]) d[0] = sum(a * bind_one(kDenseGrad, c.attrs, {ones_like(dloss), logits, c.in[2]}), {1});
      if (c.needs[1]) d[1] = through_softmax(a, logits, dloss * sum(q, {1}));
      if (c.needs[2] && c.attrs.as<DenseCrossEntropyAttrs>().labels_grad)
        d[2] = cast(as_column(dloss) * (sum(a * softmax(logits, 1), {1}, true) - a), c.in[2].dtype());
      return d;
    },
});

const OpDef& kDense = register_op({
    .name = "softmax_cross_entropy_dense",
    .doc = "logits [N, C], labels [N, C] of probabilities -> loss [N]. Differentiable in labels if labels_grad is set; MindSpore's "
           "SoftmaxCrossEntropyWithLogits is not.",
    .attrs = attrs_type<DenseCrossEntropyAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = infer_dense,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      std::vector<Tensor> d(2);
      if (c.needs[0]) d[0] = bind_one(kDenseGrad, c.attrs, {&c.dout[0], &c.in[0], &c.in[1]});
      if (c.needs[1] && c.attrs.as<DenseCrossEntropyAttrs>().labels_grad) d[1] = cast(-as_column(c.dout[0]) * log_softmax(c.in[0], 1), c.in[1].dtype());
      return d;
    },
});

}  // namespace

Tensor softmax_cross_entropy_sparse(const Tensor& logits, const Tensor& labels, double label_smoothing, int64_t ignore_index) {
  return bind_one(kSparse, recent_attrs(SparseCrossEntropyAttrs{label_smoothing, ignore_index}), {&logits, &labels});
}
Tensor softmax_cross_entropy_dense(const Tensor& logits, const Tensor& labels, bool labels_grad) {
  return bind_one(kDense, recent_attrs(DenseCrossEntropyAttrs{labels_grad}), {&logits, &labels});
}

}  // namespace sindri::ops
