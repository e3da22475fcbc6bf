// Reference kernels of the normalisation ops: two passes in double, channel by channel or row by row.
#include <algorithm>
#include <cmath>

#include "ops/norm/norm_common.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

struct MeanVar {
  double mean, var;
};

// Calls f(offset) for the elements of one channel, in order.
template <class F> void for_channel(const ChannelView& v, int64_t c, F&& f) {
  for (int64_t n = 0; n < v.n; ++n)
    for (int64_t s = 0; s < v.s; ++s) f(n * v.stride_n + c * v.stride_c + s * v.stride_s);
}

template <class ForEach> MeanVar mean_var(const Buffer& x, int64_t count, ForEach&& for_each) {
  double sum = 0, square = 0;
  for_each([&](int64_t i) { sum += load_element(x, i); });
  const double mean = sum / static_cast<double>(count);
  for_each([&](int64_t i) { square += (load_element(x, i) - mean) * (load_element(x, i) - mean); });
  return {mean, square / static_cast<double>(count)};
}

void batch_norm_train(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const ChannelView v = channel_view(q.in[0]);
  const double eps = q.attrs.as<BatchNormAttrs>().eps;
  for (int64_t c = 0; c < v.c; ++c) {
    const MeanVar m = mean_var(in[0], v.count(), [&](auto&& f) { for_channel(v, c, f); });
    store_element(out[1], c, m.mean);
    store_element(out[2], c, m.var);
    const double scale = load_element(in[1], c) / std::sqrt(m.var + eps), beta = load_element(in[2], c);
    for_channel(v, c, [&](int64_t i) { store_element(out[0], i, (load_element(in[0], i) - m.mean) * scale + beta); });
  }
}

void batch_norm_infer(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const ChannelView v = channel_view(q.in[0]);
  const double eps = q.attrs.as<BatchNormAttrs>().eps;
  for (int64_t c = 0; c < v.c; ++c) {
    const double scale = load_element(in[1], c) / std::sqrt(load_element(in[4], c) + eps), beta = load_element(in[2], c), mean = load_element(in[3], c);
    for_channel(v, c, [&](int64_t i) { store_element(out[0], i, (load_element(in[0], i) - mean) * scale + beta); });
  }
}

// in: dy, x, gamma, mean, var.
void batch_norm_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const ChannelView v = channel_view(q.in[1]);
  const double eps = q.attrs.as<BatchNormAttrs>().eps, count = static_cast<double>(v.count());
  for (int64_t c = 0; c < v.c; ++c) {
    const double mean = load_element(in[3], c), r = 1 / std::sqrt(load_element(in[4], c) + eps), gamma = load_element(in[2], c);
    double dgamma = 0, dbeta = 0;
    for_channel(v, c, [&](int64_t i) {
      dbeta += load_element(in[0], i);
      dgamma += load_element(in[0], i) * (load_element(in[1], i) - mean) * r;
    });
    for_channel(v, c, [&](int64_t i) {
      const double xh = (load_element(in[1], i) - mean) * r;
      store_element(out[0], i, gamma * r * (load_element(in[0], i) - dbeta / count - xh * dgamma / count));
    });
    store_element(out[1], c, dgamma);
    store_element(out[2], c, dbeta);
  }
}

// The separate ops in sequence, with each value rounded to the type of x between them.
void batch_norm_relu(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BatchNormReluAttrs>();
  const Attrs plain = Attrs::of(BatchNormAttrs{a.eps});
  batch_norm_train({q.op, plain, q.in, q.out}, in.subspan(0, 3), out);
  uint8_t* const mask = a.mask ? out[3].as<uint8_t>() : nullptr;
  if (mask != nullptr) std::fill_n(mask, out[3].meta->numel(), uint8_t{0});
  for (int64_t i = 0, n = q.in[0].numel(); i < n; ++i) {
    if (in.size() > 3) store_element(out[0], i, load_element(out[0], i) + load_element(in[3], i));
    const double v = load_element(out[0], i);
    store_element(out[0], i, v < 0 ? 0 : v);
    if (mask != nullptr && !(v <= 0)) mask[i / 8] = static_cast<uint8_t>(mask[i / 8] | 1u << (i % 8));
  }
}

// in: dy, x, gamma, beta, mean, var [, y] [, dy2]; out: dx, dgamma, dbeta [, g].
void batch_norm_relu_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BatchNormReluGradAttrs>();
  const ChannelView v = channel_view(q.in[1]);
  std::vector<char> memory(static_cast<size_t>(q.in[0].nbytes()));
  const Buffer g{a.gives_g() ? out[3].data : memory.data(), in[0].meta}, before_relu{memory.data(), in[0].meta};
  for (int64_t c = 0; c < v.c; ++c) {
    const double scale = load_element(in[2], c) / std::sqrt(load_element(in[5], c) + a.eps);
    for_channel(v, c, [&](int64_t i) {
      double dy = load_element(in[0], i);
      if (a.sum) {
        store_element(g, i, dy + load_element(in.back(), i));
        dy = load_element(g, i);
      }
      store_element(before_relu, i, (load_element(in[1], i) - load_element(in[4], c)) * scale + load_element(in[3], c));
      const bool passes = a.mask ? mask_bit(in[6].as<const uint8_t>(), i) : !(load_element(a.residual ? in[6] : before_relu, i) <= 0);
      store_element(g, i, passes ? dy : 0);
    });
  }
  const Buffer plain[] = {g, in[1], in[2], in[4], in[5]};
  const TensorMeta metas[] = {q.in[0], q.in[1], q.in[2], q.in[4], q.in[5]};
  const Attrs attrs = Attrs::of(BatchNormAttrs{a.eps});
  batch_norm_grad({q.op, attrs, metas, q.out}, plain, out);
}

void layer_norm(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t width = q.in[1].numel(), rows = q.out[1].numel();
  const double eps = q.attrs.as<LayerNormAttrs>().eps;
  for (int64_t r = 0; r < rows; ++r) {
    const auto each = [&](auto&& f) {
      for (int64_t k = 0; k < width; ++k) f(r * width + k);
    };
    const MeanVar m = mean_var(in[0], width, each);
    const double inv_std = 1 / std::sqrt(m.var + eps);
    store_element(out[1], r, m.mean);
    store_element(out[2], r, inv_std);
    each([&](int64_t i) {
      store_element(out[0], i, (load_element(in[0], i) - m.mean) * inv_std * load_element(in[1], i - r * width) + load_element(in[2], i - r * width));
    });
  }
}

// in: dy, x, gamma, mean, inv_std.
void layer_norm_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t width = q.in[2].numel(), rows = q.in[3].numel();
  std::vector<double> dgamma(static_cast<size_t>(width)), dbeta(static_cast<size_t>(width));
  for (int64_t r = 0; r < rows; ++r) {
    const double mean = load_element(in[3], r), inv_std = load_element(in[4], r);
    double s1 = 0, s2 = 0;
    for (int64_t k = 0; k < width; ++k) {
      const double dy = load_element(in[0], r * width + k), xh = (load_element(in[1], r * width + k) - mean) * inv_std, g = dy * load_element(in[2], k);
      s1 += g;
      s2 += g * xh;
      dgamma[static_cast<size_t>(k)] += dy * xh;
      dbeta[static_cast<size_t>(k)] += dy;
    }
    s1 /= static_cast<double>(width);
    s2 /= static_cast<double>(width);
    for (int64_t k = 0; k < width; ++k) {
      const double xh = (load_element(in[1], r * width + k) - mean) * inv_std, g = load_element(in[0], r * width + k) * load_element(in[2], k);
      store_element(out[0], r * width + k, inv_std * (g - s1 - xh * s2));
    }
  }
  for (int64_t k = 0; k < width; ++k) {
    store_element(out[1], k, dgamma[static_cast<size_t>(k)]);
    store_element(out[2], k, dbeta[static_cast<size_t>(k)]);
  }
}

const bool kTrain = register_kernel({.op = "batch_norm_train", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_train});
const bool kInfer = register_kernel({.op = "batch_norm_infer", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_infer});
const bool kGrad = register_kernel({.op = "batch_norm_grad", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_grad});
const bool kRelu = register_kernel({.op = "batch_norm_relu", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_relu});
const bool kReluGrad = register_kernel({.op = "batch_norm_relu_grad", .name = "reference", .priority = kReferencePriority, .simple = batch_norm_relu_grad});
const bool kLayer = register_kernel({.op = "layer_norm", .name = "reference", .priority = kReferencePriority, .simple = layer_norm});
const bool kLayerGrad = register_kernel({.op = "layer_norm_grad", .name = "reference", .priority = kReferencePriority, .simple = layer_norm_grad});

}  // namespace
}  // namespace sindri::ops
