// See test_ops.h. Kernels are plain loops in physical order.
#include "tests/graph/test_ops.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "sindri/core/error.h"
#include "sindri/op/kernel.h"

namespace sindri::test {

namespace {

struct ScaleAttrs {
  double factor = 1;
  SINDRI_ATTRS(ScaleAttrs, factor)
};
struct FullAttrs {
  Shape shape;
  double value = 0;
  SINDRI_ATTRS(FullAttrs, shape, value)
};
struct RandomAttrs {
  int64_t instance = 0;
  SINDRI_ATTRS(RandomAttrs, instance)
};

std::vector<TensorMeta> like_input0(const Attrs&, Span<const TensorMeta> in) { return {in[0]}; }
std::vector<TensorMeta> same_shapes(const Attrs&, Span<const TensorMeta> in) {
  check_arity("test_add", in, 2);
  if (in[0].shape != in[1].shape) throw ShapeError("test_add: shapes " + in[0].shape.str() + " and " + in[1].shape.str() + " differ");
  return {in[0]};
}

constexpr OpTraits kElementwise{.layout = LayoutRule::kAgnostic, .inplace_input = 0, .elementwise = true};

template <class F> void map1(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, F f) {
  for (int64_t i = 0; i < q.out[0].numel(); ++i) out[0].as<float>()[i] = f(in[0].as<const float>()[i]);
}
template <class F> void map2(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, F f) {
  for (int64_t i = 0; i < q.out[0].numel(); ++i) out[0].as<float>()[i] = f(in[0].as<const float>()[i], in[1].as<const float>()[i]);
}
void copy(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  map1(q, in, out, [](float x) { return x; });
}

int g_effects = 0;

using In = Span<const Buffer>;
using Infer = std::vector<TensorMeta> (*)(const Attrs&, Span<const TensorMeta>);
template <class AttrsStruct = NoAttrs> bool define(const char* name, OpTraits traits, Infer infer, SimpleKernelFn kernel) {
  register_op({.name = name, .doc = "", .attrs = attrs_type<AttrsStruct>(), .traits = traits, .infer = infer});
  return register_kernel({.op = name, .name = "reference", .simple = kernel});
}
std::vector<TensorMeta> f32(const Shape& shape) {
  TensorMeta m;
  m.shape = shape;
  return {m};
}

const bool kDefined[] = {
    define("test_add", kElementwise, same_shapes, [](const KernelQuery& q, In in, In out) { map2(q, in, out, [](float a, float b) { return a + b; }); }),
    define("test_mul", kElementwise, same_shapes, [](const KernelQuery& q, In in, In out) { map2(q, in, out, [](float a, float b) { return a * b; }); }),
    define("test_relu", kElementwise, like_input0, [](const KernelQuery& q, In in, In out) { map1(q, in, out, [](float x) { return x > 0 ? x : 0.0f; }); }),
    define("test_log", kElementwise, like_input0, [](const KernelQuery& q, In in, In out) { map1(q, in, out, [](float x) { return std::log(x); }); }),
    define<ScaleAttrs>("test_scale", kElementwise, like_input0,
                       [](const KernelQuery& q, In in, In out) {
                         const auto f = static_cast<float>(q.attrs.as<ScaleAttrs>().factor);
                         map1(q, in, out, [f](float x) { return f * x; });
                       }),
    define<FullAttrs>(
        "test_full", OpTraits{}, [](const Attrs& a, Span<const TensorMeta>) { return f32(a.as<FullAttrs>().shape); },
        [](const KernelQuery& q, In, In out) {
          for (int64_t i = 0; i < q.out[0].numel(); ++i) out[0].as<float>()[i] = static_cast<float>(q.attrs.as<FullAttrs>().value);
        }),
    define(
        "test_sum", OpTraits{}, [](const Attrs&, Span<const TensorMeta>) { return f32({}); },
        [](const KernelQuery& q, In in, In out) {
          float s = 0;
          for (int64_t i = 0; i < q.in[0].numel(); ++i) s += in[0].as<const float>()[i];
          *out[0].as<float>() = s;
        }),
    // [n], [m] -> [n, m]: reads an operand again after it has written, so it must never run in place.
    define(
        "test_outer", OpTraits{},
        [](const Attrs&, Span<const TensorMeta> in) {
          return f32({in[0].numel(), in[1].numel()});
        },
        [](const KernelQuery& q, In in, In out) {
          const int64_t n = q.in[1].numel();
          for (int64_t i = 0; i < q.out[0].numel(); ++i) out[0].as<float>()[i] = in[0].as<const float>()[i / n] * in[1].as<const float>()[i % n];
        }),
    define(
        "test_update", OpTraits{.inplace_pairs = 0b11},
        [](const Attrs&, Span<const TensorMeta> in) {
          return std::vector<TensorMeta>{in[0], in[1]};
        },
        [](const KernelQuery& q, In in, In out) {
          for (int64_t i = 0; i < q.out[0].numel(); ++i) {
            const float v = in[1].as<const float>()[i] * 0.5f + in[2].as<const float>()[i], p = in[0].as<const float>()[i] - v;
            out[0].as<float>()[i] = p;
            out[1].as<float>()[i] = v;
          }
        }),
    define("test_nhwc", OpTraits{.layout = LayoutRule::kChannelsLastPreferred}, like_input0, copy),
    define("test_nchw", OpTraits{.layout = LayoutRule::kContiguousOnly}, like_input0, copy),
    define<RandomAttrs>("test_random", OpTraits{.random = true}, like_input0, copy),
    define("test_positive", OpTraits{}, like_input0,
           [](const KernelQuery& q, In in, In out) {
             if (in[0].as<const float>()[0] < 0) throw ValueError("test_positive: found a negative value");
             copy(q, in, out);
           }),
    define("test_effect", OpTraits{.host_effect = true}, like_input0,
           [](const KernelQuery& q, In in, In out) {
             ++g_effects;
             copy(q, in, out);
           }),
};

// Every graph of this program is checked after every pass.
const bool kVerify = setenv("SINDRI_VERIFY_GRAPH", "1", 1) == 0;

}  // namespace

std::vector<Tensor> call(const char* op, std::initializer_list<Tensor> in, const AttrFields& attrs) {
  const OpDef& def = find_op(op);
  return sindri::bind(def, def.attrs.make(attrs), in);
}
int effect_runs() { return g_effects; }

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.meta() == b.meta() && (a.nbytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.nbytes())) == 0);
}

}  // namespace sindri::test
