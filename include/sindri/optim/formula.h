// Formulas of the step number that are written once and evaluated with two types: with doubles for tables, and with
// float32 scalar tensors in a traced step. Sindri's are in optim/schedules/.
//
//   struct Halving {
//     double learning_rate, every;
//     template <class T> T operator()(const T& step) const { return formula::pow(0.5, step / every) * learning_rate; }
//   };
//   std::shared_ptr<LearningRateSchedule> s = schedule_of(Halving{.learning_rate = 0.1, .every = 100});
//
// T is double or Tensor: +, -, * and /, and the functions below, work with both. Put a double on the right if possible:
// it then becomes part of one operator.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sindri/ops/elementwise.h"
#include "sindri/optim/schedule.h"

namespace sindri::optim {

namespace formula {

/// These functions call those of std for doubles and those of sindri::ops for tensors.
inline double floor(double x) { return std::floor(x); }
inline Tensor floor(const Tensor& x) { return ops::floor(x); }
inline double ceil(double x) { return std::ceil(x); }
inline Tensor ceil(const Tensor& x) { return ops::ceil(x); }
inline double exp(double x) { return std::exp(x); }
inline Tensor exp(const Tensor& x) { return ops::exp(x); }
inline double cos(double x) { return std::cos(x); }
inline Tensor cos(const Tensor& x) { return ops::cos(x); }
inline double pow(double base, double exponent) { return std::pow(base, exponent); }
inline Tensor pow(double base, const Tensor& exponent) { return ops::pow(ops::scalar_like(exponent, base), exponent); }
inline Tensor pow(const Tensor& base, double exponent) { return ops::pow(base, exponent); }
/// The smaller of x and limit.
inline double at_most(double x, double limit) { return std::min(x, limit); }
inline Tensor at_most(const Tensor& x, double limit) { return ops::minimum(x, ops::scalar_like(x, limit)); }
/// The larger of x and limit.
inline double at_least(double x, double limit) { return std::max(x, limit); }
inline Tensor at_least(const Tensor& x, double limit) { return ops::maximum(x, ops::scalar_like(x, limit)); }
/// 1 from `limit` on, 0 below it.
inline double reached(double x, double limit) { return x >= limit ? 1 : 0; }
inline Tensor reached(const Tensor& x, double limit) { return ops::cast(ops::greater_equal(x, ops::scalar_like(x, limit)), x.dtype()); }

}  // namespace formula

/// A schedule given by a formula. The formula takes the step as a double or as a float32 scalar tensor.
template <class F> class FormulaSchedule final : public LearningRateSchedule {
 public:
  explicit FormulaSchedule(F f) : f_(std::move(f)) {}
  Tensor construct(const Tensor& global_step) const override { return f_(ops::cast(global_step, DType::kFloat32)); }
  double rate(int64_t step) const override { return f_(static_cast<double>(step)); }

 private:
  F f_;
};

/// Makes a FormulaSchedule of f.
template <class F> std::shared_ptr<LearningRateSchedule> schedule_of(F f) { return std::make_shared<FormulaSchedule<F>>(std::move(f)); }

}  // namespace sindri::optim
