// Update rules as arithmetic on one element, written once for every element type, instruction set and kernel. A rule's numbers come as
// doubles: k[0] scales the gradient and k[1] is its weight decay, which the loops apply; from k[2] on they are the rule's own, in the
// order its constructor reads. A new rule stands here, in SINDRI_UPDATE_RULES, and has its op in a file beside (adagrad.cc).
//
// Everything has internal linkage: *_simd.cc files are compiled per instruction set.
#pragma once

#include <stdint.h>

#include "src/device/cpu/simd_math.h"

#define SINDRI_UPDATE_RULES(X) X(Adagrad) X(Adadelta) X(RmsProp) X(RmsPropCentered) X(Ftrl) X(AdaMax) X(AmsGrad) X(LambDirection)

namespace sindri {

enum class UpdateRuleId : uint8_t {
#define SINDRI_UPDATE_RULE_ID(name) k##name,
  SINDRI_UPDATE_RULES(SINDRI_UPDATE_RULE_ID)
#undef SINDRI_UPDATE_RULE_ID
};

inline constexpr int kMaxRuleNumbers = 8, kMaxRuleStates = 3;

}  // namespace sindri

namespace sindri::update_rules {
namespace {

using simd_math::abs;
using simd_math::sqrt;

SINDRI_SIMD_INLINE float power(float x, float y) { return __builtin_powf(x, y); }
SINDRI_SIMD_INLINE double power(double x, double y) { return __builtin_pow(x, y); }
template <class T> SINDRI_SIMD_INLINE T larger(T a, T b) { return a > b || a != a ? a : b; }  // as ops::maximum: NaN stays

/// m / d, and 0 for a numerator of 0: where nothing has moved yet and no epsilon is added, d is 0 as well.
template <class T> SINDRI_SIMD_INLINE T quotient(T m, T d) {
  const T q = m / d;  // before the choice, which vectors take as a mask
  return m == 0 ? m : q;
}

// Each operator() gets the parameter, three states, of which the rule uses its own, and the gradient.

/// a += g², unless slots are not updated; p -= lr·g/sqrt(a) (Duchi et al. 2011).
template <class T> struct Adagrad {
  static constexpr int kStates = 1;
  T lr;
  bool slots;
  SINDRI_SIMD_MEMBER explicit Adagrad(const double* k) : lr(static_cast<T>(k[2])), slots(k[3] != 0) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& a, T&, T&, T g) const {
    a = slots ? a + g * g : a;
    p -= quotient(lr * g, sqrt(a));
  }
};

/// a = rho·a + (1-rho)·g²; u = sqrt(d + eps)/sqrt(a + eps)·g; d = rho·d + (1-rho)·u²; p -= lr·u (Zeiler 2012).
template <class T> struct Adadelta {
  static constexpr int kStates = 2;
  T lr, keep, take, eps;
  SINDRI_SIMD_MEMBER explicit Adadelta(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), eps(static_cast<T>(k[4])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& a, T& d, T&, T g) const {
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
  SINDRI_SIMD_MEMBER explicit RmsProp(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), momentum(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& s, T& v, T&, T g) const {
    s = keep * s + take * (g * g);
    v = momentum * v + quotient(lr * g, sqrt(s + eps));
    p -= v;
  }
};

/// The same with s - c² in the root, c = decay·c + (1-decay)·g (Graves 2013).
template <class T> struct RmsPropCentered {
  static constexpr int kStates = 3;
  T lr, keep, take, momentum, eps;
  SINDRI_SIMD_MEMBER explicit RmsPropCentered(const double* k)
      : lr(static_cast<T>(k[2])), keep(static_cast<T>(k[3])), take(static_cast<T>(1 - k[3])), momentum(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& s, T& v, T& c, T g) const {
    s = keep * s + take * (g * g);
    c = keep * c + take * g;
    // A variance: rounding takes it below 0 where the gradients are nearly constant.
    v = momentum * v + quotient(lr * g, sqrt(larger(s - c * c, static_cast<T>(0)) + eps));
    p -= v;
  }
};

/// n' = n + g²; z += g - (n'^q - n^q)/lr·p with q = -lr_power; p = 0 where |z| <= l1, else (sign(z)·l1 - z)/(n'^q/lr + 2·l2)
/// (McMahan et al. 2013).
template <class T, bool kRoot> struct FtrlOf {
  static constexpr int kStates = 2;
  T lr, exponent, l1, l2;
  SINDRI_SIMD_MEMBER explicit FtrlOf(const double* k)
      : lr(static_cast<T>(k[2])), exponent(static_cast<T>(-k[3])), l1(static_cast<T>(k[4])), l2(static_cast<T>(k[5])) {}
  SINDRI_SIMD_MEMBER T raised(T n) const {
    if constexpr (kRoot) return sqrt(n);
    else return power(n, exponent);
  }
  SINDRI_SIMD_MEMBER void operator()(T& p, T& n, T& z, T&, T g) const {
    const T sum = n + g * g, after = raised(sum);
    z = z + g - (after - raised(n)) / lr * p;
    n = sum;
    const T step = ((z > 0 ? l1 : -l1) - z) / (after / lr + 2 * l2);
    p = abs(z) > l1 || z != z ? step : static_cast<T>(0);
  }
};

/// Special is the rule where is_special(numbers): a loop of its own, which vectors take.
template <class T> struct Ftrl : FtrlOf<T, false> {
  using Special = FtrlOf<T, true>;
  using FtrlOf<T, false>::FtrlOf;
  static bool is_special(const double* k) { return k[3] == -0.5; }
};

/// m = b1·m + (1-b1)·g; v = max(b2·v, |g|); p -= lr·m/(v + eps), lr divided by 1 - b1^t before (Kingma & Ba 2015, algorithm 2).
template <class T> struct AdaMax {
  static constexpr int kStates = 2;
  T lr, b1, c1, b2, eps;
  SINDRI_SIMD_MEMBER explicit AdaMax(const double* k)
      : lr(static_cast<T>(k[2])), b1(static_cast<T>(k[3])), c1(static_cast<T>(1 - k[3])), b2(static_cast<T>(k[4])), eps(static_cast<T>(k[5])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& m, T& v, T&, T g) const {
    m = b1 * m + c1 * g;
    v = larger(b2 * v, abs(g));
    p -= quotient(lr * m, v + eps);
  }
};

/// Adam whose root takes the largest v so far; lr holds the bias correction (Reddi et al. 2018).
template <class T> struct AmsGrad {
  static constexpr int kStates = 3;
  T lr, b1, c1, b2, c2, eps;
  SINDRI_SIMD_MEMBER explicit AmsGrad(const double* k)
      : lr(static_cast<T>(k[2])),
        b1(static_cast<T>(k[3])),
        c1(static_cast<T>(1 - k[3])),
        b2(static_cast<T>(k[4])),
        c2(static_cast<T>(1 - k[4])),
        eps(static_cast<T>(k[5])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& m, T& v, T& largest, T g) const {
    m = b1 * m + c1 * g;
    v = b2 * v + c2 * (g * g);
    largest = larger(largest, v);
    p -= quotient(lr * m, sqrt(largest) + eps);
  }
};

/// In the place of p its direction m̂/(sqrt(v̂) + eps) + decay·p, with 1 - b^t dividing m and v (You et al. 2020, algorithm 2, before the ratio of norms).
template <class T> struct LambDirection {
  static constexpr int kStates = 2;
  T b1, c1, b2, c2, eps, decay, correct1, correct2;
  SINDRI_SIMD_MEMBER explicit LambDirection(const double* k)
      : b1(static_cast<T>(k[2])),
        c1(static_cast<T>(1 - k[2])),
        b2(static_cast<T>(k[3])),
        c2(static_cast<T>(1 - k[3])),
        eps(static_cast<T>(k[4])),
        decay(static_cast<T>(k[5])),
        correct1(static_cast<T>(k[6])),
        correct2(static_cast<T>(k[7])) {}
  SINDRI_SIMD_MEMBER void operator()(T& p, T& m, T& v, T&, T g) const {
    m = b1 * m + c1 * g;
    v = b2 * v + c2 * (g * g);
    p = quotient(m / correct1, sqrt(v / correct2) + eps) + decay * p;
  }
};

}  // namespace
}  // namespace sindri::update_rules
