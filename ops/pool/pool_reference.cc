// Reference kernels of pooling: every window of every channel visited in order, in double.
#include <cmath>

#include "ops/pool/pool_common.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

struct Window {
  int64_t n, c, oh, ow;
};

template <class F> void for_windows(const ImageView& y, F&& f) {
  for (int64_t n = 0; n < y.n; ++n)
    for (int64_t c = 0; c < y.c; ++c)
      for (int64_t oh = 0; oh < y.h; ++oh)
        for (int64_t ow = 0; ow < y.w; ++ow) f(Window{n, c, oh, ow});
}

// Calls f(offset in x, position in the window) for the elements of a window.
template <class F> void for_window(const ImageView& x, const PoolAxis& rows, const PoolAxis& cols, const Window& o, int64_t kernel_w, F&& f) {
  const auto oh = static_cast<size_t>(o.oh), ow = static_cast<size_t>(o.ow);
  for (int64_t h = rows.begin[oh]; h < rows.end[oh]; ++h)
    for (int64_t w = cols.begin[ow]; w < cols.end[ow]; ++w) f(x.at(o.n, o.c, h, w), (h - rows.start[oh]) * kernel_w + w - cols.start[ow]);
}

int64_t load_index(const Buffer& b, int64_t i) { return b.meta->dtype == DType::kUInt8 ? b.as<uint8_t>()[i] : b.as<int32_t>()[i]; }
void store_index(const Buffer& b, int64_t i, int64_t v) {
  if (b.meta->dtype == DType::kUInt8) b.as<uint8_t>()[i] = static_cast<uint8_t>(v);
  else b.as<int32_t>()[i] = static_cast<int32_t>(v);
}
void clear(const Buffer& b) {
  for (int64_t i = 0; i < b.meta->numel(); ++i) store_element(b, i, 0);
}

void max_pool(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<Pool2dAttrs>();
  const ImageView x = image_view(q.in[0]), y = image_view(q.out[0]);
  const PoolAxis rows = pool_axis(a, 0, x.h), cols = pool_axis(a, 1, x.w);
  for_windows(y, [&](const Window& o) {
    double best = -HUGE_VAL;
    int64_t place = -1;
    for_window(x, rows, cols, o, a.kernel[1], [&](int64_t i, int64_t k) {
      const double v = load_element(in[0], i);
      if (place < 0 || v > best || std::isnan(v)) {
        best = v;
        place = k;
      }
    });
    store_element(out[0], y.at(o.n, o.c, o.oh, o.ow), best);
    store_index(out[1], y.at(o.n, o.c, o.oh, o.ow), place);
  });
}

// Calls f(offset in x, offset in y) for the element of each argmax.
template <class F> void for_argmax(const Pool2dAttrs& a, const ImageView& x, const ImageView& y, const Buffer& argmax, F&& f) {
  const PoolAxis rows = pool_axis(a, 0, x.h), cols = pool_axis(a, 1, x.w);
  for_windows(y, [&](const Window& o) {
    const int64_t j = y.at(o.n, o.c, o.oh, o.ow), place = load_index(argmax, j);
    for_window(x, rows, cols, o, a.kernel[1], [&](int64_t i, int64_t k) {
      if (k == place) f(i, j);
    });
  });
}

void max_pool_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  // Summed in double: overlapping windows may share a maximum.
  std::vector<double> dx(static_cast<size_t>(q.out[0].numel()));
  std::vector<char> memory(in.size() > 2 ? static_cast<size_t>(q.in[0].nbytes()) : 0);
  const Buffer sum{memory.data(), in[0].meta};
  for (int64_t j = 0, n = q.in[0].numel(); j < n && in.size() > 2; ++j) store_element(sum, j, load_element(in[0], j) + load_element(in[2], j));
  const Buffer& dy = in.size() > 2 ? sum : in[0];
  for_argmax(q.attrs.as<Pool2dGradAttrs>().forward(), image_view(q.out[0]), image_view(q.in[0]), in[1],
             [&](int64_t i, int64_t j) { dx[static_cast<size_t>(i)] += load_element(dy, j); });
  for (size_t i = 0; i < dx.size(); ++i) store_element(out[0], static_cast<int64_t>(i), dx[i]);
}

void max_pool_take(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  clear(out[0]);
  for_argmax(q.attrs.as<Pool2dAttrs>(), image_view(q.in[0]), image_view(q.out[0]), in[1],
             [&](int64_t i, int64_t j) { store_element(out[0], j, load_element(in[0], i)); });
}

void average(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, const PoolAxis& rows, const PoolAxis& cols) {
  const ImageView x = image_view(q.in[0]), y = image_view(q.out[0]);
  for_windows(y, [&](const Window& o) {
    double sum = 0;
    for_window(x, rows, cols, o, 0, [&](int64_t i, int64_t) { sum += load_element(in[0], i); });
    store_element(out[0], y.at(o.n, o.c, o.oh, o.ow),
                  sum / static_cast<double>(rows.divisor[static_cast<size_t>(o.oh)] * cols.divisor[static_cast<size_t>(o.ow)]));
  });
}

void average_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, const PoolAxis& rows, const PoolAxis& cols) {
  const ImageView x = image_view(q.out[0]), y = image_view(q.in[0]);
  std::vector<double> dx(static_cast<size_t>(q.out[0].numel()));
  for_windows(y, [&](const Window& o) {
    const double share = load_element(in[0], y.at(o.n, o.c, o.oh, o.ow)) /
        static_cast<double>(rows.divisor[static_cast<size_t>(o.oh)] * cols.divisor[static_cast<size_t>(o.ow)]);
    for_window(x, rows, cols, o, 0, [&](int64_t i, int64_t) { dx[static_cast<size_t>(i)] += share; });
  });
  for (size_t i = 0; i < dx.size(); ++i) store_element(out[0], static_cast<int64_t>(i), dx[i]);
}

void avg_pool(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<Pool2dAttrs>();
  average(q, in, out, pool_axis(a, 0, q.in[0].shape[2]), pool_axis(a, 1, q.in[0].shape[3]));
}
void avg_pool_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Pool2dAttrs a = q.attrs.as<Pool2dGradAttrs>().forward();
  average_grad(q, in, out, pool_axis(a, 0, q.out[0].shape[2]), pool_axis(a, 1, q.out[0].shape[3]));
}
void adaptive_pool(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  average(q, in, out, adaptive_pool_axis(q.in[0].shape[2], q.out[0].shape[2]), adaptive_pool_axis(q.in[0].shape[3], q.out[0].shape[3]));
}
void adaptive_pool_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const PoolAxis rows = adaptive_pool_axis(q.out[0].shape[2], q.in[0].shape[2]), cols = adaptive_pool_axis(q.out[0].shape[3], q.in[0].shape[3]);
  if (in.size() < 2) return average_grad(q, in, out, rows, cols);
  std::vector<char> memory(static_cast<size_t>(q.out[0].nbytes()));  // the addend may share dx's memory
  const Buffer g{memory.data(), out[0].meta};
  average_grad(q, in.subspan(0, 1), {&g, 1}, rows, cols);
  const ImageView x = image_view(q.out[0]);
  for_windows(x, [&](const Window& o) {
    const int64_t i = x.at(o.n, o.c, o.oh, o.ow);
    const double unpooled = load_element(g, i);
    store_element(g, i, load_element(in[1], i) * (in.size() > 2 ? load_element(in[2], o.n * x.c + o.c) : 1));
    store_element(out[0], i, load_element(g, i) + unpooled);
  });
}

bool reference(const char* op, SimpleKernelFn fn) { return register_kernel({.op = op, .name = "reference", .priority = kReferencePriority, .simple = fn}); }
const bool kMax = reference("max_pool2d", max_pool);
const bool kMaxGrad = reference("max_pool2d_grad", max_pool_grad);
const bool kMaxTake = reference("max_pool2d_take", max_pool_take);
const bool kAvg = reference("avg_pool2d", avg_pool);
const bool kAvgGrad = reference("avg_pool2d_grad", avg_pool_grad);
const bool kAdaptive = reference("adaptive_avg_pool2d", adaptive_pool);
const bool kAdaptiveGrad = reference("adaptive_avg_pool2d_grad", adaptive_pool_grad);

}  // namespace
}  // namespace sindri::ops
