// See optimizer_simd.h. `omp simd` asserts that iterations are independent, which also holds if an output is exactly one of
// the states; __restrict would not hold then.
#include "ops/optimizer/optimizer_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::widen;

template <class Rule, class T, class G> SINDRI_SIMD_INLINE void rule_loop(const double* k, int64_t n, const void* const* in, void* const* out) {
  if constexpr (requires { typename Rule::Special; })
    if (Rule::is_special(k)) return rule_loop<typename Rule::Special, T, G>(k, n, in, out);
  constexpr int kStates = Rule::kStates;
  const Rule rule(k);
  const T scale = static_cast<T>(k[0]), decay = static_cast<T>(k[1]);
  const auto state = [&](int i) { return static_cast<const T*>(in[i <= kStates ? i : 0]); };
  const auto new_state = [&](int i) { return static_cast<T*>(out[i <= kStates ? i : 0]); };
  const T *p = state(0), *s1 = state(1), *s2 = state(2), *s3 = state(3);
  T *new_p = new_state(0), *new_s1 = new_state(1), *new_s2 = new_state(2), *new_s3 = new_state(3);
  const G* g = static_cast<const G*>(in[kStates + 1]);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    T x = p[i], a = s1[i], b = 0, c = 0;
    if constexpr (kStates > 1) b = s2[i];
    if constexpr (kStates > 2) c = s3[i];
    rule(x, a, b, c, static_cast<T>(widen(g[i])) * scale + decay * x);
    new_p[i] = x;
    new_s1[i] = a;
    if constexpr (kStates > 1) new_s2[i] = b;
    if constexpr (kStates > 2) new_s3[i] = c;
  }
}

template <template <class> class Rule>
SINDRI_SIMD_INLINE void rule_typed(DType param_type, DType grad_type, const double* k, int64_t n, const void* const* in, void* const* out) {
  if (param_type == DType::kFloat64) rule_loop<Rule<double>, double, double>(k, n, in, out);
  else if (grad_type == DType::kBFloat16) rule_loop<Rule<float>, float, Bf16>(k, n, in, out);
  else if (grad_type == DType::kFloat16) rule_loop<Rule<float>, float, F16>(k, n, in, out);
  else rule_loop<Rule<float>, float, float>(k, n, in, out);
}

}  // namespace

void rule_run(UpdateRuleId rule, DType param_type, DType grad_type, const double* numbers, int64_t n, const void* const* in, void* const* out) {
  switch (rule) {
#define SINDRI_UPDATE_RULE_CASE(name) \
  case UpdateRuleId::k##name: return rule_typed<update_rules::name>(param_type, grad_type, numbers, n, in, out);
    SINDRI_UPDATE_RULES(SINDRI_UPDATE_RULE_CASE)
#undef SINDRI_UPDATE_RULE_CASE
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
