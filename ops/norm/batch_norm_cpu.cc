// Batch normalisation on the CPU: vectorised over channels where they are contiguous, else along each channel's plane.
//
// Memory traffic is the cost: the training form reads x twice and writes y once, the gradient reads dy and x twice and writes
// dx once. Statistics take one pass: sums of d and d² with d = x - shift, the shift being the channel's first value, which
// keeps var = mean(d²) - mean(d)² from cancelling. Sums are double, over pieces whose size depends on the shape only and
// that are added in order, so the bits do not depend on the number of threads.
#include <algorithm>
#include <cmath>

#include "ops/norm/batch_norm_simd.h"
#include "ops/norm/norm_common.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr int64_t kPiece = 32768;  // elements of one piece, about
constexpr int64_t kMinRows = 64;  // with many channels: so many rows that a piece's sums stay small beside its data
constexpr int64_t kGrain = 16384;  // elements worth a thread

// How x divides into pieces. Piece p of channel c has its partial sums at [p·C + c].
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

  // f(piece, first row, rows) for each piece of interleaved rows, in parallel.
  template <class F> void for_rows(F&& f) const {
    parallel_for(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length * view.c)), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; ++p) f(p, p * length, std::min(length, view.s - p * length));
    });
  }
  // f(piece, channel, offset, elements) for each piece of each plane, in parallel.
  template <class F> void for_runs(F&& f) const {
    parallel_for(count * view.c, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, std::min(length, view.s))), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t plane = i / per_plane, k = i % per_plane * length, n = plane / view.c, c = plane % view.c;
        f(n * per_plane + i % per_plane, c, plane * view.s + k, std::min(length, view.s - k));
      }
    });
  }
};

// Arrays of one kernel run: two partial sums per piece, their totals, and up to four coefficients per channel.
class Workspace {
 public:
  Workspace(const Pieces& p, void* memory) : pieces_(p), base_(static_cast<double*>(memory)) {}
  static int64_t bytes(const Pieces& p) { return (2 * p.count + 7) * p.view.c * static_cast<int64_t>(sizeof(double)); }
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

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const KernelQuery& q, size_t x_input) : pieces_(q.in[x_input]), type_(q.in[x_input].dtype), eps_(q.attrs.as<BatchNormAttrs>().eps) {}
  int64_t workspace_bytes() const override { return Workspace::bytes(pieces_); }

 protected:
  // y = (x - mean)·scale + beta with the workspace's coefficients 0, 1, 2.
  void apply(Workspace& w, const Buffer& x, const Buffer& y) const {
    const ChannelView& v = pieces_.view;
    if (!v.planar) {
      pieces_.for_rows([&](int64_t, int64_t row, int64_t rows) {
        SINDRI_SIMD_CALL(bn_apply_rows)(type_, at(x, row * v.c), at_mutable(y, row * v.c), rows, v.c, w.coefficient(0), w.coefficient(1), w.coefficient(2));
      });
      return;
    }
    pieces_.for_runs([&](int64_t, int64_t c, int64_t i, int64_t n) {
      SINDRI_SIMD_CALL(bn_apply_run)(type_, at(x, i), at_mutable(y, i), n, coefficient(w, 0, c), coefficient(w, 1, c), coefficient(w, 2, c));
    });
  }

  double coefficient(Workspace& w, int which, int64_t c) const {
    return type_ == DType::kFloat64 ? static_cast<double*>(w.coefficient(which))[c] : static_cast<double>(static_cast<float*>(w.coefficient(which))[c]);
  }

  Pieces pieces_;
  DType type_;
  double eps_;
};

// in: x, gamma, beta; out: y, mean, var.
class BatchNormTrain final : public BatchNormKernel {
 public:
  explicit BatchNormTrain(const KernelQuery& q) : BatchNormKernel(q, 0) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    const ChannelView& v = pieces_.view;
    sums(w, in[0]);
    const double count = static_cast<double>(v.count());
    for (int64_t c = 0; c < v.c; ++c) {
      const double d = w.total(0)[c] / count, variance = w.total(1)[c] / count - d * d;
      const double mean = w.shift()[c] + d, var = variance < 0 ? 0 : variance;  // NaN stays NaN
      store_element(out[1], c, mean);
      store_element(out[2], c, var);
      put(type_, w.coefficient(0), c, mean);
      put(type_, w.coefficient(1), c, load_element(in[1], c) / std::sqrt(var + eps_));
      put(type_, w.coefficient(2), c, load_element(in[2], c));
    }
    apply(w, in[0], out[0]);
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
  explicit BatchNormInfer(const KernelQuery& q) : BatchNormKernel(q, 0) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    for (int64_t c = 0; c < pieces_.view.c; ++c) {
      put(type_, w.coefficient(0), c, load_element(in[3], c));
      put(type_, w.coefficient(1), c, load_element(in[1], c) / std::sqrt(load_element(in[4], c) + eps_));
      put(type_, w.coefficient(2), c, load_element(in[2], c));
    }
    apply(w, in[0], out[0]);
  }
};

// in: dy, x, gamma, mean, var; out: dx, dgamma, dbeta. With s1 = sum(dy), s2 = sum(dy·(x - mean)):
// dx = gamma·r·(dy - s1/M - (x - mean)·r²·s2/M), dgamma = r·s2, dbeta = s1.
class BatchNormGrad final : public BatchNormKernel {
 public:
  explicit BatchNormGrad(const KernelQuery& q) : BatchNormKernel(q, 1) {}
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Workspace w(pieces_, ctx.workspace);
    const ChannelView& v = pieces_.view;
    const double count = static_cast<double>(v.count());
    for (int64_t c = 0; c < v.c; ++c) w.shift()[c] = load_element(in[3], c);
    sums(w, in[0], in[1]);
    for (int64_t c = 0; c < v.c; ++c) {
      const double r = 1 / std::sqrt(load_element(in[4], c) + eps_), s1 = w.total(0)[c], s2 = w.total(1)[c], scale = load_element(in[2], c) * r;
      store_element(out[1], c, r * s2);
      store_element(out[2], c, s1);
      put(type_, w.coefficient(0), c, w.shift()[c]);
      put(type_, w.coefficient(1), c, scale);
      put(type_, w.coefficient(2), c, scale * r * r * s2 / count);
      put(type_, w.coefficient(3), c, scale * s1 / count);
    }
    write_dx(w, in[0], in[1], out[0]);
  }

 private:
  void sums(Workspace& w, const Buffer& dy, const Buffer& x) const {
    const ChannelView& v = pieces_.view;
    if (v.planar) {
      pieces_.for_runs([&](int64_t p, int64_t c, int64_t i, int64_t n) {
        SINDRI_SIMD_CALL(bn_grad_sums_run)(type_, at(dy, i), at(x, i), n, w.shift()[c], w.partial(0, p) + c, w.partial(1, p) + c);
      });
    } else {
      pieces_.for_rows([&](int64_t p, int64_t row, int64_t rows) {
        SINDRI_SIMD_CALL(bn_grad_sums_rows)(type_, at(dy, row * v.c), at(x, row * v.c), rows, v.c, w.shift(), w.partial(0, p), w.partial(1, p));
      });
    }
    w.add_up();
  }

  void write_dx(Workspace& w, const Buffer& dy, const Buffer& x, const Buffer& dx) const {
    const ChannelView& v = pieces_.view;
    if (v.planar) {
      pieces_.for_runs([&](int64_t, int64_t c, int64_t i, int64_t n) {
        SINDRI_SIMD_CALL(bn_grad_run)
        (type_, at(dy, i), at(x, i), at_mutable(dx, i), n, coefficient(w, 0, c), coefficient(w, 1, c), coefficient(w, 2, c), coefficient(w, 3, c));
      });
      return;
    }
    pieces_.for_rows([&](int64_t, int64_t row, int64_t rows) {
      SINDRI_SIMD_CALL(bn_grad_rows)
      (type_, at(dy, row * v.c), at(x, row * v.c), at_mutable(dx, row * v.c), rows, v.c, w.coefficient(0), w.coefficient(1), w.coefficient(2),
       w.coefficient(3));
    });
  }
};

template <class K> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<K>(q); }
const bool kTrain = register_kernel({.op = "batch_norm_train", .name = "simd", .make = make<BatchNormTrain>});
const bool kInfer = register_kernel({.op = "batch_norm_infer", .name = "simd", .make = make<BatchNormInfer>});
const bool kGrad = register_kernel({.op = "batch_norm_grad", .name = "simd", .make = make<BatchNormGrad>});

}  // namespace
}  // namespace sindri::ops
