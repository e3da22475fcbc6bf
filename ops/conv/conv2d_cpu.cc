// Reference kernels of conv2d, its gradients and its form with bias: the definition, element by element, with sums in double.
#include <vector>

#include "ops/conv/conv_geometry.h"
#include "src/op/element.h"

namespace sindri {
namespace {

using conv::ConvGeometry;

// Offset of element (n, c, h, w) of a rank-4 tensor in either layout.
class Index4 {
 public:
  explicit Index4(const TensorMeta& m) {
    const int64_t c = m.shape[1], h = m.shape[2], w = m.shape[3];
    if (m.layout == Layout::kChannelsLast) n_ = h * w * c, h_ = w * c, w_ = c, c_ = 1;
    else n_ = c * h * w, c_ = h * w, h_ = w, w_ = 1;
  }
  int64_t operator()(int64_t n, int64_t c, int64_t h, int64_t w) const { return n * n_ + c * c_ + h * h_ + w * w_; }

 private:
  int64_t n_, c_, h_, w_;
};

// Calls f(n, o, i, j, c, h, w, p, q) for every product x[n, c, h, w] * weight[o, c % group, p, q] that contributes to y[n, o, i, j].
template <class F> void for_each_product(const ConvGeometry& g, F&& f) {
  const int64_t cg = g.c_per_group(), og = g.o_per_group();
  for (int64_t n = 0; n < g.n; ++n)
    for (int64_t o = 0; o < g.o; ++o)
      for (int64_t i = 0; i < g.oh; ++i)
        for (int64_t j = 0; j < g.ow; ++j)
          for (int64_t k = 0; k < cg; ++k)
            for (int64_t p = 0; p < g.kh; ++p) {
              const int64_t h = i * g.stride_h + p * g.dilation_h - g.pad_top;
              if (h < 0 || h >= g.h) continue;
              for (int64_t q = 0; q < g.kw; ++q) {
                const int64_t w = j * g.stride_w + q * g.dilation_w - g.pad_left;
                if (w < 0 || w >= g.w) continue;
                f(n, o, i, j, o / og * cg + k, h, w, k, p, q);
              }
            }
}

// Applies conv2d_bias_act's bias, residual and relu to the sums.
void finish(const KernelQuery& q, Span<const Buffer> in, const Index4& at_out, std::vector<double>* sum) {
  const Shape& y = q.out[0].shape;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t o = 0; o < y[1]; ++o)
      for (int64_t i = 0; i < y[2]; ++i)
        for (int64_t j = 0; j < y[3]; ++j) {
          const int64_t at = at_out(n, o, i, j);
          double& v = (*sum)[static_cast<size_t>(at)];
          v += load_element(in[2], o) + (in.size() > 3 ? load_element(in[3], at) : 0);
          if (q.attrs.as<conv::Conv2dBiasActAttrs>().relu && v < 0) v = 0;
        }
}

template <class T> void reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const ConvGeometry g = conv::geometry_of(q);
  const conv::Direction direction = conv::direction_of(q);
  const Index4 at_a(q.in[0]), at_b(q.in[1]), at_out(q.out[0]);
  const T *a = in[0].as<const T>(), *b = in[1].as<const T>();
  std::vector<double> sum(static_cast<size_t>(q.out[0].numel()), 0.0);
  const auto add = [&](int64_t to, int64_t from_a, int64_t from_b) {
    sum[static_cast<size_t>(to)] += static_cast<double>(a[from_a]) * static_cast<double>(b[from_b]);
  };
  for_each_product(g, [&](int64_t n, int64_t o, int64_t i, int64_t j, int64_t c, int64_t h, int64_t w, int64_t k, int64_t r, int64_t s) {
    switch (direction) {
      case conv::Direction::kForward: return add(at_out(n, o, i, j), at_a(n, c, h, w), at_b(o, k, r, s));
      case conv::Direction::kInputGrad: return add(at_out(n, c, h, w), at_a(n, o, i, j), at_b(o, k, r, s));
      case conv::Direction::kWeightGrad: return add(at_out(o, k, r, s), at_a(n, o, i, j), at_b(n, c, h, w));
    }
  });
  if (q.in.size() > 2) finish(q, in, at_out, &sum);
  T* y = out[0].as<T>();
  for (size_t i = 0; i < sum.size(); ++i) y[i] = static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(sum[i]));
}

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  switch (q.in[0].dtype) {
    case DType::kFloat16: return reference<float16>(q, in, out);
    case DType::kBFloat16: return reference<bfloat16>(q, in, out);
    case DType::kFloat32: return reference<float>(q, in, out);
    default: return reference<double>(q, in, out);
  }
}

const bool kForward = register_kernel({.op = "conv2d", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kInputGrad = register_kernel({.op = "conv2d_input_grad", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kBiasAct = register_kernel({.op = "conv2d_bias_act", .name = "reference", .priority = kReferencePriority, .simple = run_reference});
const bool kWeightGrad = register_kernel({.op = "conv2d_weight_grad", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
