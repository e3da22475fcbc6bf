// The common op suite: every registered op, every sample, the same checks. An op without samples fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/kernel.h"
#include "source_dir.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

TensorList run(const Sample& s, const TensorList& in) {
  const OpDef& op = find_op(s.op);
  return sindri::bind(op, op.attrs.make(s.attrs), in);
}

// The inputs that the gradient covers: floating, of the type under test.
std::vector<int> differentiable_inputs(const Sample& s) {
  std::vector<int> out;
  for (size_t i = 0; i < s.args.size(); ++i) {
    const bool skipped = std::find(s.no_gradient.begin(), s.no_gradient.end(), static_cast<int>(i)) != s.no_gradient.end();
    if (!s.args[i].dtype && !skipped) out.push_back(static_cast<int>(i));
  }
  return out;
}

// Fixed weights in [-1, 1) that combine outputs to a scalar.
UnitValues weights_of(const Sample& s, int output) { return {s.op + "/" + s.name, 100 + output}; }
Tensor weight_like(const Sample& s, const Tensor& t, int output) {
  std::vector<double> w(static_cast<size_t>(t.numel()));
  const UnitValues u = weights_of(s, output);
  for (size_t i = 0; i < w.size(); ++i) w[i] = 2 * u(i) - 1;
  return Tensor::from_values(t.shape(), w, t.dtype());
}
TensorList seeds_for(const Sample& s, const TensorList& out) {
  TensorList seeds;
  for (size_t i = 0; i < out.size(); ++i) seeds.push_back(is_floating(out[i].dtype()) ? weight_like(s, out[i], static_cast<int>(i)) : Tensor());
  return seeds;
}

// The scalar, computed from results on the host.
double weighted_sum(const Sample& s, Span<const Tensor> out) {
  double total = 0;
  for (size_t o = 0; o < out.size(); ++o) {
    if (!is_floating(out[o].dtype())) continue;
    const std::vector<double> v = out[o].to_vector<double>();
    const UnitValues u = weights_of(s, static_cast<int>(o));
    for (size_t i = 0; i < v.size(); ++i) total += v[i] * (2 * u(i) - 1);
  }
  return total;
}

TensorList gradient(const Sample& s, const TensorList& in) {
  Tape tape;
  TensorList out;
  {
    const TraceScope scope(tape);
    out = run(s, in);
  }
  TensorList wrt;
  for (int i : differentiable_inputs(s)) wrt.push_back(in[static_cast<size_t>(i)]);
  TensorList used, seeds;
  const TensorList all_seeds = seeds_for(s, out);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!all_seeds[i].defined()) continue;
    used.push_back(out[i]);
    seeds.push_back(all_seeds[i]);
  }
  return tape.backward(used, seeds, wrt, {}).of_inputs;
}

// At most `limit` positions spread over n.
std::vector<int64_t> positions(int64_t n, int64_t limit) {
  std::vector<int64_t> p;
  const int64_t count = std::min(n, limit);
  for (int64_t i = 0; i < count; ++i) p.push_back(i * n / count);
  return p;
}

// Difference quotients of the weighted sum at these elements of an input. A device's results are copied to the host at once.
std::vector<double> central_differences(const Sample& s, const TensorList& in, int arg, const std::vector<int64_t>& elements) {
  const double step = 1e-6;
  const Tensor at = in[static_cast<size_t>(arg)].to({});
  TensorList results;
  for (const int64_t i : elements) {
    for (const double by : {step, -step}) {
      TensorList moved = in;
      moved[static_cast<size_t>(arg)] = nudged(at, i, by).to(in[static_cast<size_t>(arg)].device());
      for (const Tensor& t : run(s, moved)) results.push_back(t);
    }
  }
  results = to_host(results);
  const size_t count = elements.empty() ? 0 : results.size() / (2 * elements.size());
  std::vector<double> out;
  for (size_t k = 0; k < elements.size(); ++k) {
    const Span<const Tensor> up(results.data() + 2 * k * count, count), down(results.data() + (2 * k + 1) * count, count);
    out.push_back((weighted_sum(s, up) - weighted_sum(s, down)) / (2 * step));
  }
  return out;
}

Tolerance scaled(const Sample& s, DType t) {
  const Tolerance base = tolerance_of(t);
  return {base.relative * s.tolerance, base.absolute * s.tolerance};
}

bool all_fixed(const Sample& s) {
  return std::all_of(s.args.begin(), s.args.end(), [](const Arg& a) { return a.dtype.has_value(); });
}
std::vector<DType> float_types(const Sample& s) {
  if (all_fixed(s)) return {DType::kFloat32};
  if (!s.half) return {DType::kFloat64, DType::kFloat32};
  return {DType::kFloat64, DType::kFloat32, DType::kBFloat16, DType::kFloat16};
}

class OpSuite : public ::testing::TestWithParam<size_t> {
 protected:
  const Sample& sample() const { return all_samples()[GetParam()]; }
};

TEST_P(OpSuite, InferAgreesWithRunAndRepeats) {
  const Sample& s = sample();
  const TensorList in = make_inputs(s, DType::kFloat32);
  const OpDef& op = find_op(s.op);
  std::vector<TensorMeta> metas, planned_in, planned_out;
  for (const Tensor& t : in) metas.push_back(t.meta());
  infer_with_layout(op, op.attrs.make(s.attrs), metas, &planned_in, &planned_out, current_device());
  const TensorList a = run(s, in), b = run(s, in);
  ASSERT_EQ(a.size(), planned_out.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].meta(), planned_out[i]) << a[i].meta().str() << " planned " << planned_out[i].str();
    EXPECT_TRUE(same_bits(a[i], b[i])) << "second run differs";
  }
}

TEST_P(OpSuite, KernelsAgreeWithReference) {
  const Sample& s = sample();
  if (current_device().kind == Device::kCuda) return;  // its kernels are compared with the CPU below
  const std::vector<const KernelDef*> kernels = kernels_of(s.op);
  ASSERT_FALSE(kernels.empty()) << "no kernel";
  ASSERT_STREQ(kernels.back()->name, "reference") << "every op needs a reference kernel of the lowest priority";
  for (DType t : float_types(s)) {
    const TensorList in = make_inputs(s, t);
    TensorList expected;
    {
      const ForceKernel force("reference");
      expected = run(s, in);
    }
    for (const KernelDef* k : kernels) {
      if (std::string_view(k->name) == "reference") continue;
      const ForceKernel force(k->name);
      TensorList actual;
      try {
        actual = run(s, in);
      } catch (const DeviceError&) {
        continue;  // it was rejected, with a reason
      }
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(close(actual[i], expected[i], scaled(s, expected[i].dtype()))) << "kernel " << k->name << ", output " << i << ", " << dtype_name(t);
    }
  }
}

TEST_P(OpSuite, GradientIsNumericallyRight) {
  const Sample& s = sample();
  if (!s.gradient || find_op(s.op).vjp == nullptr || differentiable_inputs(s).empty()) return;
  const TensorList in = make_inputs(s, DType::kFloat64);
  const TensorList g = gradient(s, in);
  const std::vector<int> args = differentiable_inputs(s);
  for (size_t k = 0; k < args.size(); ++k) {
    const Tensor& x = in[static_cast<size_t>(args[k])];
    ASSERT_EQ(g[k].shape(), x.shape());
    ASSERT_EQ(g[k].dtype(), x.dtype());
    const std::vector<double> analytic = g[k].to_vector<double>();
    const std::vector<int64_t> elements = positions(x.numel(), 40);
    const std::vector<double> differences = central_differences(s, in, args[k], elements);
    for (size_t e = 0; e < elements.size(); ++e) {
      const int64_t at = elements[e];
      const double numeric = differences[e], value = analytic[static_cast<size_t>(at)];
      // The difference quotient itself carries about 1e-9 of rounding per unit of the sum.
      const double bound = s.tolerance * (1e-7 + 1e-5 * std::max(std::abs(numeric), std::abs(value)));
      ASSERT_NEAR(value, numeric, std::max(bound, 1e-7)) << "input " << args[k] << ", element " << at;
    }
  }
}

// Weights that combine the gradients to a scalar, different from those of the outputs.
Tensor second_weights(const Sample& s, const Tensor& t, size_t k) { return weight_like(s, t, 50 + static_cast<int>(k)); }
double weighted_gradient(const Sample& s, const TensorList& in) {
  const TensorList g = gradient(s, in);
  double total = 0;
  for (size_t k = 0; k < g.size(); ++k) {
    const std::vector<double> v = g[k].to_vector<double>();
    const UnitValues u = weights_of(s, 50 + static_cast<int>(k));
    for (size_t i = 0; i < v.size(); ++i) total += v[i] * (2 * u(i) - 1);
  }
  return total;
}
TensorList second_gradient(const Sample& s, const TensorList& in) {
  Tape tape;
  TensorList g, weights, wrt;
  {
    const TraceScope scope(tape);
    g = gradient(s, in);
  }
  for (size_t k = 0; k < g.size(); ++k) weights.push_back(second_weights(s, g[k], k));
  for (int i : differentiable_inputs(s)) wrt.push_back(in[static_cast<size_t>(i)]);
  return tape.backward(g, weights, wrt, {}).of_inputs;
}

// Every gradient can be differentiated, unless the op's documentation says "Differentiable once".
TEST_P(OpSuite, SecondDerivativeIsNumericallyRight) {
  const Sample& s = sample();
  if (!s.gradient || find_op(s.op).vjp == nullptr || differentiable_inputs(s).empty()) return;
  const TensorList in = make_inputs(s, DType::kFloat64);
  if (std::string_view(find_op(s.op).doc).find("Differentiable once") != std::string_view::npos) {
    EXPECT_THROW(second_gradient(s, in), ValueError) << "it is documented as differentiable once";
    return;
  }
  const TensorList second = second_gradient(s, in);
  const std::vector<int> args = differentiable_inputs(s);
  for (size_t k = 0; k < args.size(); ++k) {
    const Tensor& x = in[static_cast<size_t>(args[k])];
    ASSERT_EQ(second[k].shape(), x.shape());
    const std::vector<double> analytic = second[k].to_vector<double>();
    for (const int64_t at : positions(x.numel(), 8)) {
      constexpr double kStep = 1e-6;
      const Tensor host = x.to({});
      const auto moved = [&](double by) {
        TensorList there = in;
        there[static_cast<size_t>(args[k])] = nudged(host, at, by).to(x.device());
        return weighted_gradient(s, there);
      };
      const double numeric = (moved(kStep) - moved(-kStep)) / (2 * kStep), value = analytic[static_cast<size_t>(at)];
      const double bound = s.tolerance * (1e-6 + 1e-5 * std::max(std::abs(numeric), std::abs(value)));
      ASSERT_NEAR(value, numeric, bound) << "input " << args[k] << ", element " << at;
    }
  }
}

TEST_P(OpSuite, GraphEqualsEager) {
  const Sample& s = sample();
  const TensorList in = make_inputs(s, DType::kFloat32);
  const TensorList eager = run(s, in);
  CompiledFn f = compile([&](Span<const Tensor> x) { return run(s, TensorList(x.begin(), x.end())); });
  const TensorList once = f(in), again = f(in);
  ASSERT_EQ(once.size(), eager.size());
  for (size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(same_bits(once[i], eager[i])) << "first call";
    EXPECT_TRUE(same_bits(again[i], eager[i])) << "second call";
  }
}

// A device's result is bitwise identical to the CPU's, or on CUDA within the type's tolerance, both eagerly and compiled with every pass. Compiled, the first
// call runs op by op, the second is captured, and later ones replay the capture. Forward and backward are in one function, so that passes have a graph to work
// on.
TEST_P(OpSuite, ADeviceGivesTheNumbersOfTheCpu) {
  if (current_device().is_cpu()) return;  // main.cc chooses
  const Sample& s = sample();
  const bool back = s.gradient && find_op(s.op).vjp != nullptr && !differentiable_inputs(s).empty();
  const TensorFn both = [&](Span<const Tensor> x) {
    const TensorList in(x.begin(), x.end());
    TensorList out = run(s, in);
    if (!back) return out;
    for (const Tensor& g : gradient(s, in)) out.push_back(g);
    return out;
  };
  const auto expect_same = [&s](const TensorList& actual, const TensorList& expected, const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_FALSE(actual[i].device().is_cpu()) << what;
      if (current_device().kind != Device::kCuda) EXPECT_TRUE(same_bits(actual[i], expected[i])) << what << ", result " << i;
      else EXPECT_TRUE(close(actual[i], expected[i], scaled(s, expected[i].dtype()))) << what << ", result " << i;
    }
  };
  for (DType t : float_types(s)) {
    TensorList eager, compiled;
    {
      const DeviceScope host(Device{});
      const TensorList in = make_inputs(s, t);
      eager = both(in);
      compiled = compile(both)(in);
    }
    const TensorList in = make_inputs(s, t);
    expect_same(both(in), eager, fmt::format("{}, eager", dtype_name(t)));
    CompiledFn f = compile(both);
    TensorList first;
    for (int call = 1; call <= 4; ++call) {
      const TensorList now = f(in);
      expect_same(now, compiled, fmt::format("{}, compiled, call {}", dtype_name(t), call));
      if (call == 1) first = now;
      for (size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(same_bits(now[i], first[i])) << dtype_name(t) << ", call " << call << " differs from the first";
    }
  }
}

TEST_P(OpSuite, ChannelsLastEqualsContiguous) {
  const Sample& s = sample();
  const TensorList in = make_inputs(s, DType::kFloat32);
  TensorList moved = in;
  bool any = false;
  for (Tensor& t : moved) {
    if (t.rank() != 4) continue;
    t = convert_layout(t, Layout::kChannelsLast);
    any = true;
  }
  if (!any) return;
  const TensorList a = run(s, in), b = run(s, moved);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(close(b[i], a[i], scaled(s, a[i].dtype()))) << "output " << i;
}

TEST_P(OpSuite, HalfFollowsFloat32) {
  const Sample& s = sample();
  if (!s.half || all_fixed(s)) return;
  for (DType t : {DType::kBFloat16, DType::kFloat16}) {
    const TensorList half_in = make_inputs(s, t);
    TensorList exact_in = make_inputs(s, DType::kFloat32);
    for (size_t i = 0; i < exact_in.size(); ++i) {
      if (!s.args[i].dtype) exact_in[i] = Tensor::from_values(half_in[i].shape(), half_in[i].to_vector<double>(), DType::kFloat32);
    }
    const TensorList half = run(s, half_in), exact = run(s, exact_in);
    for (size_t i = 0; i < half.size(); ++i) {
      if (is_floating(half[i].dtype())) { EXPECT_TRUE(close(half[i], exact[i], scaled(s, t))) << dtype_name(t) << ", output " << i; }
    }
  }
}

// Stored PyTorch results: tests/ops/expectations/<op>.txt, lines "sample kind index count value…" (make_op_expectations.py).
using Expectations = std::map<std::string, std::vector<double>>;
const Expectations& expectations_of(const std::string& op) {
  static std::map<std::string, Expectations> cache;
  const auto [it, fresh] = cache.try_emplace(op);
  if (!fresh) return it->second;
  std::ifstream f(std::string(SINDRI_SOURCE_DIR) + "/tests/ops/expectations/" + op + ".txt");
  for (std::string line; std::getline(f, line);) {
    std::istringstream words(line);
    std::string sample, kind, word;
    int index = 0;
    int64_t count = 0;
    words >> sample >> kind >> index >> count;
    std::vector<double>& v = it->second[fmt::format("{} {} {}", sample, kind, index)];
    while (words >> word) v.push_back(std::strtod(word.c_str(), nullptr));  // reads nan and inf, unlike operator>>
    EXPECT_EQ(v.size(), static_cast<size_t>(std::min<int64_t>(count, 200))) << op << ": " << sample;
  }
  return it->second;
}

void expect_stored(const std::vector<double>& stored, const Tensor& actual, Tolerance tol, const std::string& what) {
  const std::vector<double> a = actual.to_vector<double>();
  const std::vector<int64_t> at = positions(actual.numel(), 200);
  ASSERT_EQ(stored.size(), at.size()) << what;
  for (size_t i = 0; i < at.size(); ++i) {
    const double v = a[static_cast<size_t>(at[i])], e = stored[i];
    if (v == e || (std::isnan(v) && std::isnan(e))) continue;
    ASSERT_NEAR(v, e, tol.relative * std::abs(e) + tol.absolute) << what << ", element " << at[i];
  }
}

TEST_P(OpSuite, AgreesWithStoredPyTorch) {
  const Sample& s = sample();
  const Expectations& stored = expectations_of(s.op);
  if (!s.torch || !stored.contains(s.name + " out 0")) return;
  for (DType t : {DType::kFloat64, DType::kFloat32}) {
    const TensorList in = make_inputs(s, t);
    const TensorList out = run(s, in);
    for (size_t i = 0; i < out.size(); ++i) {
      const auto e = stored.find(fmt::format("{} out {}", s.name, i));
      if (e != stored.end()) expect_stored(e->second, out[i], scaled(s, t), fmt::format("output {} in {}", i, dtype_name(t)));
    }
    if (t == DType::kFloat32 || !stored.contains(s.name + " grad 0")) continue;
    const TensorList g = gradient(s, in);
    for (size_t k = 0; k < g.size(); ++k) {
      const auto e = stored.find(fmt::format("{} grad {}", s.name, differentiable_inputs(s)[k]));
      if (e != stored.end()) expect_stored(e->second, g[k], {1e-9 * s.tolerance, 1e-11 * s.tolerance}, fmt::format("gradient {}", k));
    }
  }
}

std::string sample_name(const ::testing::TestParamInfo<size_t>& info) {
  const Sample& s = all_samples()[info.param];
  std::string n = s.op + "_" + s.name;
  for (char& c : n)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return n;
}
std::vector<size_t> indices() {
  std::vector<size_t> v(all_samples().size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = i;
  return v;
}

}  // namespace

// gtest calls indices() when the tests are registered, after the initialisers of all sample files.
INSTANTIATE_TEST_SUITE_P(Samples, OpSuite, ::testing::ValuesIn(indices()), sample_name);

TEST(OpTable, EveryOpHasSamples) {
  std::set<std::string> sampled;
  for (const Sample& s : all_samples()) sampled.insert(s.op);
  for (const OpDef* op : all_ops()) EXPECT_TRUE(sampled.contains(op->name)) << "op '" << op->name << "' has no samples in tests/ops";
}

TEST(OpTable, EverySampleNamesAnOpOnce) {
  std::set<std::string> seen;
  for (const Sample& s : all_samples()) {
    EXPECT_NO_THROW(find_op(s.op));
    EXPECT_TRUE(seen.insert(s.op + "/" + s.name).second) << s.op << "/" << s.name << " appears twice";
  }
}

TEST(OpTable, EveryOpIsDocumented) {
  for (const OpDef* op : all_ops()) EXPECT_GT(std::string_view(op->doc).size(), 20u) << op->name;
}

}  // namespace sindri::test
