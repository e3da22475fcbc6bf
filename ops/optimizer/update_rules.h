// Update rules as arithmetic on one element, written once for every element type, instruction set and kernel. A rule's numbers are
// doubles: k[0] scales the gradient and k[1] is its weight decay, both applied by the loops; the rule reads those from k[2] on in the
// order of its constructor. To add a rule, write it here, list it in SINDRI_UPDATE_RULES, and define its op in a file in this folder
// (like adagrad.cc).
//
// Everything has internal linkage: *_simd.cc files are compiled per instruction set. optimizer_cuda.cu compiles the same rules for GPUs.
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#include <cmath>
/// For members and functions that are compiled for hosts and devices.
#define SINDRI_RULE_MEMBER __host__ __device__ __forceinline__
#define SINDRI_RULE_FUNCTION static __host__ __device__ __forceinline__
#else
#include "src/device/cpu/simd_math.h"
#define SINDRI_RULE_MEMBER SINDRI_SIMD_MEMBER
#define SINDRI_RULE_FUNCTION SINDRI_SIMD_INLINE
#endif

#define SINDRI_UPDATE_RULES(X) \
  X(GradientDescent) \
  X(Momentum) \
  X(MomentumNesterov) \
  X(MomentumFirst) \
  X(MomentumFirstNesterov) \
  X(Adam) X(AdamNesterov) X(Adagrad) X(Adadelta) X(RmsProp) X(RmsPropCentered) X(Ftrl) X(AdaMax) X(AmsGrad) X(LambDirection)

namespace sindri {

enum class UpdateRuleId : uint8_t {
#define SINDRI_UPDATE_RULE_ID(name) k##name,
  SINDRI_UPDATE_RULES(SINDRI_UPDATE_RULE_ID)
#undef SINDRI_UPDATE_RULE_ID
};

inline constexpr int kMaxRuleNumbers = 8, kMaxRuleStates = 3, kMaxRuleScalars = 3;

/// How the scalars of an update op, which are tensors, become numbers of its rule (put_scalars).
enum class ScalarUse : uint8_t {
  kLr,  ///< lr
  kLrMomentum,  ///< lr, momentum
  kAdam,  ///< lr, beta1_power, beta2_power: lr holds both bias corrections
  kAdaMax,  ///< lr, beta1_power: lr holds the correction of m
  kLamb,  ///< beta1_power, beta2_power: the rule's last numbers
};

}  // namespace sindri

namespace sindri::update_rules {
namespace {

#ifdef __CUDACC__
using std::abs, std::sqrt;
SINDRI_RULE_FUNCTION float power(float x, float y) { return ::powf(x, y); }
SINDRI_RULE_FUNCTION double power(double x, double y) { return ::pow(x, y); }
#else
using simd_math::abs, simd_math::sqrt;
SINDRI_RULE_FUNCTION float power(float x, float y) { return __builtin_powf(x, y); }
SINDRI_RULE_FUNCTION double power(double x, double y) { return __builtin_pow(x, y); }
#endif

/// Writes the numbers that depend on scalars into k.
SINDRI_RULE_FUNCTION void put_scalars(ScalarUse use, const double* s, double* k) {
  switch (use) {
    case ScalarUse::kLr: k[2] = s[0]; return;
    case ScalarUse::kLrMomentum: k[2] = s[0], k[3] = s[1]; return;
    case ScalarUse::kAdam: k[2] = s[0] * sqrt(1 - s[2]) / (1 - s[1]); return;
    case ScalarUse::kAdaMax: k[2] = s[0] / (1 - s[1]); return;
    case ScalarUse::kLamb: k[6] = 1 - s[0], k[7] = 1 - s[1]; return;
  }
}

template <class T> SINDRI_RULE_FUNCTION T larger(T a, T b) { return a > b || a != a ? a : b; }  // NaN propagates, as in ops::maximum

/// m / d, and 0 for a numerator of 0: if nothing has moved yet and no epsilon is added, d is 0 as well.
template <class T> SINDRI_RULE_FUNCTION T quotient(T m, T d) {
  const T q = m / d;  // before the selection, which vectors do by a mask
  return m == 0 ? m : q;
}

// Each operator() gets the parameter, three states (a rule uses only those that it has) and the gradient.

/// v = momentum·v + gain·g, or v = g in a first step; p -= lr·v, with nesterov p -= lr·(g + momentum·v).
template <class T, bool kFirst, bool kNesterov> struct MomentumOf {
  static constexpr int kStates = 1;
  T lr, momentum, gain;
  SINDRI_RULE_MEMBER explicit MomentumOf(const double* k) : lr(static_cast<T>(k[2])), momentum(static_cast<T>(k[3])), gain(static_cast<T>(k[4])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& v, T&, T&, T g) const {
    v = kFirst ? g : momentum * v + gain * g;
    p -= lr * (kNesterov ? g + momentum * v : v);
  }
};
template <class T> struct Momentum : MomentumOf<T, false, false> { using MomentumOf<T, false, false>::MomentumOf; };
template <class T> struct MomentumNesterov : MomentumOf<T, false, true> { using MomentumOf<T, false, true>::MomentumOf; };
template <class T> struct MomentumFirst : MomentumOf<T, true, false> { using MomentumOf<T, true, false>::MomentumOf; };
template <class T> struct MomentumFirstNesterov : MomentumOf<T, true, true> { using MomentumOf<T, true, true>::MomentumOf; };
/// p -= lr·g; v is unchanged.
template <class T> struct GradientDescent {
  static constexpr int kStates = 1;
  T lr;
  SINDRI_RULE_MEMBER explicit GradientDescent(const double* k) : lr(static_cast<T>(k[2])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T&, T&, T&, T g) const { p -= lr * g; }
};

/// m = b1·m + (1-b1)·g; v = b2·v + (1-b2)·g²; p -= lr·(m/(sqrt(v) + eps) + decay·p), with nesterov b1·m + (1-b1)·g instead of m in p. Adam (Kingma & Ba
/// 2015), whose lr includes the bias corrections, and AdamWeightDecay, which has none and decays its weights separately.
template <class T, bool kNesterov> struct AdamOf {
  static constexpr int kStates = 2;
  T lr, b1, c1, b2, c2, eps, decay;
  SINDRI_RULE_MEMBER explicit AdamOf(const double* k)
      : lr(static_cast<T>(k[2])),
        b1(static_cast<T>(k[3])),
        c1(static_cast<T>(1 - k[3])),
        b2(static_cast<T>(k[4])),
        c2(static_cast<T>(1 - k[4])),
        eps(static_cast<T>(k[5])),
        decay(static_cast<T>(k[6])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& m, T& v, T&, T g) const {
    m = b1 * m + c1 * g;
    v = b2 * v + c2 * (g * g);
    const T direction = kNesterov ? b1 * m + c1 * g : m;
    p -= lr * (quotient(direction, sqrt(v) + eps) + decay * p);
  }
};
template <class T> struct Adam : AdamOf<T, false> { using AdamOf<T, false>::AdamOf; };
template <class T> struct AdamNesterov : AdamOf<T, true> { using AdamOf<T, true>::AdamOf; };

/// a += g², unless slots are not updated; p -= lr·g/sqrt(a) (Duchi et al. 2011).
template <class T> struct Adagrad {
  static constexpr int kStates = 1;
  T lr;
  bool slots;
  SINDRI_RULE_MEMBER explicit Adagrad(const double* k) : lr(static_cast<T>(k[2])), slots(k[3] != 0) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& a, T&, T&, T g) const {
    a = slots ? a + g * g : a;
    p -= quotient(lr * g, sqrt(a));
  }
};

/// a = rho·a + (1-rho)·g²; u = sqrt(d + eps)/sqrt(a + eps)·g; d = rho·d + (1-rho)·u²; p -= lr·u (Zeiler 2012).
template <class T> struct Adadelta {
  static constexpr int kStates = 2;
  T lr, keep, take, eps;
  SINDRI_RULE_MEMBER explicit Adadelta(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), eps(static_cast<T>(k[4])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& a, T& d, T&, T g) const {
    a = keep * a + take * (g * g);
    const T u = quotient(sqrt(d + eps) * g, sqrt(a + eps));
    d = keep * d + take * (u * u);
    p -= lr * u;
  }
};

/// s = decay·s + (1-decay)·g²; v = momentum·v + lr·g/sqrt(s + eps); p -= v (Tieleman & Hinton 2012).
template <class T> struct RmsProp {
  static constexpr int kStates = 2;
  T lr, keep, take, momentum, eps;
  SINDRI_RULE_MEMBER explicit RmsProp(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), momentum(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& s, T& v, T&, T g) const {
    s = keep * s + take * (g * g);
    v = momentum * v + quotient(lr * g, sqrt(s + eps));
    p -= v;
  }
};

/// The same with s - c² in the root, c = decay·c + (1-decay)·g (Graves 2013).
template <class T> struct RmsPropCentered {
  static constexpr int kStates = 3;
  T lr, keep, take, momentum, eps;
  SINDRI_RULE_MEMBER explicit RmsPropCentered(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), momentum(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& s, T& v, T& c, T g) const {
    s = keep * s + take * (g * g);
    c = keep * c + take * g;
    // A variance: rounding can make it negative if the gradients are nearly constant.
    v = momentum * v + quotient(lr * g, sqrt(larger(s - c * c, static_cast<T>(0)) + eps));
    p -= v;
  }
};

/// n' = n + g²; z += g - (n'^q - n^q)/lr·p with q = -lr_power; p = 0 if |z| <= l1, else (sign(z)·l1 - z)/(n'^q/lr + 2·l2) (McMahan et al. 2013).
template <class T, bool kRoot> struct FtrlOf {
  static constexpr int kStates = 2;
  T lr, exponent, l1, l2;
  SINDRI_RULE_MEMBER explicit FtrlOf(const double* k)
      : lr(static_cast<T>(k[2])), exponent(static_cast<T>(-k[3])), l1(static_cast<T>(k[4])), l2(static_cast<T>(k[5])) {}
  SINDRI_RULE_MEMBER T raised(T n) const {
    if constexpr (kRoot) return sqrt(n);
    else return power(n, exponent);
  }
  SINDRI_RULE_MEMBER void operator()(T& p, T& n, T& z, T&, T g) const {
    const T sum = n + g * g, after = raised(sum);
    z = z + g - (after - raised(n)) / lr * p;
    n = sum;
    const T step = ((z > 0 ? l1 : -l1) - z) / (after / lr + 2 * l2);
    p = abs(z) > l1 || z != z ? step : static_cast<T>(0);
  }
};

/// Special replaces the rule if is_special(numbers): a separate loop, which vectorises.
template <class T> struct Ftrl : FtrlOf<T, false> {
  using Special = FtrlOf<T, true>;
  using FtrlOf<T, false>::FtrlOf;
  static bool is_special(const double* k) { return k[3] == -0.5; }
};

/// m = b1·m + (1-b1)·g; v = max(b2·v, |g|); p -= lr·m/(v + eps), with lr divided by 1 - b1^t beforehand (Kingma & Ba 2015, algorithm 2).
template <class T> struct AdaMax {
  static constexpr int kStates = 2;
  T lr, b1, c1, b2, eps;
  SINDRI_RULE_MEMBER explicit AdaMax(const double* k)
      : lr(static_cast<T>(k[2])), b1(static_cast<T>(k[3])), c1(static_cast<T>(1 - k[3])), b2(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& m, T& v, T&, T g) const {
    m = b1 * m + c1 * g;
    v = larger(b2 * v, abs(g));
    p -= quotient(lr * m, v + eps);
  }
};

/// Adam with the root of the largest v so far; lr includes the bias correction (Reddi et al. 2018).
template <class T> struct AmsGrad {
  static constexpr int kStates = 3;
  T lr, b1, c1, b2, c2, eps;
  SINDRI_RULE_MEMBER explicit AmsGrad(const double* k)
      : lr(static_cast<T>(k[2])),
        b1(static_cast<T>(k[3])),
        c1(static_cast<T>(1 - k[3])),
        b2(static_cast<T>(k[4])),
        c2(static_cast<T>(1 - k[4])),
        eps(static_cast<T>(k[5])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& m, T& v, T& largest, T g) const {
    m = b1 * m + c1 * g;
    v = b2 * v + c2 * (g * g);
    largest = larger(largest, v);
    p -= quotient(lr * m, sqrt(largest) + eps);
  }
};

/// Replaces p by its direction m̂/(sqrt(v̂) + eps) + decay·p, where 1 - b^t divides m and v (You et al. 2020, algorithm 2, before the ratio of norms).
template <class T> struct LambDirection {
  static constexpr int kStates = 2;
  T b1, c1, b2, c2, eps, decay, correct1, correct2;
  SINDRI_RULE_MEMBER explicit LambDirection(const double* k)
      : b1(static_cast<T>(k[2])),
        c1(static_cast<T>(1 - k[2])),
        b2(static_cast<T>(k[3])),
        c2(static_cast<T>(1 - k[3])),
        eps(static_cast<T>(k[4])),
        decay(static_cast<T>(k[5])),
        correct1(static_cast<T>(k[6])),
        correct2(static_cast<T>(k[7])) {}
  SINDRI_RULE_MEMBER void operator()(T& p, T& m, T& v, T&, T g) const {
    m = b1 * m + c1 * g;
    v = b2 * v + c2 * (g * g);
    p = quotient(m / correct1, sqrt(v / correct2) + eps) + decay * p;
  }
};

}  // namespace
}  // namespace sindri::update_rules
