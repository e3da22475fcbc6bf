// Batch normalisation on the CPU: vectorised over channels if they are contiguous, otherwise along each channel's plane.
//
// Memory traffic dominates the cost. The training form reads x twice and writes y once; the gradient reads dy and x twice and writes dx once. The forms with
// relu (and residual) also read each further operand once. If there is a residual or the gradient is a sum, the first pass writes g, and the second pass reads
// g instead of reading the gradients again. Statistics take one pass: sums of d and d² with d = x - shift, where shift is the channel's first value. This keeps
// var = mean(d²) - mean(d)² from cancelling. Sums are double. If channels are contiguous, a few rows at a time are first summed in the type in which x is
// computed. Sums are taken over pieces whose size depends on the shape only. The pieces are added in order, so the result is bitwise identical for any number
// of threads.
#include <algorithm>
#include <cmath>

#include "ops/norm/batch_norm_simd.h"
#include "ops/norm/norm_common.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr int64_t kPiece = 32768;  // elements per piece, about
constexpr int64_t kMinRows = 64;  // minimum rows per piece, so that with many channels its sums stay small compared with its data
constexpr int64_t kGrain = 16384;  // minimum elements per thread

// The division of x into pieces. Piece p of channel c has its partial sums at [p·C + c].
struct Pieces {
  ChannelView view;
  int64_t length = 0;  // rows (interleaved) or elements of a plane
  int64_t per_plane = 0;  // planar: pieces of one plane
  int64_t count = 0;

  explicit Pieces(const TensorMeta& x) : view(channel_view(x)) {
    if (view.planar) {
      length = kPiece;
      per_plane = fixed_chunks(view.s, length);
      count = view.n * per_plane;
    } else {
      length = std::max(kMinRows, kPiece / std::max<int64_t>(1, view.c));
      count = fixed_chunks(view.s, length);
    }
  }

  // Calls f(piece, first row, rows) for each piece of interleaved rows, in parallel.
  template <class F> void for_rows(F&& f) const {
    parallel_for(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length * view.c)), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; ++p) f(p, p * length, std::min(length, view.s - p * length));
    });
  }
  // Calls f(piece, channel, offset, elements) for each piece of each plane, in parallel.
  template <class F> void for_runs(F&& f) const {
    parallel_for(count * view.c, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, std::min(length, view.s))), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t plane = i / per_plane, k = i % per_plane * length, n = plane / view.c, c = plane % view.c;
        f(n * per_plane + i % per_plane, c, plane * view.s + k, std::min(length, view.s - k));
      }
    });
  }
};

// Arrays of one kernel run: two partial sums per piece, their totals, and up to six coefficients per channel.
class Workspace {
 public:
  Workspace(const Pieces& p, void* memory) : pieces_(p), base_(static_cast<double*>(memory)) {}
  static int64_t bytes(const Pieces& p) { return (2 * p.count + 9) * p.view.c * static_cast<int64_t>(sizeof(double)); }
  double* partial(int which, int64_t piece) { return base_ + (which * pieces_.count + piece) * pieces_.view.c; }
  double* total(int which) { return base_ + (2 * pieces_.count + which) * pieces_.view.c; }
  double* shift() { return total(2); }
  void* coefficient(int which) { return total(3 + which); }

  // totals = sums of the partials, in the order of pieces.
  void add_up() {
    for (int which = 0; which < 2; ++which) {
      double* to = total(which);
      std::fill(to, to + pieces_.view.c, 0.0);
      for (int64_t p = 0; p < pieces_.count; ++p) {
        const double* from = partial(which, p);
        for (int64_t c = 0; c < pieces_.view.c; ++c) to[c] += from[c];
      }
    }
  }

 private:
  const Pieces& pieces_;
  double* base_;
};

void put(DType x, void* array, int64_t i, double v) {
  if (x == DType::kFloat64) static_cast<double*>(array)[i] = v;
  else static_cast<float*>(array)[i] = static_cast<float>(v);
}

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

// Indices of the per-channel coefficients in the workspace.
enum Coefficient { kMean, kScale, kBeta, kA, kB, kC };

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const TensorMeta& x, double eps) : pieces_(x), type_(x.dtype), eps_(eps) {}
  int64_t workspace_bytes() const override { return Workspace::bytes(pieces_); }

 protected:
  // The three coefficients of y = (x - mean)·scale + beta. Computed from the stored statistics, so that the gradient computes bitwise identical values.
  void set_forward(Workspace& w, int64_t c, const Buffer& gamma, const Buffer& beta, const Buffer& mean, const Buffer& var) const {
    put(type_, w.coefficient(kMean), c, load_element(mean, c));
    put(type_, w.coefficient(kScale), c, load_element(gamma, c) / std::sqrt(load_element(var, c) + eps_));
    put(type_, w.coefficient(kBeta), c, load_element(beta, c));
  }

  void apply(Workspace& w, const Buffer& x, const Buffer* residual, const Buffer& y, bool relu) const {
    const ChannelView& v = pieces_.view;
    const auto operands = [&](int64_t i, int64_t c) {
      return BnApply{type_,
                     at(x, i),
                     residual != nullptr ? at(*residual, i) : nullptr,
                     at_mutable(y, i),
                     coefficient(w, kMean, c),
                     coefficient(w, kScale, c),
                     coefficient(w, kBeta, c),
                     relu};
    };
    if (!v.planar) {
      pieces_.for_rows([&](int64_t, int64_t row, int64_t rows) { SINDRI_SIMD_CALL(bn_apply_rows)(operands(row * v.c, 0), rows, v.c); });
    } else {
      pieces_.for_runs([&](int64_t, int64_t c, int64_t i, int64_t n) { SINDRI_SIMD_CALL(bn_apply_run)(operands(i, c), n); });
    }
  }

  const void* coefficient(Workspace& w, Coefficient which, int64_t c) const {
    return static_cast<const char*>(w.coefficient(which)) + c * static_cast<int64_t>(type_ == DType::kFloat64 ? sizeof(double) : sizeof(float));
  }

  Pieces pieces_;
  DType type_;
  double eps_;
};

double eps_of(const KernelQuery& q) {
  return q.op.traits.role == OpRole::kBatchNormRelu ? q.attrs.as<BatchNormReluAttrs>().eps : q.attrs.as<BatchNormAttrs>().eps;
}

// in: x, gamma, beta [, residual]; out: y, mean, var. With relu it is also the op batch_norm_relu.
template <bool kRelu> class BatchNormTrain final : public BatchNormKernel {
 public:
  explicit BatchNormTrain(const KernelQuery& q) : BatchNormKernel(q.in[0], eps_of(q)) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    const ChannelView& v = pieces_.view;
    sums(w, in[0]);
    const double count = static_cast<double>(v.count());
    for (int64_t c = 0; c < v.c; ++c) {
      const double d = w.total(0)[c] / count, variance = w.total(1)[c] / count - d * d;
      store_element(out[1], c, w.shift()[c] + d);
      store_element(out[2], c, variance < 0 ? 0 : variance);  // a NaN is kept
      set_forward(w, c, in[1], in[2], out[1], out[2]);
    }
    apply(w, in[0], in.size() > 3 ? &in[3] : nullptr, out[0], kRelu);
  }

 private:
  void sums(Workspace& w, const Buffer& x) const {
    const ChannelView& v = pieces_.view;
    for (int64_t c = 0; c < v.c; ++c) {
      const double first = v.count() > 0 ? load_element(x, c * v.stride_c) : 0;
      w.shift()[c] = std::isfinite(first) ? first : 0;
    }
    if (v.planar) {
      pieces_.for_runs([&](int64_t p, int64_t c, int64_t i, int64_t n) {
        SINDRI_SIMD_CALL(bn_stats_run)(type_, at(x, i), n, w.shift()[c], w.partial(0, p) + c, w.partial(1, p) + c);
      });
    } else {
      pieces_.for_rows([&](int64_t p, int64_t row, int64_t rows) {
        SINDRI_SIMD_CALL(bn_stats_rows)(type_, at(x, row * v.c), rows, v.c, w.shift(), w.partial(0, p), w.partial(1, p));
      });
    }
    w.add_up();
  }
};

// in: x, gamma, beta, mean, var; out: y.
class BatchNormInfer final : public BatchNormKernel {
 public:
  explicit BatchNormInfer(const KernelQuery& q) : BatchNormKernel(q.in[0], q.attrs.as<BatchNormAttrs>().eps) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    for (int64_t c = 0; c < pieces_.view.c; ++c) set_forward(w, c, in[1], in[2], in[3], in[4]);
    apply(w, in[0], nullptr, out[0], false);
  }
};

// With g the gradient of the normalised value, s1 = sum(g) and s2 = sum(g·(x - mean)):
// dx = gamma·r·(g - s1/M - (x - mean)·r²·s2/M), dgamma = r·s2, dbeta = s1.
class GradKernel : public BatchNormKernel {
 protected:
  using BatchNormKernel::BatchNormKernel;
  // y: for mask kOutput; dy2: added to dy; g: destination of the masked (and summed) gradient.
  struct Operands {
    const Buffer *dy, *x, *gamma, *mean, *var;
    BnMask mask = BnMask::kNone;
    const Buffer *dy2 = nullptr, *y = nullptr, *g = nullptr;
  };

  void compute(Workspace& w, const Operands& o, Span<const Buffer> out) const {
    const ChannelView& v = pieces_.view;
    const double count = static_cast<double>(v.count());
    for (int64_t c = 0; c < v.c; ++c) w.shift()[c] = load_element(*o.mean, c);
    sums(w, o);
    for (int64_t c = 0; c < v.c; ++c) {
      const double r = 1 / std::sqrt(load_element(*o.var, c) + eps_), s1 = w.total(0)[c], s2 = w.total(1)[c], scale = load_element(*o.gamma, c) * r;
      store_element(out[1], c, r * s2);
      store_element(out[2], c, s1);
      put(type_, w.coefficient(kA), c, scale);
      put(type_, w.coefficient(kB), c, scale * r * r * s2 / count);
      put(type_, w.coefficient(kC), c, scale * s1 / count);
    }
    Operands second = o;
    if (o.g != nullptr) second = {.dy = o.g, .x = o.x, .gamma = o.gamma, .mean = o.mean, .var = o.var};
    write_dx(w, second, out[0]);
  }

 private:
  BnGrad operands(Workspace& w, const Operands& o, int64_t i, int64_t c) const {
    return {type_,
            o.mask,
            at(*o.dy, i),
            o.dy2 != nullptr ? at(*o.dy2, i) : nullptr,
            at(*o.x, i),
            o.y != nullptr ? at(*o.y, i) : nullptr,
            o.g != nullptr ? at_mutable(*o.g, i) : nullptr,
            coefficient(w, kMean, c),
            coefficient(w, kScale, c),
            coefficient(w, kBeta, c)};
  }

  void sums(Workspace& w, const Operands& o) const {
    const ChannelView& v = pieces_.view;
    if (v.planar) {
      pieces_.for_runs([&](int64_t p, int64_t c, int64_t i, int64_t n) {
        SINDRI_SIMD_CALL(bn_grad_sums_run)(operands(w, o, i, c), n, w.shift()[c], w.partial(0, p) + c, w.partial(1, p) + c);
      });
    } else {
      pieces_.for_rows([&](int64_t p, int64_t row, int64_t rows) {
        SINDRI_SIMD_CALL(bn_grad_sums_rows)(operands(w, o, row * v.c, 0), rows, v.c, w.partial(0, p), w.partial(1, p));
      });
    }
    w.add_up();
  }

  void write_dx(Workspace& w, const Operands& o, const Buffer& dx) const {
    const ChannelView& v = pieces_.view;
    const auto write = [&](auto function, int64_t i, int64_t c, auto... size) {
      function(operands(w, o, i, c), at_mutable(dx, i), size..., coefficient(w, kA, c), coefficient(w, kB, c), coefficient(w, kC, c));
    };
    if (v.planar) {
      pieces_.for_runs([&](int64_t, int64_t c, int64_t i, int64_t n) { write(SINDRI_SIMD_CALL(bn_grad_run), i, c, n); });
    } else {
      pieces_.for_rows([&](int64_t, int64_t row, int64_t rows) { write(SINDRI_SIMD_CALL(bn_grad_rows), row * v.c, 0, rows, v.c); });
    }
  }
};

// in: dy, x, gamma, mean, var; out: dx, dgamma, dbeta.
class BatchNormGrad final : public GradKernel {
 public:
  explicit BatchNormGrad(const KernelQuery& q) : GradKernel(q.in[1], q.attrs.as<BatchNormAttrs>().eps) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    for (int64_t c = 0; c < pieces_.view.c; ++c) put(type_, w.coefficient(kMean), c, load_element(in[3], c));
    compute(w, {.dy = &in[0], .x = &in[1], .gamma = &in[2], .mean = &in[3], .var = &in[4]}, out);
  }
};

// in: dy, x, gamma, beta, mean, var [, y of a form with residual] [, dy2]; out: dx, dgamma, dbeta [, g].
class BatchNormReluGrad final : public GradKernel {
 public:
  explicit BatchNormReluGrad(const KernelQuery& q)
      : GradKernel(q.in[1], q.attrs.as<BatchNormReluGradAttrs>().eps), attrs_(q.attrs.as<BatchNormReluGradAttrs>()) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    for (int64_t c = 0; c < pieces_.view.c; ++c) set_forward(w, c, in[2], in[3], in[4], in[5]);
    Operands o{.dy = &in[0], .x = &in[1], .gamma = &in[2], .mean = &in[4], .var = &in[5], .mask = attrs_.residual ? BnMask::kOutput : BnMask::kInput};
    if (attrs_.residual) o.y = &in[6];
    if (attrs_.sum) o.dy2 = &in.back();
    if (attrs_.gives_g()) o.g = &out[3];
    compute(w, o, out);
  }

 private:
  BatchNormReluGradAttrs attrs_;
};

// The graph compiler uses bit masks on devices only.
std::string reject_mask(const KernelQuery& q) {
  const bool mask = q.op.traits.role == OpRole::kBatchNormRelu ? q.attrs.as<BatchNormReluAttrs>().mask : q.attrs.as<BatchNormReluGradAttrs>().mask;
  return mask ? "bit masks" : "";
}

template <class K> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<K>(q); }
const bool kTrain = register_kernel({.op = "batch_norm_train", .name = "simd", .make = make<BatchNormTrain<false>>});
const bool kTrainRelu = register_kernel({.op = "batch_norm_relu", .name = "simd", .reject = reject_mask, .make = make<BatchNormTrain<true>>});
const bool kInfer = register_kernel({.op = "batch_norm_infer", .name = "simd", .make = make<BatchNormInfer>});
const bool kGrad = register_kernel({.op = "batch_norm_grad", .name = "simd", .make = make<BatchNormGrad>});
const bool kReluGrad = register_kernel({.op = "batch_norm_relu_grad", .name = "simd", .reject = reject_mask, .make = make<BatchNormReluGrad>});

}  // namespace
}  // namespace sindri::ops
