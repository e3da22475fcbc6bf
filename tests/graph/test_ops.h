// Ops of this test program, so that tests of the graph do not depend on the op library: elementwise ones, an update op with two outputs, ops of either layout
// rule, a random one and one with a host effect. All float32.
//
//   test_add(a, b), test_mul(a, b), test_relu(x), test_scale(x) {factor}, test_full() {shape, value}, test_sum(x) -> [],
//   test_update(p, v, g) -> {p - v', v' = v / 2 + g}, test_nhwc(x), test_nchw(x) (identities that accept one layout),
//   test_random(key) {instance}, test_effect(x) (counts its runs), test_log(x) (not finite for x <= 0), test_outer(a, b),
//   test_positive(x) (throws if the first element is negative)
#pragma once

#include <vector>

#include "sindri/graph/graph.h"
#include "sindri/op/bind.h"

namespace sindri::test {

/// Runs the named test op on tensors through bind.
std::vector<Tensor> call(const char* op, std::initializer_list<Tensor> in, const AttrFields& attrs = {});
inline Tensor call1(const char* op, std::initializer_list<Tensor> in, const AttrFields& attrs = {}) { return call(op, in, attrs)[0]; }
inline Tensor add(const Tensor& a, const Tensor& b) { return call1("test_add", {a, b}); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return call1("test_mul", {a, b}); }
inline Tensor relu(const Tensor& x) { return call1("test_relu", {x}); }
inline Tensor scale(const Tensor& x, double factor) { return call1("test_scale", {x}, {{"factor", factor}}); }

/// The number of runs of test_effect.
int effect_runs();

inline Tensor vec(const std::vector<double>& v) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v); }
inline std::vector<double> values(const Tensor& t) { return t.to_vector<double>(); }
/// Same meta and bytes.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace sindri::test
