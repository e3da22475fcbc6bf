// Connectionist temporal classification on CUDA devices: one block per sample, whose threads share the states of the target with blanks. Steps run in sequence,
// since each needs the previous one. Recursions, names and precision (log space, double) are those of ctc_loss_cpu.cc. Memory traffic: log_probs of the
// target's classes once per recursion; for the gradient, tables of alpha ([steps, states] doubles) are written and read once.
#include <algorithm>

#include "ops/loss/ctc.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {
namespace {

using ops::CtcAttrs, ops::CtcFault;

SINDRI_DEVICE double never() { return -INFINITY; }
// log(e^a + e^b + e^c). NaN propagates, even if the others are impossible (-inf).
SINDRI_DEVICE double log_sum(double a, double b, double c) {
  const double most = a > b ? (a > c ? a : c) : (b > c ? b : c);
  return most == never() ? a + b + c : most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

// known: T, number of labels in targets, samples, classes. found: the number, and sample·4 + fault.
void throw_fault(const ErrorFound& e) {
  const auto fault = static_cast<CtcFault>(e.found[1] % 4);
  const int64_t bound = fault == CtcFault::kSteps ? e.known[0] : fault == CtcFault::kLength ? e.known[1] : e.known[3];
  ops::throw_ctc_fault(e.op, fault, e.found[0], bound, e.found[1] / 4, e.known[2]);
}

struct Integers {
  const void* data;
  bool wide;
  SINDRI_DEVICE int64_t operator[](int64_t i) const { return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i]; }
};

struct Batch {
  Floating log_probs;  // [T, N, C]
  Integers targets, steps, lengths;
  int64_t T, N, C, S;  // S: labels per row, or the number of concatenated labels
  bool in_rows;
  int64_t blank;
  bool zero_infinity;
  ErrorSite site;

  SINDRI_DEVICE double log_y(int64_t t, int64_t n, int64_t c) const { return log_probs.read<double>((t * N + n) * C + c); }
  SINDRI_DEVICE void fault(CtcFault f, int64_t number, int64_t n) const {
    if (threadIdx.x == 0) report(site, number, n * 4 + static_cast<int64_t>(f));
  }
};

// One sample, as its block uses it.
struct Target {
  int64_t n, first, length, steps, states;
  bool good;

  SINDRI_DEVICE int64_t class_of(const Batch& b, int64_t s) const { return s % 2 == 0 ? b.blank : b.targets[first + s / 2]; }
  /// Whether a path may reach state s from s - 2, skipping the blank between two different labels.
  SINDRI_DEVICE bool skips(const Batch& b, int64_t s) const { return s >= 2 && class_of(b, s) != class_of(b, s - 2); }
  // Offset of its tables, in states of all samples before it.
  SINDRI_DEVICE int64_t states_before(const Batch& b) const { return 2 * (b.in_rows ? n * b.S : first) + n; }
};

// Reads and checks sample n, by the whole block.
template <class Shared> SINDRI_DEVICE Target target_of(const Batch& b, int64_t n, Shared&& partial) {
  Target x{n, 0, b.lengths[n], b.steps[n], 1, true};
  if (b.in_rows) {
    x.first = n * b.S;
  } else {
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) x.first += b.lengths[i];
    x.first = block_reduce(x.first, partial, Add());
  }
  const int64_t most = b.in_rows ? b.S : b.S - x.first;
  if (x.steps < 0 || x.steps > b.T) {
    b.fault(CtcFault::kSteps, x.steps, n);
    x.good = false;
  } else if (x.length < 0 || x.length > most || x.first < 0) {
    b.fault(CtcFault::kLength, x.length, n);
    x.good = false;
  }
  int64_t bad = 0;  // number of invalid labels
  for (int64_t k = threadIdx.x; x.good && k < x.length; k += blockDim.x) {
    const int64_t label = b.targets[x.first + k];
    if (label >= 0 && label < b.C) continue;
    report(b.site, label, n * 4 + static_cast<int64_t>(CtcFault::kLabel));
    ++bad;
  }
  bad = block_reduce(bad, partial, Add());
  x.good = x.good && bad == 0;
  x.states = x.good ? 2 * x.length + 1 : 0;
  return x;
}

// alpha at step t from that of the previous step.
SINDRI_DEVICE void advance(const Batch& b, const Target& x, int64_t t, const double* before, double* now) {
  for (int64_t s = threadIdx.x; s < x.states; s += blockDim.x) {
    double from = t == 0 && s < 2 ? 0.0 : never();
    if (t > 0) from = log_sum(before[s], s >= 1 ? before[s - 1] : never(), x.skips(b, s) ? before[s - 2] : never());
    now[s] = from + b.log_y(t, x.n, x.class_of(b, s));
  }
}
SINDRI_DEVICE double likelihood(const Target& x, const double* last) {
  if (x.steps == 0) return x.states == 1 ? 0.0 : never();
  return x.states == 1 ? last[0] : log_sum(last[x.states - 1], last[x.states - 2], never());
}

// rows: two of alpha for each sample, 2·(2S + 1) doubles.
__global__ void ctc_loss(Batch b, double* rows, Floating loss) {
  SINDRI_SHARED(int64_t, partial, 32);
  for (int64_t n = blockIdx.x; n < b.N; n += gridDim.x) {
    const Target x = target_of(b, n, partial);
    double* before = rows + 2 * x.states_before(b);
    double* now = before + x.states;
    for (int64_t t = 0; x.good && t < x.steps; ++t) {
      advance(b, x, t, before, now);
      double* const other = before;
      before = now;
      now = other;
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
    const double log_p = x.good ? likelihood(x, before) : NAN;
    loss.write(n, b.zero_infinity && log_p == never() ? 0.0 : -log_p);
  }
}

// Writes log alpha [N, T, width].
__global__ void ctc_log_alpha(Batch b, int64_t width, double* rows, Floating out) {
  SINDRI_SHARED(int64_t, partial, 32);
  for (int64_t n = blockIdx.x; n < b.N; n += gridDim.x) {
    const Target x = target_of(b, n, partial);
    double* before = rows + 2 * x.states_before(b);
    double* now = before + x.states;
    for (int64_t t = 0; t < b.T; ++t) {
      const bool counts = x.good && t < x.steps;
      if (counts) advance(b, x, t, before, now);
      // A thread writes the states that it has computed.
      for (int64_t s = threadIdx.x; s < width; s += blockDim.x) out.write((n * b.T + t) * width + s, counts && s < x.states ? now[s] : never());
      double* const other = before;
      before = now;
      now = other;
      __syncthreads();
    }
  }
}

// Per state. The first state of each class sums the contributions of all states of the class, which it finds by `next`. The block sums the blanks.
struct Links {
  bool first;
  int32_t next;  // state, or -1
};
SINDRI_DEVICE Links links_of(const Batch& b, const Target& x, int64_t s) {
  const int64_t c = x.class_of(b, s);
  Links l{c != b.blank, -1};
  for (int64_t k = 1; l.first && k < s; k += 2) l.first = x.class_of(b, k) != c;
  for (int64_t k = s + 2; k < x.states && l.next < 0; k += 2)
    if (x.class_of(b, k) == c) l.next = static_cast<int32_t>(k);
  return l;
}

// Memory of a sample: alpha [T, states], then two rows of beta, one of contributions, one of links, each of `states`.
__global__ void ctc_loss_grad(Batch b, Floating dloss, double* tables, Floating out) {
  SINDRI_SHARED(int64_t, partial, 32);
  SINDRI_SHARED(double, partial_sum, 32);
  for (int64_t n = blockIdx.x; n < b.N; n += gridDim.x) {
    const Target x = target_of(b, n, partial);
    double* const alpha = tables + (b.T + 4) * x.states_before(b);
    double* after = alpha + b.T * x.states;
    double* now = after + x.states;
    double* const share = now + x.states;
    auto* const links = reinterpret_cast<Links*>(share + x.states);
    for (int64_t t = 0; x.good && t < x.steps; ++t) {
      advance(b, x, t, alpha + (t - 1) * x.states, alpha + t * x.states);
      __syncthreads();
    }
    const double log_p = !x.good ? NAN : likelihood(x, alpha + (x.steps - 1) * x.states);
    const double none = !x.good || (log_p == never() && !b.zero_infinity) ? NAN : 0.0, scale = dloss.read<double>(n);
    for (int64_t s = 1 + 2 * int64_t{threadIdx.x}; s < x.states; s += 2 * int64_t{blockDim.x}) links[s] = links_of(b, x, s);
    for (int64_t t = b.T - 1; t >= 0; --t) {
      const bool inside = !x.good || t < x.steps, counts = x.good && t < x.steps && log_p != never();
      for (int64_t c = threadIdx.x; c < b.C; c += blockDim.x) out.write((t * b.N + n) * b.C + c, inside ? none * scale : 0.0);
      double blanks = 0;
      for (int64_t s = threadIdx.x; counts && s < x.states; s += blockDim.x) {
        const int64_t c = x.class_of(b, s);
        const double y = b.log_y(t, n, c);
        double to = s + 2 >= x.states ? 0.0 : never();
        if (t + 1 < x.steps) to = log_sum(after[s], s + 1 < x.states ? after[s + 1] : never(), s + 2 < x.states && x.skips(b, s + 2) ? after[s + 2] : never());
        now[s] = to + y;
        const double a = alpha[t * x.states + s];
        const double part = a != never() && now[s] != never() ? -exp(a + now[s] - y - log_p) : 0.0;  // 0 if no path passes here
        share[s] = part;
        if (c == b.blank) blanks += part;
      }
      if (!counts) continue;  // the same for the block
      blanks = block_reduce(blanks, partial_sum, Add());
      __syncthreads();
      if (threadIdx.x == 0) out.write((t * b.N + n) * b.C + b.blank, blanks * scale);
      for (int64_t s = 1 + 2 * int64_t{threadIdx.x}; s < x.states; s += 2 * int64_t{blockDim.x}) {
        if (!links[s].first) continue;
        double sum = 0;
        for (int64_t k = s; k >= 0; k = links[k].next) sum += share[k];
        out.write((t * b.N + n) * b.C + x.class_of(b, s), sum * scale);
      }
      __syncthreads();
      double* const other = after;
      after = now;
      now = other;
    }
    __syncthreads();
  }
}

// ----- host code; `in` starts with log_probs -----

Batch batch_of(const Call& call, size_t first) {
  const auto& a = call.query.attrs.as<CtcAttrs>();
  const Span<const Buffer> in = call.in.subspan(first);
  const Shape &probs = in[0].meta->shape, &targets = in[1].meta->shape;
  const auto integers = [&](size_t i) { return Integers{in[i].data, in[i].meta->dtype == DType::kInt64}; };
  const int64_t T = probs[0], N = probs[1], C = probs[2], S = targets[targets.rank() - 1];
  return {{in[0].data, in[0].meta->dtype},
          integers(1),
          integers(2),
          integers(3),
          T,
          N,
          C,
          S,
          targets.rank() == 2,
          a.blank,
          a.zero_infinity,
          error_site(call, throw_fault, {T, S, N, C})};
}
// All states of all samples, as Target::states_before counts them.
int64_t all_states(Span<const TensorMeta> in) {
  const int64_t N = in[0].shape[1], labels = in[1].shape.rank() == 2 ? N * in[1].shape[1] : in[1].shape[0];
  return 2 * labels + N;
}
int64_t rows_workspace(const KernelQuery& q) { return 2 * all_states(q.in) * static_cast<int64_t>(sizeof(double)); }
int64_t grad_workspace(const KernelQuery& q) {
  static_assert(sizeof(Links) <= sizeof(double));
  return (q.in[1].shape[0] + 4) * all_states(q.in.subspan(1)) * static_cast<int64_t>(sizeof(double));
}
Grid grid_for_samples(const Batch& b) {
  const int64_t states = 2 * b.S + 1;
  const int threads = static_cast<int>(std::clamp<int64_t>(ceil_div(states, 32) * 32, 32, kThreads));
  return {dim3(static_cast<unsigned>(std::min<int64_t>(b.N, 132 * 32))), dim3(static_cast<unsigned>(threads)), 0};
}
Floating result(const Call& call) { return {call.out[0].data, call.out[0].meta->dtype}; }

void run_loss(const Call& call) {
  const Batch b = batch_of(call, 0);
  if (b.N > 0) launch(call, grid_for_samples(b), ctc_loss, b, static_cast<double*>(call.workspace), result(call));
}
void run_grad(const Call& call) {
  const Batch b = batch_of(call, 1);
  if (b.N == 0 || b.T == 0) return;
  launch(call, grid_for_samples(b), ctc_loss_grad, b, Floating{call.in[0].data, call.in[0].meta->dtype}, static_cast<double*>(call.workspace), result(call));
}
void run_alpha(const Call& call) {
  const Batch b = batch_of(call, 0);
  const Shape& shape = call.query.out[0].shape;
  if (b.N > 0 && b.T > 0) launch(call, grid_for_samples(b), ctc_log_alpha, b, shape[2], static_cast<double*>(call.workspace), result(call));
}

const bool kLoss = register_cuda_kernel({.op = "ctc_loss", .run = run_loss, .workspace = rows_workspace});
const bool kGrad = register_cuda_kernel({.op = "ctc_loss_grad", .run = run_grad, .workspace = grad_workspace});
const bool kAlpha = register_cuda_kernel({.op = "ctc_log_alpha", .run = run_alpha, .workspace = rows_workspace});

}  // namespace
}  // namespace sindri::cuda
