// ctc_loss: connectionist temporal classification (Graves, Fernández, Gomez, Schmidhuber 2006): the negative log likelihood of a sequence of labels
// under the classes' probabilities at each step, summed over all ways to stretch it over the steps with repeats and blanks.
//
// The gradient is that of the formula with respect to log_probs: -(share of the paths that are at class c at step t). PyTorch and MindSpore add
// exp(log_probs), which includes part of the gradient of the preceding log_softmax. After a log_softmax both give the same result.
#include <fmt/format.h>

#include "ops/loss/ctc.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/loss.h"

namespace sindri::ops {
namespace {

void check_integers(const char* op, const TensorMeta& m, const char* which) {
  if (m.dtype != DType::kInt32 && m.dtype != DType::kInt64) throw DTypeError(fmt::format("{}: {} must be int32 or int64, got {}", op, which, m.str()));
}

// log_probs, targets, input_lengths, target_lengths.
void check_batch(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_floating(op, in[0], "log_probs");
  check_rank(op, in[0], "log_probs", 3);
  const int64_t N = in[0].shape[1], C = in[0].shape[2], blank = attrs.as<CtcAttrs>().blank;
  if (blank < 0 || blank >= C) throw ValueError(fmt::format("{}: blank must be a class in [0, {}), got {}", op, C, blank));
  check_integers(op, in[1], "targets");
  if (in[1].shape.rank() != 1 && (in[1].shape.rank() != 2 || in[1].shape[0] != N))
    throw ShapeError(
        fmt::format("{}: targets must be [N, S] or, concatenated, [sum of target_lengths] for log_probs {}, got {}", op, in[0].str(), in[1].str()));
  for (const size_t i : {2, 3}) {
    const char* which = i == 2 ? "input_lengths" : "target_lengths";
    check_integers(op, in[i], which);
    if (in[i].shape != Shape{N}) throw ShapeError(fmt::format("{}: {} must be [{}] for log_probs {}, got {}", op, which, N, in[0].str(), in[i].str()));
  }
}

TensorMeta with_shape(TensorMeta m, Shape shape) {
  m.shape = std::move(shape);
  return m;
}

const OpDef& kGrad = register_op({
    .name = "ctc_loss_grad",
    .doc = "dloss [N] and the inputs of ctc_loss -> dlog_probs [T, N, C]; 0 after each sample's last step. Not differentiable.",
    .attrs = attrs_type<CtcAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("ctc_loss_grad", in, 5);
      check_batch("ctc_loss_grad", attrs, in.subspan(1));
      if (in[0].shape != Shape{in[1].shape[1]} || in[0].dtype != in[1].dtype)
        throw ShapeError(fmt::format("ctc_loss_grad: dloss must be [{}] of log_probs' type, got {}", in[1].shape[1], in[0].str()));
      return {in[1]};
    },
});

const OpDef& kLoss = register_op({
    .name = "ctc_loss",
    .doc = "log_probs [T, N, C], targets [N, S] (or concatenated, [sum of target_lengths]), input_lengths [N], target_lengths [N] -> negative log "
           "likelihoods [N] of the targets with any repeats and blanks (Graves et al. 2006). Infinite if there are too few steps; 0 then with zero_infinity. "
           "The gradient is with respect to log_probs itself; the term exp(log_probs) that PyTorch adds is cancelled by log_softmax's gradient. Differentiable "
           "once: the gradient is a kernel, the backward recursion over all paths. Throws DataError for a length or a label out of "
           "range.",
    .attrs = attrs_type<CtcAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("ctc_loss", in, 4);
      check_batch("ctc_loss", attrs, in);
      return {with_shape(in[0], {in[0].shape[1]})};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      std::vector<Tensor> d(4);
      if (c.needs[0]) d[0] = bind_one(kGrad, c.attrs, {c.dout[0], c.in[0], c.in[1], c.in[2], c.in[3]});
      return d;
    },
});

const OpDef& kAlpha = register_op({
    .name = "ctc_log_alpha",
    .doc = "The inputs of ctc_loss with targets [N, S] -> log alpha [N, T, 2S + 1]: the log probability of all paths that produce a prefix of the target with "
           "its blanks and are in a given state at a given step; -inf after a sample's last step and state. Not differentiable.",
    .attrs = attrs_type<CtcAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("ctc_log_alpha", in, 4);
      check_batch("ctc_log_alpha", attrs, in);
      check_rank("ctc_log_alpha", in[1], "targets", 2);
      return {with_shape(in[0], {in[0].shape[1], in[0].shape[0], 2 * in[1].shape[1] + 1})};
    },
});

std::vector<int64_t> integers(const Buffer& b) {
  const int64_t n = b.meta->numel();
  if (b.meta->dtype == DType::kInt64) return {b.as<int64_t>(), b.as<int64_t>() + n};
  return {b.as<int32_t>(), b.as<int32_t>() + n};
}

}  // namespace

void throw_ctc_fault(const char* op, CtcFault fault, int64_t number, int64_t bound, int64_t sample, int64_t samples) {
  const std::string where = fmt::format("sample {} of {}", sample, samples);
  if (fault == CtcFault::kSteps) throw DataError(fmt::format("{}: input length {} is outside [0, {}]", op, number, bound), where);
  if (fault == CtcFault::kLabel) throw DataError(ErrorCode::kLabelRange, fmt::format("{}: label {} is outside [0, {})", op, number, bound), where);
  throw DataError(fmt::format("{}: target length {} is outside [0, {}]", op, number, bound), where,
                  "the upper bound is the number of labels that targets hold for the sample");
}

std::vector<CtcSample> ctc_samples(const KernelQuery& q, Span<const Buffer> in) {
  const Shape& probs = in[0].meta->shape;
  const int64_t T = probs[0], N = probs[1], C = probs[2], blank = q.attrs.as<CtcAttrs>().blank;
  const bool in_rows = in[1].meta->shape.rank() == 2;
  const std::vector<int64_t> targets = integers(in[1]), steps = integers(in[2]), lengths = integers(in[3]);
  const int64_t S = in_rows ? in[1].meta->shape[1] : static_cast<int64_t>(targets.size());
  std::vector<CtcSample> samples(static_cast<size_t>(N));
  int64_t next = 0;  // concatenated targets
  for (int64_t n = 0; n < N; ++n) {
    const auto i = static_cast<size_t>(n);
    if (steps[i] < 0 || steps[i] > T) throw_ctc_fault(q.op.name, CtcFault::kSteps, steps[i], T, n, N);
    const int64_t first = in_rows ? n * S : next, most = in_rows ? S : S - next;
    if (lengths[i] < 0 || lengths[i] > most) throw_ctc_fault(q.op.name, CtcFault::kLength, lengths[i], most, n, N);
    next += lengths[i];
    samples[i].steps = steps[i];
    samples[i].classes.assign(static_cast<size_t>(2 * lengths[i] + 1), blank);
    for (int64_t k = 0; k < lengths[i]; ++k) {
      const int64_t label = targets[static_cast<size_t>(first + k)];
      if (label < 0 || label >= C) throw_ctc_fault(q.op.name, CtcFault::kLabel, label, C, n, N);
      samples[i].classes[static_cast<size_t>(2 * k + 1)] = label;
    }
  }
  return samples;
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return bind_one(kLoss, Attrs::of(CtcAttrs{blank, zero_infinity}), {log_probs, targets, input_lengths, target_lengths});
}
Tensor ctc_log_alpha(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank) {
  return bind_one(kAlpha, Attrs::of(CtcAttrs{blank, false}), {log_probs, targets, input_lengths, target_lengths});
}

}  // namespace sindri::ops
