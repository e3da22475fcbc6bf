// See optimizer_simd.h. `omp simd` promises that iterations are independent, which holds when an output is exactly one of the
// states; __restrict would not.
#include "ops/optimizer/optimizer_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::widen;

// Numbers as in enum Velocity.
constexpr int kUpdate = 0, kNesterov = 1, kFirst = 2, kFirstNesterov = 3, kUnused = 4;

template <int kVelocity, class T, class G>
SINDRI_SIMD_INLINE void momentum_loop(const MomentumScalars& k, int64_t n, const T* p, const T* v, const G* g, T* new_p, T* new_v) {
  const T lr = static_cast<T>(k.lr), decay = static_cast<T>(k.weight_decay), scale = static_cast<T>(k.grad_scale), momentum = static_cast<T>(k.momentum),
          gain = static_cast<T>(k.gain);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i], d = static_cast<T>(widen(g[i])) * scale + decay * x;
    const T velocity = kVelocity == kUnused ? v[i] : kVelocity >= kFirst ? d : momentum * v[i] + gain * d;
    const T direction = kVelocity == kUnused ? d : kVelocity == kNesterov || kVelocity == kFirstNesterov ? d + momentum * velocity : velocity;
    new_p[i] = x - lr * direction;
    new_v[i] = velocity;
  }
}

template <bool kNesterovStep, class T, class G>
SINDRI_SIMD_INLINE void adam_loop(const AdamScalars& k, int64_t n, const T* p, const T* m, const T* v, const G* g, T* new_p, T* new_m, T* new_v) {
  const T lr = static_cast<T>(k.lr), l2 = static_cast<T>(k.l2), decay = static_cast<T>(k.decay), scale = static_cast<T>(k.grad_scale),
          eps = static_cast<T>(k.eps);
  const T b1 = static_cast<T>(k.beta1), b2 = static_cast<T>(k.beta2), c1 = static_cast<T>(1 - k.beta1), c2 = static_cast<T>(1 - k.beta2);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i], d = static_cast<T>(widen(g[i])) * scale + l2 * x;
    const T first = b1 * m[i] + c1 * d, second = b2 * v[i] + c2 * (d * d);
    const T direction = kNesterovStep ? b1 * first + c1 * d : first;
    const T ratio = direction / (simd_math::sqrt(second) + eps), step = direction == 0 ? direction : ratio;  // 0/0 where nothing has moved yet and eps is 0
    new_p[i] = x - lr * (step + decay * x);
    new_m[i] = first;
    new_v[i] = second;
  }
}

template <class T, class G>
SINDRI_SIMD_INLINE void momentum_typed(const MomentumScalars& k, int64_t n, const void* p_v, const void* v_v, const void* g_v, void* new_p_v, void* new_v_v) {
  const T *p = static_cast<const T*>(p_v), *v = static_cast<const T*>(v_v);
  const G* g = static_cast<const G*>(g_v);
  T *new_p = static_cast<T*>(new_p_v), *new_v = static_cast<T*>(new_v_v);
  switch (k.velocity) {
    case kUpdate: momentum_loop<kUpdate>(k, n, p, v, g, new_p, new_v); return;
    case kNesterov: momentum_loop<kNesterov>(k, n, p, v, g, new_p, new_v); return;
    case kFirst: momentum_loop<kFirst>(k, n, p, v, g, new_p, new_v); return;
    case kFirstNesterov: momentum_loop<kFirstNesterov>(k, n, p, v, g, new_p, new_v); return;
    default: momentum_loop<kUnused>(k, n, p, v, g, new_p, new_v);
  }
}

template <class T, class G> SINDRI_SIMD_INLINE void adam_typed(const AdamScalars& k, int64_t n, const void* p, const void* m, const void* v, const void* g,
                                                               void* new_p, void* new_m, void* new_v) {
  if (k.nesterov) {
    adam_loop<true>(k, n, static_cast<const T*>(p), static_cast<const T*>(m), static_cast<const T*>(v), static_cast<const G*>(g), static_cast<T*>(new_p),
                    static_cast<T*>(new_m), static_cast<T*>(new_v));
  } else {
    adam_loop<false>(k, n, static_cast<const T*>(p), static_cast<const T*>(m), static_cast<const T*>(v), static_cast<const G*>(g), static_cast<T*>(new_p),
                     static_cast<T*>(new_m), static_cast<T*>(new_v));
  }
}

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

void momentum_run(DType param_type, DType grad_type, const MomentumScalars& k, int64_t n, const void* p, const void* v, const void* g, void* new_p,
                  void* new_v) {
  if (param_type == DType::kFloat64) momentum_typed<double, double>(k, n, p, v, g, new_p, new_v);
  else if (grad_type == DType::kBFloat16) momentum_typed<float, Bf16>(k, n, p, v, g, new_p, new_v);
  else if (grad_type == DType::kFloat16) momentum_typed<float, F16>(k, n, p, v, g, new_p, new_v);
  else momentum_typed<float, float>(k, n, p, v, g, new_p, new_v);
}

void adam_run(DType param_type, DType grad_type, const AdamScalars& k, int64_t n, const void* p, const void* m, const void* v, const void* g, void* new_p,
              void* new_m, void* new_v) {
  if (param_type == DType::kFloat64) adam_typed<double, double>(k, n, p, m, v, g, new_p, new_m, new_v);
  else if (grad_type == DType::kBFloat16) adam_typed<float, Bf16>(k, n, p, m, v, g, new_p, new_m, new_v);
  else if (grad_type == DType::kFloat16) adam_typed<float, F16>(k, n, p, m, v, g, new_p, new_m, new_v);
  else adam_typed<float, float>(k, n, p, m, v, g, new_p, new_m, new_v);
}

}  // namespace sindri::SINDRI_SIMD_NS
