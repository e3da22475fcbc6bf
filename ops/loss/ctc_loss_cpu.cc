// Connectionist temporal classification on the CPU, in log space and double: sums over paths by the recursions of Graves et al. 2006.
//
//   alpha_t(s) = y_t(l'_s)·(alpha_{t-1}(s) + alpha_{t-1}(s-1) + alpha_{t-1}(s-2) if it may skip)      equations 5 to 8
//   beta_t(s)  = y_t(l'_s)·(beta_{t+1}(s) + beta_{t+1}(s+1) + beta_{t+1}(s+2) if it may skip)         equations 9 to 12
//   p = alpha_T(last) + alpha_T(last but one)            dp/dy_t(c) = sum of alpha_t(s)·beta_t(s)/y_t(c)² over the states s of class c   equation 15
//
// so that d(-log p)/d(log y_t(c)) = -sum of alpha_t(s)·beta_t(s)/(y_t(c)·p). The reference kernels keep whole tables. The others keep two rows if
// they can, skip states that no path can reach or leave in time, and process samples in parallel.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/loss/ctc.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();  // the logarithm of 0

// log(e^a + e^b + e^c). NaN propagates, even if the others are impossible (-inf).
double log_sum(double a, double b, double c = kNever) {
  const double most = std::max({a, b, c});
  return most == kNever ? a + b + c : most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

// [steps, states].
struct Table {
  size_t states;
  std::vector<double> v;
  Table(int64_t rows, size_t columns) : states(columns), v(static_cast<size_t>(rows) * columns, kNever) {}
  double* row(int64_t t) { return v.data() + static_cast<size_t>(t) * states; }
};

// log y_t(c) of one sample.
struct LogProbs {
  const Buffer& b;
  int64_t n;
  double operator()(int64_t t, int64_t c) const {
    const Shape& s = b.meta->shape;
    return load_element(b, (t * s[1] + n) * s[2] + c);
  }
};

double likelihood(const CtcSample& x, const double* last) {
  if (x.steps == 0) return x.classes.size() == 1 ? 0 : kNever;
  const size_t states = x.classes.size();
  return states == 1 ? last[0] : log_sum(last[states - 1], last[states - 2]);
}

// ---- reference

Table alphas(const CtcSample& x, const LogProbs& y) {
  const size_t states = x.classes.size();
  Table alpha(x.steps, states);
  for (int64_t t = 0; t < x.steps; ++t)
    for (size_t s = 0; s < states; ++s) {
      const double* before = t > 0 ? alpha.row(t - 1) : nullptr;
      double from = t == 0 && s < 2 ? 0 : kNever;
      if (before != nullptr) from = log_sum(before[s], s >= 1 ? before[s - 1] : kNever, x.skips(s) ? before[s - 2] : kNever);
      alpha.row(t)[s] = from + y(t, x.classes[s]);
    }
  return alpha;
}

Table betas(const CtcSample& x, const LogProbs& y) {
  const size_t states = x.classes.size();
  Table beta(x.steps, states);
  for (int64_t t = x.steps - 1; t >= 0; --t)
    for (size_t s = 0; s < states; ++s) {
      const double* after = t + 1 < x.steps ? beta.row(t + 1) : nullptr;
      double to = after == nullptr && s + 2 >= states ? 0 : kNever;
      if (after != nullptr) to = log_sum(after[s], s + 1 < states ? after[s + 1] : kNever, s + 2 < states && x.skips(s + 2) ? after[s + 2] : kNever);
      beta.row(t)[s] = to + y(t, x.classes[s]);
    }
  return beta;
}

double loss_of(double log_p, bool zero_infinity) { return zero_infinity && log_p == kNever ? 0 : -log_p; }

void reference_loss(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<CtcSample> samples = ctc_samples(q, in);
  for (size_t n = 0; n < samples.size(); ++n) {
    const CtcSample& x = samples[n];
    Table alpha = alphas(x, {in[0], static_cast<int64_t>(n)});
    const double log_p = likelihood(x, x.steps > 0 ? alpha.row(x.steps - 1) : nullptr);
    store_element(out[0], static_cast<int64_t>(n), loss_of(log_p, q.attrs.as<CtcAttrs>().zero_infinity));
  }
}

void fill(const Buffer& b, double value) {
  for (int64_t i = 0, n = b.meta->numel(); i < n; ++i) store_element(b, i, value);
}

// Adds the contribution of state s at one step to d(-log p)/d(log y); nothing if no path passes there.
void add_share(double alpha, double beta, double log_y, double log_p, double* sum) {
  if (alpha != kNever && beta != kNever) *sum -= std::exp(alpha + beta - log_y - log_p);
}

// in: dloss, then the inputs of the loss.
void reference_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<CtcSample> samples = ctc_samples(q, in.subspan(1));
  const int64_t N = in[1].meta->shape[1], C = in[1].meta->shape[2];
  fill(out[0], 0);
  for (int64_t n = 0; n < N; ++n) {
    const CtcSample& x = samples[static_cast<size_t>(n)];
    if (x.steps == 0) continue;
    const LogProbs y{in[1], n};
    Table alpha = alphas(x, y), beta = betas(x, y);
    const double log_p = likelihood(x, alpha.row(x.steps - 1)), dloss = load_element(in[0], n);
    if (log_p == kNever && q.attrs.as<CtcAttrs>().zero_infinity) continue;
    for (int64_t t = 0; t < x.steps; ++t) {
      std::vector<double> share(static_cast<size_t>(C), log_p == kNever ? std::nan("") : 0);
      for (size_t s = 0; s < x.classes.size(); ++s)
        add_share(alpha.row(t)[s], beta.row(t)[s], y(t, x.classes[s]), log_p, &share[static_cast<size_t>(x.classes[s])]);
      for (int64_t c = 0; c < C; ++c) store_element(out[0], (t * N + n) * C + c, share[static_cast<size_t>(c)] * dloss);
    }
  }
}

void reference_alpha(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<CtcSample> samples = ctc_samples(q, in);
  const int64_t T = out[0].meta->shape[1], width = out[0].meta->shape[2];
  fill(out[0], kNever);
  for (size_t n = 0; n < samples.size(); ++n) {
    Table alpha = alphas(samples[n], {in[0], static_cast<int64_t>(n)});
    for (int64_t t = 0; t < samples[n].steps; ++t)
      for (size_t s = 0; s < alpha.states; ++s) store_element(out[0], (static_cast<int64_t>(n) * T + t) * width + static_cast<int64_t>(s), alpha.row(t)[s]);
  }
}

// ---- by windows of states, samples over threads

// The states at step t that paths can have reached and from which they can reach the end: [first, second).
std::pair<size_t, size_t> window(const CtcSample& x, int64_t t) {
  const auto states = static_cast<int64_t>(x.classes.size());
  return {static_cast<size_t>(std::max<int64_t>(0, states - 2 * (x.steps - t))), static_cast<size_t>(std::min(states, 2 * (t + 1)))};
}

// alpha at step t from that of the previous step; `now` holds kNever outside the window already.
void advance(const CtcSample& x, const LogProbs& y, int64_t t, const double* before, double* now) {
  const auto [first, end] = window(x, t);
  for (size_t s = first; s < end; ++s) {
    const double from = t == 0 ? 0 : log_sum(before[s], s >= 1 ? before[s - 1] : kNever, x.skips(s) ? before[s - 2] : kNever);
    now[s] = from + y(t, x.classes[s]);
  }
}

template <class F> void for_samples(const std::vector<CtcSample>& samples, F&& f) {
  parallel_for(static_cast<int64_t>(samples.size()), 1, [&](int64_t b, int64_t e) {
    for (int64_t n = b; n < e; ++n) f(samples[static_cast<size_t>(n)], n);
  });
}

void loss(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const bool zero_infinity = q.attrs.as<CtcAttrs>().zero_infinity;
  for_samples(ctc_samples(q, in), [&](const CtcSample& x, int64_t n) {
    std::vector<double> before(x.classes.size(), kNever), now(x.classes.size(), kNever);
    for (int64_t t = 0; t < x.steps; ++t) {
      std::fill(now.begin(), now.end(), kNever);
      advance(x, {in[0], n}, t, before.data(), now.data());
      before.swap(now);
    }
    store_element(out[0], n, loss_of(likelihood(x, before.data()), zero_infinity));
  });
}

void grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const bool zero_infinity = q.attrs.as<CtcAttrs>().zero_infinity;
  const int64_t T = in[1].meta->shape[0], N = in[1].meta->shape[1], C = in[1].meta->shape[2];
  for_samples(ctc_samples(q, in.subspan(1)), [&](const CtcSample& x, int64_t n) {
    const LogProbs y{in[1], n};
    const size_t states = x.classes.size();
    Table alpha(x.steps, states);
    for (int64_t t = 0; t < x.steps; ++t) advance(x, y, t, t > 0 ? alpha.row(t - 1) : nullptr, alpha.row(t));
    const double log_p = likelihood(x, x.steps > 0 ? alpha.row(x.steps - 1) : nullptr), dloss = load_element(in[0], n);
    const double none = log_p == kNever && !zero_infinity ? std::nan("") : 0;
    std::vector<double> after(states, kNever), now(states, kNever), share(static_cast<size_t>(C));
    for (int64_t t = T - 1; t >= 0; --t) {
      std::fill(share.begin(), share.end(), t < x.steps ? none : 0);
      if (t < x.steps && log_p != kNever) {
        std::fill(now.begin(), now.end(), kNever);
        const auto [first, end] = window(x, t);
        for (size_t s = first; s < end; ++s) {
          const double log_y = y(t, x.classes[s]), next = s + 1 < states ? after[s + 1] : kNever;
          now[s] = log_y + (t + 1 == x.steps ? 0 : log_sum(after[s], next, s + 2 < states && x.skips(s + 2) ? after[s + 2] : kNever));
          add_share(alpha.row(t)[s], now[s], log_y, log_p, &share[static_cast<size_t>(x.classes[s])]);
        }
        after.swap(now);
      }
      for (int64_t c = 0; c < C; ++c) store_element(out[0], (t * N + n) * C + c, t < x.steps ? share[static_cast<size_t>(c)] * dloss : 0);
    }
  });
}

const bool kLoss = register_kernel({.op = "ctc_loss", .name = "windows", .simple = loss});
const bool kGrad = register_kernel({.op = "ctc_loss_grad", .name = "windows", .simple = grad});
const bool kReferenceLoss = register_kernel({.op = "ctc_loss", .name = "reference", .priority = kReferencePriority, .simple = reference_loss});
const bool kReferenceGrad = register_kernel({.op = "ctc_loss_grad", .name = "reference", .priority = kReferencePriority, .simple = reference_grad});
const bool kReferenceAlpha = register_kernel({.op = "ctc_log_alpha", .name = "reference", .priority = kReferencePriority, .simple = reference_alpha});

}  // namespace
}  // namespace sindri::ops
