// Layer normalisation on the CPU: rows over threads. The sums for gamma and beta are over fixed pieces of rows, whose partial sums are added in order.
#include <algorithm>
#include <cmath>

#include "ops/norm/layer_norm_simd.h"
#include "ops/norm/norm_common.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr int64_t kGrain = 8192;  // minimum elements per thread
constexpr int64_t kPiece = 32768;  // elements per piece of rows, about
constexpr int64_t kMinRows = 64;  // minimum rows per piece, so that its partial sums stay small compared with its data

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

// Converts gamma or beta to the type in which rows are computed.
void copy_param(DType x, const Buffer& from, void* to) {
  for (int64_t i = 0; i < from.meta->numel(); ++i) {
    if (x == DType::kFloat64) static_cast<double*>(to)[i] = load_element(from, i);
    else static_cast<float*>(to)[i] = static_cast<float>(load_element(from, i));
  }
}

class LayerNorm final : public Kernel {
 public:
  explicit LayerNorm(const KernelQuery& q) : type_(q.in[0].dtype), width_(q.in[1].numel()), rows_(q.out[1].numel()), eps_(q.attrs.as<LayerNormAttrs>().eps) {}
  int64_t workspace_bytes() const override { return 2 * width_ * static_cast<int64_t>(sizeof(double)); }
  // in: x, gamma, beta; out: y, mean, inv_std.
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    double* gamma = static_cast<double*>(ctx.workspace);
    double* beta = gamma + width_;
    copy_param(type_, in[1], gamma);
    copy_param(type_, in[2], beta);
    parallel_for(rows_, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width_)), [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) {
        double mean = 0, var = 0;
        SINDRI_SIMD_CALL(layer_norm_stats)(type_, at(in[0], r * width_), width_, &mean, &var);
        const double inv_std = 1 / std::sqrt(var + eps_);
        store_element(out[1], r, mean);
        store_element(out[2], r, inv_std);
        SINDRI_SIMD_CALL(layer_norm_row)(type_, at(in[0], r * width_), at_mutable(out[0], r * width_), width_, mean, inv_std, gamma, beta);
      }
    });
  }

 private:
  DType type_;
  int64_t width_, rows_;
  double eps_;
};

class LayerNormGrad final : public Kernel {
 public:
  explicit LayerNormGrad(const KernelQuery& q) : type_(q.in[1].dtype), width_(q.in[2].numel()), rows_(q.in[3].numel()) {
    length_ = std::max(kMinRows, kPiece / std::max<int64_t>(1, width_));
    pieces_ = fixed_chunks(rows_, length_);
  }
  int64_t workspace_bytes() const override { return (1 + 2 * pieces_) * width_ * static_cast<int64_t>(sizeof(double)); }
  // in: dy, x, gamma, mean, inv_std; out: dx, dgamma, dbeta.
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    double* gamma = static_cast<double*>(ctx.workspace);
    double* partial = gamma + width_;  // piece p: dgamma at 2·p·width, followed by dbeta
    copy_param(type_, in[2], gamma);
    parallel_for(pieces_, 1, [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; ++p) run_piece(p, in, out[0], gamma, partial + 2 * p * width_);
    });
    for (int64_t p = 1; p < pieces_; ++p)
      for (int64_t i = 0; i < 2 * width_; ++i) partial[i] += partial[2 * p * width_ + i];
    for (int64_t i = 0; i < width_; ++i) {
      store_element(out[1], i, pieces_ > 0 ? partial[i] : 0);
      store_element(out[2], i, pieces_ > 0 ? partial[width_ + i] : 0);
    }
  }

 private:
  void run_piece(int64_t p, Span<const Buffer> in, const Buffer& dx, const double* gamma, double* sums) const {
    std::fill(sums, sums + 2 * width_, 0.0);
    for (int64_t r = p * length_; r < std::min(rows_, (p + 1) * length_); ++r) {
      SINDRI_SIMD_CALL(layer_norm_grad_row)
      (type_, at(in[0], r * width_), at(in[1], r * width_), at_mutable(dx, r * width_), width_, load_element(in[3], r), load_element(in[4], r), gamma, sums,
       sums + width_);
    }
  }

  DType type_;
  int64_t width_, rows_, length_ = 0, pieces_ = 0;
};

template <class K> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<K>(q); }
const bool kForward = register_kernel({.op = "layer_norm", .name = "simd", .make = make<LayerNorm>});
const bool kGrad = register_kernel({.op = "layer_norm_grad", .name = "simd", .make = make<LayerNormGrad>});

}  // namespace
}  // namespace sindri::ops
